import { randomUUID } from 'node:crypto'
import { monthlyUnits } from '../../../src/core/accept/admit.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  IdempotencyRecord,
  Joined,
  JoinedReads,
  JoinedTransaction,
  JoinedWrite,
} from '../../../src/core/ports/storage/accept.ts'
import { unknownOrganization } from '../../../src/core/tenancy/organization.ts'
import { recordColumns } from '../rows/record.ts'
import { cancelling, rescheduling } from './changes.ts'
import type { Commits } from './commits.ts'
import type { Connection, Runner } from './connection.ts'
import { createCountJobs } from './count-jobs.ts'
import { dataError, unusable } from './errors.ts'
import { createFindIdempotent, recordHash } from './idempotency.ts'
import { copyRows, namedUploads, pairsOf, rowOf } from './insert.ts'
import { createJoinedChanges, type NotJoined } from './join-changes.ts'
import { literal, quoted, withValues } from './literals.ts'
import { notificationsById } from './notifications.ts'
import { nameOf } from './record-tables.ts'
import { createRecords } from './records.ts'
import { fromStored, toStored } from './text.ts'
import { type PostgresTransaction, type RunText, runOn } from './transaction-handles.ts'
import type { Value } from './values.ts'

const KEEP = "INSERT INTO carillon.kept (name, value) VALUES ('database', $1) ON CONFLICT DO NOTHING"

const SELECT_DATABASE = `
  SELECT current_database() || ' ' || value AS database FROM carillon.kept WHERE name = 'database'`

/** Answer of the function in migrations/0001-initial/accept-in.ts. */
type Answer =
  | { readonly kind: 'accepted'; readonly admitted: number; readonly createdAt: number }
  | { readonly kind: 'replayed'; readonly record: IdempotencyRecord }
  | { readonly kind: 'no_organization' | 'taken' | NotJoined }
  /** By the record at this position. */
  | { readonly kind: 'unwritten'; readonly why: 'taken' | 'no_organization'; readonly at: number }
  | { readonly kind: 'refused'; readonly state: string; readonly message: string }

export interface Joining {
  /** Reads the identity of this database in advance: an open transaction of a caller then needs no other connection. */
  start(): Promise<void>
  join(tx: PostgresTransaction): Promise<JoinedTransaction>
}

/** Stores single requests and changes inside callers' transactions, with plain text statements only. */
export function createJoining(connection: Connection, commits: Commits): Joining {
  const name = `${quoted(connection.schema)}.accept_in_1`
  // Cannot fail, and so cannot abort the caller's transaction: it only asks whether the function exists.
  const begin = `
    SELECT pg_catalog.pg_current_xact_id()::text AS xid,
      pg_catalog.to_regprocedure(${literal(`${name}(text)`)}) IS NOT NULL AS known`
  const change = createJoinedChanges(connection, commits, unjoined)
  let database = ''

  async function start(): Promise<void> {
    // The first value stays, so no transaction is needed.
    await connection.rows(KEEP, [randomUUID()])
    const [row] = await connection.rows<{ database: string }>(SELECT_DATABASE)
    database = row?.database ?? ''
  }

  async function acceptIn(
    runText: RunText,
    xid: string,
    request: AcceptRequest,
  ): Promise<Joined<AcceptAnswer>> {
    const text = literal(textOf(request, { xid, database, now: connection.time() }))
    const [row] = await runText(`SELECT ${name}(${text}) AS answer`)
    const answer = toAnswer(JSON.parse((row as { answer: string }).answer) as Answer, request)
    const [first] = request.notifications
    const stored = answer.kind === 'accepted' && answer.admitted > 0 && first !== undefined
    return {
      answer,
      committed: stored ? commits.watch(xid, { id: first.id, change: null }) : Promise.resolve(false),
    }
  }

  async function join(tx: PostgresTransaction): Promise<JoinedTransaction> {
    const run = runOn(tx)
    const runText: RunText = (statement) =>
      run(statement).catch((error: unknown) => {
        throw unusable(error)
      })
    const [row] = await runText(begin)
    const { xid, known } = row as { readonly xid: string; readonly known: boolean | string }
    // Text, if the application reads every column as text.
    if (known !== true && known !== 't') throw otherDatabase()
    const reads = runnerIn(connection, runText)
    const inside = { xid, database, runText, reads }
    return {
      reads: readsIn(connection, reads),
      accept: (request) => acceptIn(runText, xid, request),
      cancel: (id, content) => change(inside, id, cancelling(content)),
      reschedule: (id, sendAt) => change(inside, id, rescheduling(sendAt)),
    }
  }

  return { start, join }
}

