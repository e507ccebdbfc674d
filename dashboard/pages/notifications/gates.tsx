import type { ExplainedGate, Explanation } from '../../../src/core/explain/model.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'

const said = texts.notifications
const TONES: Readonly<Record<ExplainedGate['result'], Tone>> = {
  passed: 'good',
  refused: 'bad',
  skipped: 'warn',
  waits: 'warn',
  failed: 'bad',
  unknown: 'warn',
}

const COLUMNS: readonly Column<ExplainedGate>[] = [
  { title: said.gates.gate, main: true, cell: ({ gate }) => said.gates.names[gate] ?? gate },
  {
    title: said.gates.result,
    cell: ({ result }) => <Badge tone={TONES[result]}>{said.gates.results[result]}</Badge>,
  },
  { title: said.gates.reason, cell: (gate) => <Reason of={gate} /> },
  {
    title: said.gates.decided,
    end: true,
    cell: ({ at }) => (at === null ? said.gates.now : <Time at={at} />),
  },
]

/** What every gate decided about a notification, or would decide now. */
export function Gates({ of: id }: { readonly of: string }) {
  const { value, error, reload } = useData<Explanation>(`/v1/notifications/${id}/explain`)
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  const items = value.gates.map((gate, at) => ({ ...gate, key: `${at} ${gate.gate}` }))
  return <Table label={said.tabs.gates} items={items} columns={COLUMNS} keyOf={({ key }) => key} />
}

function Reason({ of: { message, code, decidedBy, until } }: { readonly of: ExplainedGate }) {
  return (
    <>
      {message} {code === null ? null : <code>{decidedBy ?? code}</code>}
      {until === null ? null : (
        <>
          {' '}
          {said.gates.until} <Time at={until} style="full" />
        </>
      )}
    </>
  )
}
