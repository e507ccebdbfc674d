import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { may } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { settings } from '../../texts/settings.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { ChannelFilter, Filters, filtersOf, SelectFilter, TextFilter } from '../../ui/filters.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { SuppressForm } from './suppress-form.tsx'

const said = settings.suppressions

interface Suppression {
  readonly channel: string
  /** Null: erased. */
  readonly to: string | null
  readonly reason: keyof typeof said.reasons
  readonly source: string | null
  readonly createdAt: string
}

const FILTERS = ['to', 'channel', 'reason'] as const
const REASONS = Object.entries(said.reasons).map(([value, label]) => ({ value, label }))

const COLUMNS: readonly Column<Suppression>[] = [
  {
    title: said.to,
    main: true,
    cell: ({ to }) =>
      to === null ? <span class="muted">{said.erased}</span> : <span class="long">{to}</span>,
  },
  { title: said.channel, cell: ({ channel }) => channel },
  {
    title: said.reason,
    cell: ({ reason }) => (
      <Badge tone={reason === 'manual' ? 'plain' : 'warn'}>{said.reasons[reason] ?? reason}</Badge>
    ),
  },
  {
    title: said.source,
    cell: ({ source }) => (source === null ? null : <span class="muted cut">{source}</span>),
  },
  { title: said.since, cell: ({ createdAt }) => <Time at={createdAt} style="short" /> },
]

export function SuppressionsPage() {
  const filters = filtersOf(FILTERS)
  const keyOf = ({ channel: on, to, createdAt }: Suppression): string => `${on} ${to ?? createdAt}`
  const list = useList<Suppression>('/v1/suppressions', { query: filters, keyOf })
  const creating = useSignal(false)
  const mayChange = may('Full Access')

  async function remove(on: string, to: string): Promise<void> {
    if (!(await confirm({ title: said.removeTitle(to), hint: said.removeHint, confirm: said.remove }))) return
    const query = { channel: on, to }
    await ask('/v1/suppressions', { method: 'DELETE', query })
    tell(said.removed)
    await list.reload()
  }
  const buttons: Column<Suppression> = {
    title: said.remove,
    quiet: true,
    end: true,
    cell: ({ channel: on, to }) =>
      to === null ? null : (
        <Button kind="quiet" icon="trash" label={`${said.remove}: ${to}`} onClick={() => remove(on, to)} />
      ),
  }
  const create = (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => {
        creating.value = true
      }}
    >
      {said.create}
    </Button>
  )
  return (
    <Page title={said.title} intro={said.intro} actions={mayChange ? create : undefined}>
      <Filters names={FILTERS}>
        <TextFilter name="to" label={said.address} />
        <ChannelFilter />
        <SelectFilter name="reason" label={said.reason} choices={REASONS} />
      </Filters>
      <List
        label={said.title}
        state={list}
        columns={mayChange ? [...COLUMNS, buttons] : COLUMNS}
        filtered={Object.keys(filters).length > 0}
        empty={
          <Empty icon="suppressions" title={said.empty}>
            <p>{said.emptyHint}</p>
          </Empty>
        }
      />
      {creating.value ? (
        <SuppressForm
          onClose={() => {
            creating.value = false
          }}
          onDone={() => {
            creating.value = false
            tell(said.created)
            void list.reload()
          }}
        />
      ) : null}
    </Page>
  )
}
