import { ask } from '../app/api.ts'
import { hrefOf, place } from '../app/router.ts'
import { useList } from '../app/use-list.ts'
import { texts } from '../texts/index.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { Filters, TextFilter } from '../ui/filters.tsx'
import { type Column, List } from '../ui/list.tsx'
import { Page } from '../ui/page.tsx'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'

const said = texts.mailbox
const EVERY_MS = 2_000

interface Row {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly subject: string
  readonly caughtAt: string
}

const COLUMNS: readonly Column<Row>[] = [
  {
    title: said.subject,
    main: true,
    cell: ({ id, subject }) => (
      <a class="cut" href={hrefOf(`/messages/${id}`)}>
        {subject || said.noSubject}
      </a>
    ),
  },
  { title: said.to, cell: ({ to }) => <span class="cut">{to}</span> },
  { title: said.channel, cell: ({ channel }) => <Badge>{channel}</Badge> },
  { title: said.caught, end: true, cell: ({ caughtAt }) => <Time at={caughtAt} /> },
]

export function MessagesPage() {
  const search = place.value.query.search ?? ''
  const list = useList<Row>('/api/messages', { query: { search }, everyMs: EVERY_MS })

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
      <Filters names={['search']}>
        <TextFilter name="search" label={said.search} />
      </Filters>
      <List
        label={said.title}
        state={list}
        columns={COLUMNS}
        filtered={search !== ''}
        empty={
          <Empty icon="notifications" title={said.empty}>
            <p>{said.emptyHint}</p>
          </Empty>
        }
      />
    </Page>
  )
}
