import { ask } from '../../app/api.ts'
import { may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { useData } from '../../app/use-data.ts'
import { settings } from '../../texts/settings.ts'
import { type Column, Table } from '../../ui/list.tsx'
import { ErrorNote } from '../../ui/states.tsx'
import { tell } from '../../ui/toast.tsx'
import { type Category, type Cells, channelsWith } from './category.ts'

const said = settings.categories.preferences
const PATH = '/v1/preferences/organization'

interface Preferences {
  readonly channels: Cells
  readonly categories: Readonly<Record<string, boolean | Cells>>
}

interface Row {
  /** Null: all categories. */
  readonly id: string | null
  readonly name: string
  readonly cells: Cells
}

const CHOICES = ['', 'on', 'off'] as const

/** What the organization has chosen for people who have not, by category and channel. */
export function OrganizationPreferences({ categories }: { readonly categories: readonly Category[] }) {
  const { value, error, reload } = useData<Preferences>(PATH)
  const action = useAction()
  const rows: Row[] =
    value === null
      ? []
      : [
          { id: null, name: said.allCategories, cells: value.channels },
          ...categories
            .filter(({ required }) => !required)
            .map(({ id, name }) => ({ id, name, cells: longCells(value.categories[id]) })),
        ]
  const channels = channelsWith(...rows.map(({ cells }) => cells))

  const choose = ({ id }: Row, channel: string, wanted: string): Promise<void> =>
    action.run(async () => {
      const cells = { [channel]: wanted === '' ? null : wanted === 'on' }
      const body = id === null ? { channels: cells } : { categories: { [id]: cells } }
      await ask(PATH, { method: 'PATCH', body })
      tell(said.saved)
      await reload()
    })

  const columns: Column<Row>[] = [
    { title: settings.categories.one, main: true, cell: ({ name }) => name },
    ...['*', ...channels].map((channel) => ({
      title: channel === '*' ? said.allChannels : channel,
      cell: (row: Row) => (
        <Choice
          label={`${row.name}, ${channel === '*' ? said.allChannels : channel}`}
          value={row.cells[channel]}
          onChosen={(wanted) => choose(row, channel, wanted)}
        />
      ),
    })),
  ]
  return (
    <section class="part" aria-labelledby="organization-preferences">
      <h2 id="organization-preferences">{said.title}</h2>
      <p class="hint">{said.hint}</p>
      {action.error === null ? null : <ErrorNote error={action.error} />}
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null ? null : (
        <Table label={said.title} items={rows} columns={columns} keyOf={({ id }) => id ?? '*'} />
      )}
    </section>
  )
}

function Choice({
  label,
  value,
  onChosen,
}: {
  readonly label: string
  /** Undefined: undecided. */
  readonly value: boolean | undefined
  readonly onChosen: (wanted: string) => unknown
}) {
  const now = value === undefined ? '' : value ? 'on' : 'off'
  if (!may('Full Access')) return <span class={now === '' ? 'muted' : ''}>{said.choices[now]}</span>
  return (
    <select aria-label={label} value={now} onChange={(event) => onChosen(event.currentTarget.value)}>
      {CHOICES.map((choice) => (
        <option key={choice} value={choice}>
          {said.choices[choice]}
        </option>
      ))}
    </select>
  )
}

function longCells(cells: boolean | Cells | undefined): Cells {
  return typeof cells === 'boolean' ? { '*': cells } : (cells ?? {})
}
