import * as kit from 'carillon/storage-kit'
import { find, isOpen } from './records.ts'
import { type RecordRow, type State, where } from './state.ts'

/** Claims due records: organizations take turns. */
export function claimDue(state: State, { kinds, most, leaseMs }: kit.DueRequest): kit.DueAnswer {
  const now = state.now()
  const token = ++state.token
  const due = kinds.flatMap((kind) => {
    catchUp(state, kind)
    const ready = dueRows(state, kind).filter((row) => Number(row.due) <= now)
    const jobs = ready.map((row) => ({ row, organizationId: `-${row.organization}`, high: false }))
    const chosen = kit.pickFairly({ lane: `due ${kind.name}`, free: most }, kit.readyJobs(jobs), state.turns)
    return chosen.map(({ row }): kit.DueRecord => {
      const claims = row.claims + 1
      const lease = kit.dueLeaseMs(leaseMs, claims)
      change(state, row, { token, claims, due: now + lease })
      return { kind, record: kit.toRecord(kind, row, now), token, claims, leaseMs: lease }
    })
  })
  const [next] = kinds.flatMap((kind) => dueRows(state, kind).slice(0, 1)).sort(byDue)
  return { due, nextDueInMs: next === undefined ? null : Math.max(0, Number(next.due) - now) }
}

/** The rows of a kind that wait for their time or for the end of a lease, the soonest first. */
function dueRows(state: State, kind: kit.RecordKind): RecordRow[] {
  return where(state.records, { kind: kind.name })
    .filter(
      ({ due, organization }) => due !== null && isOpen(state, organization === '' ? null : organization),
    )
    .sort(byDue)
}

const byDue = (one: RecordRow, other: RecordRow): number =>
  Number(one.due) - Number(other.due) || one.seq - other.seq

/** Gives the due time to rows that were written without one, and ends leases that a clock running ahead has given. */
function catchUp(state: State, kind: kit.RecordKind): void {
  for (const row of where(state.records, { kind: kind.name })) {
    const { revision, due } = row
    if (row.due_revision !== revision) {
      const { value } = kit.toRecord(kind, row, state.now())
      change(state, row, { due: kit.dueOf(kind, value), due_revision: revision, token: null, claims: 0 })
    } else if (row.token !== null && Number(due) > state.now() + kit.LONGEST_LEASE_MS)
      change(state, row, { due: state.now() })
  }
}

function change(state: State, { kind, id }: RecordRow, values: Partial<RecordRow>): void {
  const row = find(state, { name: kind, version: 1 }, { id }) as RecordRow
  state.records = state.records.with(state.records.indexOf(row), { ...row, ...values })
}
