import { useSignal } from '@preact/signals'
import { hrefOf, place, type Query, setQuery } from '../../app/router.ts'
import { inOrganization, may, organization, overAll } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { useSelection } from '../../app/use-selection.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { ChannelFilter, Filters, filtersOf, SelectFilter, TextFilter, TimeFilter } from '../../ui/filters.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { NotificationStatus, type Status } from '../../ui/notification-status.tsx'
import { OrganizationLink } from '../../ui/organization-link.tsx'
import { Page } from '../../ui/page.tsx'
import { selectionColumn } from '../../ui/selection.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { FAILURE_CODES, type Summary } from './notification.ts'
import { SelectedRows } from './selected-rows.tsx'
import { SendForm } from './send-form.tsx'

const said = texts.notifications
const STATUSES = Object.keys(said.statuses) as Status[]
const MORE = ['recipient', 'template', 'category', 'code', 'provider', 'from', 'until'] as const
const NAMES = ['status', 'channel', 'to', 'metadata', 'toPrefix', 'groupId', ...MORE] as const

const COLUMNS: readonly Column<Summary>[] = [
  {
    title: said.to,
    main: true,
    width: '22%',
    cell: ({ id, organizationId, to }) => (
      <a class="cut" href={hrefOf(inOrganization(`/notifications/${id}`, organizationId))} title={to}>
        {to}
      </a>
    ),
  },
  {
    title: said.status,
    width: '16.25rem',
    cell: (notification) => <Standing of={notification} />,
  },
  { title: said.channel, width: '5rem', cell: ({ channel }) => channel },
  { title: said.message, cell: (notification) => <Text of={notification} /> },
  { title: said.provider, width: '7rem', cell: ({ provider }) => provider },
  { title: said.created, width: '6.5rem', end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

const ORGANIZATION: Column<Summary> = {
  title: texts.app.organization,
  width: '7rem',
  cell: ({ organizationId }) => <OrganizationLink id={organizationId} />,
}

const toOf = ({ to }: Summary): string => to

/** @param all of all organizations */
function columnsOf(all: boolean): readonly Column<Summary>[] {
  return all ? [...COLUMNS.slice(0, 1), ORGANIZATION, ...COLUMNS.slice(1)] : COLUMNS
}

export function NotificationsPage() {
  const filters = filtersOf(NAMES)
  const paused = useSignal(false)
  // A link may open the form: the overview has one.
  const sending = place.value.query.send === 'test'
  const query = queryOf(filters)
  const list = useList<Summary>('/v1/notifications', { query, paused: paused.value })
  const shown = list.items?.map(({ id }) => id) ?? []
  const selection = useSelection(JSON.stringify([query, organization.value]), shown)
  const changes = may('Write') && !overAll.value
  const send = changes ? (
    <Button kind="primary" icon="send" onClick={() => setQuery({ send: 'test' })}>
      {texts.sending.open}
    </Button>
  ) : null
  return (
    <Page
      title={said.title}
      intro={said.intro}
      actions={
        <>
          <Button
            icon={paused.value ? 'play' : 'pause'}
            onClick={() => {
              paused.value = !paused.value
            }}
          >
            {paused.value ? said.resume : said.pause}
          </Button>
          {send}
        </>
      }
    >
      <Filters
        names={NAMES}
        more={{
          names: MORE,
          children: (
            <>
              <TextFilter name="recipient" label={said.person} />
              <TextFilter name="template" label={said.template} />
              <TextFilter name="category" label={said.category} />
              <SelectFilter
                name="code"
                label={said.code}
                choices={FAILURE_CODES.map((value) => ({ value, label: value }))}
              />
              <TextFilter name="provider" label={said.provider} />
              <TimeFilter name="from" label={said.from} />
              <TimeFilter name="until" label={said.until} />
            </>
          ),
        }}
      >
        <SelectFilter
          name="status"
          label={said.status}
          choices={STATUSES.map((value) => ({ value, label: said.statuses[value] }))}
        />
        <ChannelFilter />
        <TextFilter name="to" label={said.to} />
        <TextFilter name="metadata" label={said.metadata} placeholder={said.metadataExample} />
        {filters.toPrefix === undefined ? null : <TextFilter name="toPrefix" label={said.toPrefix} />}
        {filters.groupId === undefined ? null : <TextFilter name="groupId" label={said.group} />}
      </Filters>
      {paused.value ? (
        <p class="note warn" role="status">
          {said.paused}
        </p>
      ) : null}
      <List
        label={said.title}
        state={list}
        columns={[...(changes ? [selectionColumn(selection, toOf)] : []), ...columnsOf(overAll.value)]}
        filtered={Object.keys(filters).length > 0}
        empty={
          <Empty icon="notifications" title={said.empty}>
            <p>{send === null ? said.emptyReader : said.emptyHint}</p>
            {send}
          </Empty>
        }
      />
      {changes ? <SelectedRows of={selection} list={list} query={query} /> : null}
      {sending && send !== null ? <SendForm onClose={() => setQuery({ send: '' })} /> : null}
    </Page>
  )
}

/** The filters as the REST API names them. A pair of metadata counts when it is whole. */
function queryOf({ metadata = '', ...filters }: Partial<Record<(typeof NAMES)[number], string>>): Query {
  const [, name, value] = /^([\w.-]+):(.+)$/.exec(metadata) ?? []
  return name === undefined ? filters : { ...filters, [`metadata[${name}]`]: value }
}

/** The status, with the cause of a failure or the time of what is scheduled. */
function Standing({ of: { status, error, sendAt } }: { readonly of: Summary }) {
  return (
    <span class="standing">
      <NotificationStatus status={status} failing={error !== null} />
      {error === null ? null : (
        <code class="muted cut" title={error.code}>
          {error.code}
        </code>
      )}
      {status === 'scheduled' && sendAt !== null ? (
        <span class="hint">
          {said.sendAt} <Time at={sendAt} style="short" />
        </span>
      ) : null}
    </span>
  )
}

function Text({ of: { subject, template } }: { readonly of: Summary }) {
  if (subject === null && template === null) return null
  return (
    <span class="cut" dir="auto" title={subject ?? template ?? undefined}>
      {subject ?? ''}
      {subject !== null && template !== null ? ' · ' : ''}
      {template === null ? null : <span class="muted">{template}</span>}
    </span>
  )
}
