import { ask } from '../app/api.ts'
import { hrefOf } from '../app/router.ts'
import { useData } from '../app/use-data.ts'
import { useList } from '../app/use-list.ts'
import { texts } from '../texts/index.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { ChannelFilter, Filters, filtersOf, TextFilter } from '../ui/filters.tsx'
import { type Column, List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'

const said = texts.mailbox
export const EVERY_MS = 2_000
/** Names in the query of a list, which its messages keep for their next and previous ones. */
export const FILTERS = ['search', 'channel'] as const

interface Row {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly subject: string
  readonly beginning: string
  readonly caughtAt: string
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: said.subject,
    main: true,
    cell: ({ id, subject, beginning }) => (
      <div class="opening">
        <a dir="auto" href={hrefOf(`/messages/${id}`, filtersOf(FILTERS))}>
          {subject || said.noSubject}
        </a>
        <span class="muted" dir="auto">
          {beginning}
        </span>
      </div>
    ),
  },
  { title: said.to, cell: ({ to }) => <span class="cut short">{to}</span> },
  { title: said.channel, cell: ({ channel }) => <Badge>{channel}</Badge> },
  { title: said.caught, end: true, cell: ({ caughtAt }) => <Time at={caughtAt} /> },
]

export function MessagesPage() {
  const filters = filtersOf(FILTERS)
  const list = useList<Row>('/api/messages', { query: filters, everyMs: EVERY_MS })
  const { value: present } = useData<{ readonly channels: readonly string[] }>('/api/channels', {
    everyMs: EVERY_MS,
  })

  async function clear(): Promise<void> {
    await ask('/api/messages', { method: 'DELETE' })
    await list.reload()
  }
  return (
    <Page
      title={said.title}
      intro={said.intro}
      actions={
        <Button icon="trash" onClick={clear}>
          {said.clear}
        </Button>
      }
    >
      <Filters names={FILTERS}>
        <TextFilter name="search" label={said.search} />
        <ChannelFilter names={present?.channels ?? []} />
      </Filters>
      <div class="messages">
        <List
          label={said.title}
          state={list}
          columns={COLUMNS}
          filtered={Object.keys(filters).length > 0}
          empty={
            <Empty icon="notifications" title={said.empty}>
              <p>{said.emptyHint}</p>
            </Empty>
          }
        />
      </div>
    </Page>
  )
}