/** A request as one JSON text. */
function textOf(
  { organizationId, notifications, quota, idempotency, records }: AcceptRequest,
  about: { readonly xid: string; readonly database: string; readonly now: number | null },
): string {
  const record =
    idempotency === undefined
      ? null
      : {
          hash: recordHash({ ...idempotency, organizationId }),
          fingerprint: idempotency.fingerprint,
          result: idempotency.result,
          ttl: Math.ceil(idempotency.ttlMs),
        }
  const request = {
    ...about,
    organization: organizationId,
    period: quota?.period,
    limit: quota?.limit,
    record,
    needed: quota === undefined ? undefined : neededOf(notifications, records),
    notifications: notifications.map(rowOf),
    writes: records?.map(writeOf),
    pairs: notifications.some(({ metadata }) => metadata !== undefined && metadata !== null)
      ? notifications.flatMap(pairsOf)
      : undefined,
    copies: notifications.some(({ copies }) => copies !== undefined)
      ? notifications.flatMap(copyRows)
      : undefined,
    named: notifications.some(({ uploads }) => uploads !== undefined)
      ? notifications.flatMap(namedUploads)
      : undefined,
  }
  return JSON.stringify(request, (_, value) =>
    typeof value === 'string' ? wellFormed(toStored(value)) : value,
  )
}

function writeOf(write: JoinedWrite): object {
  const { kind, id } = write
  const table = nameOf(kind)
  if (write.do === 'remove') return { table, id }
  const { value, organizationId, ifTaken } = write
  const columns = recordColumns(kind, id, organizationId, value)
  return { table, ...columns, keeps: ifTaken === 'keep' }
}

/** For each notification, what all up to the end of its group count for; with records, what all count for. */
function neededOf(
  notifications: AcceptRequest['notifications'],
  records: readonly JoinedWrite[] = [],
): number[] {
  let needed = 0
  const upTo = notifications.map((notification) => {
    needed += monthlyUnits(notification)
    return needed
  })
  for (let index = upTo.length - 2; index >= 0; index -= 1) {
    const groupId = notifications[index]?.groupId ?? null
    const isGroup = groupId !== null && notifications[index + 1]?.groupId === groupId
    if (isGroup || records.length > 0) upTo[index] = upTo[index + 1] ?? 0
  }
  return upTo
}

/** Replaces lone surrogates, as UTF-8 encoding does: JSON can escape them, but PostgreSQL refuses them. */
function wellFormed(text: string): string {
  return /\p{Surrogate}/u.test(text) ? Buffer.from(text).toString() : text
}

function toAnswer(answer: Answer, { organizationId }: AcceptRequest): AcceptAnswer {
  switch (answer.kind) {
    case 'accepted':
    case 'replayed':
      return answer
    case 'unwritten':
      return { kind: 'refused', write: { kind: answer.why, at: answer.at } }
    case 'no_organization':
      return { kind: 'failed', error: unknownOrganization(organizationId) }
    case 'taken':
      return { kind: 'failed', error: new NotifierError('already_exists') }
    case 'refused':
      return { kind: 'failed', error: dataError(refusal(answer)) }
    case 'no_transaction':
    case 'other_database':
      throw unjoined(answer.kind)
  }
}

function unjoined(kind: NotJoined): NotifierError {
  if (kind === 'other_database') return otherDatabase()
  return new NotifierError('invalid_transaction', {
    message:
      '"tx" has no open transaction, or the transaction has ended. Nothing was stored. ' +
      'Begin a transaction first, and await the call before you commit or roll back.',
    details: { reason: 'not_open' },
  })
}

/** As the client would throw it. */
function refusal({ state, message }: Extract<Answer, { kind: 'refused' }>): Error {
  return Object.assign(new Error(`${state}: ${message}`), { code: state, severity: 'ERROR' })
}

function otherDatabase(): NotifierError {
  return new NotifierError('invalid_transaction', {
    message:
      'The transaction belongs to another database than the storage, or cannot see its schema. Nothing was stored. ' +
      'Use one database for both.',
    details: { reason: 'other_database' },
  })
}

/**
 * Reads inside the caller's transaction. Each row is read as one JSON text, so that the application's type parsers and
 * column mappings have no effect.
 */
function runnerIn(connection: Connection, runText: RunText): Runner {
  return {
    async rows<Row>(statement: string, values: readonly Value[] = []): Promise<Row[]> {
      const asked = withValues(connection.textOf(statement), values)
      const found = await runText(`SELECT pg_catalog.row_to_json(r)::text AS row FROM (${asked}) AS r`)
      return (found as readonly { readonly row: string }[]).map(({ row }) => JSON.parse(row, asRead) as Row)
    },
  }
}

function readsIn(connection: Connection, reads: Runner): JoinedReads {
  const inside: Connection = { ...connection, ...reads }
  return {
    findIdempotent: createFindIdempotent(inside),
    countJobs: createCountJobs(inside),
    notifications: notificationsById(reads),
    records: createRecords(inside),
  }
}

function asRead(_: string, value: unknown): unknown {
  return typeof value === 'string' ? fromStored(value) : value
}
