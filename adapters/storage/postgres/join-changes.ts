import type { Joined } from '../../../src/core/ports/storage/accept.ts'
import type { Change } from './changes.ts'
import type { Commits } from './commits.ts'
import type { Connection, Runner, Transaction } from './connection.ts'
import { literal, quoted, withValues } from './literals.ts'
import { standingsOfHeld } from './states.ts'
import type { RunText } from './transaction-handles.ts'
import type { Value } from './values.ts'

/** Answers of the functions in migrations/0001-initial/change-in.ts. */
export type NotJoined = 'no_transaction' | 'other_database'
type Held =
  | { readonly kind: 'held'; readonly jobId: number; readonly now: number }
  | { readonly kind: 'unknown' | 'ended' | 'too_late' }

/** A caller's transaction. */
export interface Inside {
  readonly xid: string
  /** Identifies the storage's database. */
  readonly database: string
  readonly runText: RunText
  /** Reads in it. */
  readonly reads: Runner
}

/**
 * Changes a notification in a caller's transaction.
 *
 * @param refused makes the error of a transaction that cannot be used
 */
export function createJoinedChanges(
  connection: Connection,
  commits: Commits,
  refused: (kind: NotJoined) => Error,
): <Answer>(
  inside: Inside,
  id: string,
  change: Change<Answer>,
) => Promise<Joined<Answer | Exclude<Held, { kind: 'held' }>>> {
  const call = async <Answer extends { readonly kind: string }>(
    { runText }: Inside,
    name: 'hold_in_1' | 'change_in_1',
    request: object,
  ): Promise<Answer> => {
    const text = literal(JSON.stringify(request))
    const [row] = await runText(`SELECT ${quoted(connection.schema)}.${name}(${text}) AS answer`)
    const answer = JSON.parse((row as { answer: string }).answer) as Answer | { readonly kind: NotJoined }
    if (answer.kind === 'no_transaction' || answer.kind === 'other_database')
      throw refused(answer.kind as NotJoined)
    return answer as Answer
  }

  return async function change(inside, id, changed) {
    const { xid, database, reads } = inside
    const { betweenAttempts } = changed
    const asked = { xid, database, id, betweenAttempts, now: connection.time() }
    const held = await call<Held>(inside, 'hold_in_1', asked)
    if (held.kind !== 'held') return { answer: held, committed: Promise.resolve(false) }
    const standing = (await standingsOfHeld(reads, [id])).get(id)
    // Its row is locked.
    if (standing === undefined) throw refused('no_transaction')
    const before = standing.state.sequence
    const { tx, statements } = collecting(connection, reads, held.now)
    const answer = await changed.make(tx, { standing, jobId: held.jobId })
    if (statements.length > 0) await call(inside, 'change_in_1', { xid, statements })
    const { sequence, status } = standing.state
    const entry = { id, change: { status, at: held.now } }
    return { answer, committed: sequence > before ? commits.watch(xid, entry) : Promise.resolve(false) }
  }
}

/** Statements that only read or lock. They call no function of the schema, which may write. */
const READS = /^\s*SELECT (?!carillon\.)/

/** A transaction that reads at once, and collects its writes for one statement. */
function collecting(
  connection: Connection,
  reads: Runner,
  now: number,
): { readonly tx: Transaction; readonly statements: readonly string[] } {
  const statements: string[] = []
  const tx: Transaction = {
    now,
    opened: [],
    // Enqueued after the caller's commit, by the jobs that it stored.
    made: { refs: null, wakes: false },
    follow: connection.follow,
    prove() {},
    async script() {
      throw new TypeError('A transaction of a caller runs no scripts.')
    },
    async rows<Row>(statement: string, values: readonly Value[] = []): Promise<Row[]> {
      if (READS.test(statement)) return reads.rows<Row>(statement, values)
      statements.push(withValues(connection.textOf(statement), values))
      return []
    },
  }
  return { tx, statements }
}
