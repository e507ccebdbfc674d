import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import type { Query } from '../../app/router.ts'
import { may, session } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { useData } from '../../app/use-data.ts'
import { settings } from '../../texts/settings.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { ErrorNote } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'

const said = settings.recipients
const PATH = '/v1/preferences'
const ALL = '*'

type Cells = Readonly<Record<string, boolean>>

/** What a person has chosen, as the REST API shows it. */
export interface Choices {
  readonly channels: Cells
  readonly categories: Readonly<Record<string, boolean | Cells>>
  readonly updatedAt: string | null
}

/** One choice of a person. */
interface Cell {
  /** Null: all. */
  readonly category: string | null
  /** `*`: all. */
  readonly channel: string
  readonly on: boolean
}

const COLUMNS: readonly Column<Cell>[] = [
  { title: said.category, main: true, cell: ({ category }) => category ?? said.allCategories },
  { title: said.channel, cell: ({ channel }) => channelName(channel) },
  {
    title: said.wish,
    cell: ({ on }) => <Badge tone={on ? 'good' : 'warn'}>{on ? said.on : said.off}</Badge>,
  },
]

const channelName = (channel: string): string => (channel === ALL ? said.allChannels : channel)

/** @param on null: no choice any more */
async function store(
  query: Query,
  { category, channel }: Omit<Cell, 'on'>,
  on: boolean | null,
): Promise<void> {
  const cells = { [channel]: on }
  const body = category === null ? { channels: cells } : { categories: { [category]: cells } }
  await ask(PATH, { method: 'PATCH', query, body })
  tell(said.changed)
}

/** What one recipient has turned on and off; with permission it can be changed. */
export function Wishes({
  of,
  query,
  reload,
}: {
  readonly of: Choices
  readonly query: Query
  readonly reload: () => Promise<void>
}) {
  const editing = useSignal(false)
  const action = useAction()
  const cells = cellsOf(of)
  const buttons: Column<Cell> = {
    title: said.remove,
    quiet: true,
    end: true,
    cell: (cell) => (
      <Button
        kind="quiet"
        label={said.removeWish(cell.category ?? said.allCategories, channelName(cell.channel))}
        onClick={() =>
          action.run(async () => {
            await store(query, cell, null)
            await reload()
          })
        }
      >
        {said.remove}
      </Button>
    ),
  }
  const mayChange = may('Write')
  return (
    <section class="part" aria-labelledby="wishes">
      <header class="part-head">
        <h2 id="wishes">{said.wishes}</h2>
        {mayChange ? (
          <Button
            icon="edit"
            onClick={() => {
              editing.value = true
            }}
          >
            {said.change}
          </Button>
        ) : null}
      </header>
      {action.error === null ? null : <ErrorNote error={action.error} />}
      {cells.length === 0 ? (
        <p class="muted">{said.noWishes}</p>
      ) : (
        <Table
          label={said.wishes}
          items={cells}
          columns={mayChange ? [...COLUMNS, buttons] : COLUMNS}
          keyOf={({ category, channel: on }) => JSON.stringify([category, on])}
        />
      )}
      {of.updatedAt === null ? null : (
        <p class="hint">
          {said.updated} <Time at={of.updatedAt} style="full" />
        </p>
      )}
      {editing.value ? (
        <WishForm
          query={query}
          onClose={() => {
            editing.value = false
          }}
          reload={reload}
        />
      ) : null}
    </section>
  )
}

function WishForm({
  query,
  onClose,
  reload,
}: {
  readonly query: Query
  readonly onClose: () => void
  readonly reload: () => Promise<void>
}) {
  const { value: known } = useData<{ readonly items: readonly { id: string; name: string }[] }>(
    '/v1/categories',
    { everyMs: 0 },
  )
  const category = useSignal('')
  const channel = useSignal(query.channel ?? ALL)
  const wish = useSignal<'on' | 'off' | 'none'>('off')
  const form = useForm(async () => {
    const cell = { category: category.value === '' ? null : category.value, channel: channel.value }
    await store(query, cell, wish.value === 'none' ? null : wish.value === 'on')
    onClose()
    await reload()
  })
  return (
    <Dialog title={said.change} onClose={onClose}>
      <Form state={form} fields={[]}>
        <Select
          label={said.category}
          value={category.value}
          choices={[
            { value: '', label: said.allCategories },
            ...(known?.items ?? []).map(({ id, name }) => ({ value: id, label: name })),
          ]}
          onValue={(value) => {
            category.value = value
          }}
        />
        <Select
          label={said.channel}
          value={channel.value}
          choices={[ALL, ...session.value.channels].map((value) => ({ value, label: channelName(value) }))}
          onValue={(value) => {
            channel.value = value
          }}
        />
        <Select
          label={said.wish}
          value={wish.value}
          choices={(['on', 'off', 'none'] as const).map((value) => ({ value, label: said[value] }))}
          onValue={(value) => {
            wish.value = value
          }}
        />
        <FormActions state={form} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

function cellsOf({ channels, categories }: Choices): Cell[] {
  const rows = (category: string | null, cells: Cells): Cell[] =>
    Object.entries(cells).map(([channel, on]) => ({ category, channel, on }))
  return [
    ...rows(null, channels),
    ...Object.entries(categories).flatMap(([id, cells]) =>
      rows(id, typeof cells === 'boolean' ? { [ALL]: cells } : cells),
    ),
  ]
}
