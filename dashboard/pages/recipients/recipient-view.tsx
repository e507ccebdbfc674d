import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { QuietChoice } from '../quiet-hours/quiet.ts'
import { QuietSection } from '../quiet-hours/quiet-section.tsx'

const said = texts.recipients
const PATH = '/v1/preferences'

type Cells = Readonly<Record<string, boolean>>

/** What a person has chosen, as the REST API shows it. */
interface Preferences {
  readonly channels: Cells
  readonly categories: Readonly<Record<string, boolean | Cells>>
  readonly quietHours: QuietChoice
  readonly updatedAt: string | null
}

/** One choice of a person. */
interface Cell {
  /** Null: all. */
  readonly category: string | null
  readonly channel: string | null
  readonly on: boolean
}

const COLUMNS: readonly Column<Cell>[] = [
  { title: said.category, main: true, cell: ({ category }) => category ?? said.allCategories },
  { title: said.channel, cell: ({ channel }) => channel ?? said.allChannels },
  {
    title: said.wish,
    cell: ({ on }) => <Badge tone={on ? 'good' : 'warn'}>{on ? said.on : said.off}</Badge>,
  },
]

/** When and whether messages go to one recipient. */
export function RecipientView({ named }: { readonly named: Readonly<Record<string, string>> }) {
  const { value, error, reload } = useData<Preferences>(PATH, { query: named })
  const { recipient, to = '', channel } = named
  const list = recipient === undefined ? { to, channel } : { recipient }
  const name = recipient ?? to
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  const cells = cellsOf(value)
  return (
    <>
      <header class="part-head">
        <h2 class="long">{name}</h2>
        <a href={hrefOf(inOrganization('/notifications'), list)}>{said.notifications}</a>
      </header>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      <QuietSection
        title={texts.quietHours.title}
        hint={recipient === undefined ? said.byAddress : said.byId}
        owner={{ level: 'person', path: PATH, query: named, name }}
        choice={value.quietHours}
        needs="Write"
        reload={reload}
      />
      <section class="part" aria-labelledby="wishes">
        <h2 id="wishes">{said.wishes}</h2>
        {cells.length === 0 ? (
          <p class="muted">{said.noWishes}</p>
        ) : (
          <Table
            label={said.wishes}
            items={cells}
            columns={COLUMNS}
            keyOf={({ category, channel: on }) => JSON.stringify([category, on])}
          />
        )}
        {value.updatedAt === null ? null : (
          <p class="hint">
            {said.updated} <Time at={value.updatedAt} style="full" />
          </p>
        )}
      </section>
    </>
  )
}

function cellsOf({ channels, categories }: Preferences): Cell[] {
  const rows = (category: string | null, cells: Cells): Cell[] =>
    Object.entries(cells).map(([channel, on]) => ({
      category,
      channel: channel === '*' ? null : channel,
      on,
    }))
  return [
    ...rows(null, channels),
    ...Object.entries(categories).flatMap(([id, cells]) =>
      rows(id, typeof cells === 'boolean' ? { '*': cells } : cells),
    ),
  ]
}
