import { useSignal } from '@preact/signals'
import { durabilityOf } from '../../../src/core/errors/durability.ts'
import { hrefOf } from '../../app/router.ts'
import { inOrganization, may, overAll } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ChannelFilter, Filters, filtersOf, TimeFilter } from '../../ui/filters.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { count } from '../../ui/number.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { adviceFor } from '../notifications/notification.ts'
import { type Group, type Groups, groupQuery, keyOfGroup } from './group.ts'
import { RetryFailures } from './retry-failures.tsx'

const said = texts.failures
const TONES = { permanent: 'bad', passing: 'warn', fixable: 'plain' } as const
const NAMES = ['channel', 'from', 'until'] as const

/** Failures by cause; each cause leads to its notifications, and can be retried as a whole. */
export function FailuresPage() {
  const filters = filtersOf(NAMES)
  const { value, error, reload } = useData<Groups>('/v1/dead-letters/groups', { query: filters })
  const retrying = useSignal<Group | null>(null)
  const columns: Column<Group>[] = [
    { title: said.code, main: true, cell: (group) => <Cause of={group} filters={filters} /> },
    { title: said.channel, cell: ({ channel }) => channel },
    {
      title: said.provider,
      cell: ({ provider }) => provider ?? <span class="muted">{said.noProvider}</span>,
    },
    {
      title: said.count,
      end: true,
      cell: ({ count: failed }) => count(failed, value?.exact),
    },
    { title: said.newest, end: true, cell: ({ newestAt }) => <Time at={newestAt} /> },
    ...(may('Full Access') && !overAll.value
      ? [
          {
            title: said.retry,
            quiet: true,
            end: true,
            cell: (group: Group) =>
              durabilityOf(group.code) === 'permanent' ? null : (
                <Button
                  label={said.retryLabel(group.code)}
                  icon="refresh"
                  kind="quiet"
                  onClick={() => {
                    retrying.value = group
                  }}
                >
                  {said.retry}
                </Button>
              ),
          },
        ]
      : []),
  ]
  return (
    <Page
      title={said.title}
      intro={said.intro}
      actions={
        overAll.value ? undefined : (
          <a class="button plain" href={hrefOf(inOrganization('/refusals'))}>
            {texts.refusals.title}
          </a>
        )
      }
    >
      <Filters names={NAMES}>
        <ChannelFilter />
        <TimeFilter name="from" label={said.from} />
        <TimeFilter name="until" label={said.until} />
      </Filters>
      {overAll.value ? <p class="hint">{said.retryWithin}</p> : null}
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null && error === null ? <Loading /> : null}
      {value?.groups.length === 0 ? <None filtered={Object.keys(filters).length > 0} /> : null}
      {value === null || value.groups.length === 0 ? null : (
        <Table label={said.title} items={value.groups} columns={columns} keyOf={keyOfGroup} />
      )}
      {retrying.value === null ? null : (
        <RetryFailures
          group={retrying.value}
          filter={filters}
          onClose={() => {
            retrying.value = null
            void reload()
          }}
        />
      )}
    </Page>
  )
}

function None({ filtered }: { readonly filtered: boolean }) {
  if (filtered) return <Empty icon="search" title={texts.list.noMatch} />
  return (
    <Empty icon="check" title={said.empty}>
      <p>{said.emptyHint}</p>
    </Empty>
  )
}

function Cause({
  of: group,
  filters,
}: {
  readonly of: Group
  readonly filters: Readonly<Record<string, string>>
}) {
  const durability = durabilityOf(group.code)
  return (
    <div class="cause">
      <a href={hrefOf(inOrganization('/notifications'), { ...groupQuery(group), ...filters })}>
        <code>{group.code}</code>
      </a>{' '}
      <Badge tone={TONES[durability]}>{said.durabilities[durability]}</Badge>
      <p class="hint">{adviceFor(group.code, group.provider)}</p>
    </div>
  )
}
