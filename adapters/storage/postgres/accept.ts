import { isNotifierError, NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type {
  AcceptAnswer,
  AcceptRequest,
  IdempotencyRecord,
} from '../../../src/core/ports/storage/accept.ts'
import type { RecordWrite } from '../../../src/core/ports/storage/records.ts'
import { unknownOrganization } from '../../../src/core/tenancy/organization.ts'
import { commitLookup } from '../commit-lookup.ts'
import type { Connection, Runner, Transaction } from './connection.ts'
import type { MadeDue } from './due-jobs.ts'
import { dataError, isHeld, isUncertain } from './errors.ts'
import { correctRecords, findRecords, heldNames, recordHash, takeRecords } from './idempotency.ts'
import { type Admitted, insertNotifications } from './insert.ts'
import { nowOf } from './now.ts'
import { drawOf, lockQuotas } from './quota.ts'
import { lockRecords, writeSet } from './write-records.ts'

/** May also write records. */
type Requested = AcceptRequest<RecordWrite>

const SELECT_ORGANIZATIONS = `
  SELECT id FROM carillon.r_organizations WHERE id = ANY ($1::text[]) AND list = 'open'`

const PROVE_STORED = 'SELECT 1 FROM carillon.notifications WHERE id = $1'

const SELECT_STORED = `
  SELECT id, created_at FROM carillon.notifications WHERE id = ANY ($1::text[])`

/**
 * Longest wait for an idempotency name that another transaction is taking. Accepts take a moment, but a transaction of
 * a caller may stay open, and the rest of a shared commit must not wait for it.
 */
const PATIENCE_MS = 500
/** The same once the callers' names are known: only other accepts remain. */
const LONG_PATIENCE_MS = 5_000

/** Most organizations in the cache. */
const MAX_KNOWN = 100_000

export interface Accept {
  set(requests: readonly Requested[]): Promise<AcceptAnswer[]>
  /** Clears the cache. The next opening may use another schema. */
  forget(): void
}

const failed = (cause: unknown): AcceptAnswer => ({ kind: 'failed', error: dataError(cause) })

/**
 * Stores sets of requests, one commit per set. There are three forms. Without idempotency keys, one statement is the
 * whole commit; as a transaction, the same takes 1.7 times as long for single sends and 1.4 times for sets of 50. With
 * keys, a transaction takes the names first, and waits for no other. In a caller's transaction, the function
 * `accept_in_1` is one statement that the caller's client sends as text.
 */
export function createAccept(connection: Connection): Accept {
  const { dueJobs } = connection
  /** Known organizations. The statement that stores checks that they still exist. */
  const known = new Set<string>()

  /** The organizations of the requests that exist. The result is a copy: the cache may be cleared at any time. */
  async function organizationsOf(
    runner: Runner,
    requests: readonly Requested[],
  ): Promise<ReadonlySet<string>> {
    const asked = new Set(requests.map(({ organizationId }) => organizationId))
    const unknown = [...asked].filter((id) => !known.has(id))
    if (unknown.length === 0) return asked
    for (const id of unknown) asked.delete(id)
    for (const { id } of await runner.rows<{ id: string }>(SELECT_ORGANIZATIONS, [unknown])) {
      asked.add(id)
      if (known.size >= MAX_KNOWN) known.clear()
      known.add(id)
    }
    return asked
  }

  /**
   * Accepts a set in which every record name is unique.
   *
   * @param held names not to wait for; undefined: not checked yet
   */
  async function acceptSet(
    tx: Transaction,
    requests: readonly Requested[],
    held?: ReadonlySet<string>,
  ): Promise<AcceptAnswer[]> {
    const organizations = await organizationsOf(tx, requests)
    const isBeingTaken = (request: Requested) => held?.has(hashFor(request) ?? '') === true
    const existing = requests.filter(
      (request) => organizations.has(request.organizationId) && !isBeingTaken(request),
    )
    const records = await takeOrFind(tx, existing, held === undefined ? PATIENCE_MS : LONG_PATIENCE_MS)
    const recordOf = (request: Requested) => records.get(hashFor(request) ?? '')
    const quotas = await lockQuotas(
      tx,
      existing.filter((request) => recordOf(request) === undefined && request.notifications.length > 0),
    )
    const writes = existing.flatMap(({ records = [] }) => records)
    await lockRecords(tx, writes)
    const stored: Admitted[] = []
    const corrections = new Map<string, number | null>()

    function store(request: Requested, admitted: number): void {
      const { organizationId, notifications } = request
      for (const notification of notifications.slice(0, admitted))
        stored.push({ organizationId, notification })
      quotas.count(request, admitted)
      const hash = hashFor(request)
      const kept = admitted > 0 || notifications.length === 0 ? admitted : null
      if (hash !== undefined && kept !== notifications.length) corrections.set(hash, kept)
    }

    /** Writes the records of a request that is stored completely. Null: nothing is refused. */
    async function refusalOf(request: Requested, admitted: number): Promise<AcceptAnswer | null> {
      const { notifications, records: writes = [] } = request
      if (writes.length === 0 || admitted < notifications.length) return null
      const written = await writeSet(tx, writes)
      if (written.kind === 'written') return null
      const hash = hashFor(request)
      if (hash !== undefined) corrections.set(hash, null)
      return 'at' in written ? { kind: 'refused', write: written } : written
    }

    async function answerTo(request: Requested): Promise<AcceptAnswer> {
      const { organizationId } = request
      if (!organizations.has(organizationId))
        return { kind: 'failed', error: unknownOrganization(organizationId) }
      const record = recordOf(request)
      if (record !== undefined) return { kind: 'replayed', record }
      if (isBeingTaken(request)) return { kind: 'failed', error: inProgress() }
      const admitted = quotas.admits(request)
      const refusal = await refusalOf(request, admitted)
      if (refusal !== null) return refusal
      store(request, admitted)
      return { kind: 'accepted', admitted, createdAt: tx.now }
    }

    const answers: AcceptAnswer[] = []
    for (const request of requests) answers.push(await answerTo(request))
    await correctRecords(tx, corrections)
    await quotas.write()
    const [first] = stored
    if (first !== undefined) {
      if ((await insertNotifications(tx, tx.now, stored, tx.made)) === null) throw deletedSince()
      tx.prove(PROVE_STORED, [first.notification.id])
    }
    return answers
  }

  async function acceptInTransaction(requests: readonly Requested[]): Promise<AcceptAnswer[]> {
    for (;;) {
      try {
        return await acceptKnown(requests)
      } catch (error) {
        if (!isNotifierError(error) || error.code !== 'not_found') throw error
        known.clear()
      }
    }
  }

  async function acceptKnown(requests: readonly Requested[]): Promise<AcceptAnswer[]> {
    try {
      return await connection.set(requests, failed, (tx, some) => acceptSet(tx, some))
    } catch (error) {
      if (!isHeld(error)) throw error
    }
    return connection.set(requests, failed, async (tx, some) => {
      const names = some.flatMap((request) => hashFor(request) ?? [])
      return acceptSet(tx, some, await heldNames(tx, names))
    })
  }

  /** Without records, one statement stores everything and is its own commit. */
  async function acceptPlain(requests: readonly Requested[]): Promise<AcceptAnswer[]> {
    const stored = requests.flatMap(({ organizationId, notifications }) =>
      notifications.map((notification) => ({ organizationId, notification })),
    )
    const made = dueJobs.collect()
    try {
      const createdAt = await insertPlain(requests, stored, made)
      // A quota is nearly used up, or an organization no longer exists.
      if (createdAt === null) return await acceptInTransaction(requests)
      dueJobs.afterCommit(made)
      return requests.map(({ notifications }) => ({
        kind: 'accepted',
        admitted: notifications.length,
        createdAt,
      }))
    } catch (error) {
      if (isUncertain(error)) return acceptAgain(requests)
      if (isNotifierError(error)) throw error
      // A transient error, or one bad item. A failed statement stores nothing.
      return acceptInTransaction(requests)
    }
  }

  async function insertPlain(
    requests: readonly Requested[],
    stored: readonly Admitted[],
    made: MadeDue,
  ): Promise<number | null> {
    if (stored.length === 0) return nowOf(connection)
    return insertNotifications(connection.once, connection.time(), stored, made, drawOf(requests))
  }

  /**
   * Recovers from a lost answer: looks up what the statement stored and stores the rest. If the server still runs the
   * statement, the unique ids make the second insert wait.
   */
  async function acceptAgain(requests: readonly Requested[]): Promise<AcceptAnswer[]> {
    const before = await lookUp(requests)
    const missing = requests.filter((request) => !before.has(request))
    const answers = new Map<Requested, AcceptAnswer>(before)
    if (missing.length > 0) {
      const again = await acceptInTransaction(missing)
      const after = await lookUp(missing)
      for (const [index, request] of missing.entries()) {
        const answer = again[index]
        const taken = answer?.kind === 'failed' && answer.error.code === 'already_exists'
        const known = taken ? after.get(request) : undefined
        if (answer !== undefined) answers.set(request, known ?? answer)
      }
    }
    return requests.flatMap((request) => answers.get(request) ?? [])
  }

  async function lookUp(requests: readonly Requested[]): Promise<Map<Requested, AcceptAnswer>> {
    const found = await commitLookup(() => storedOf(requests))
    // The lost answer skipped this step.
    if (found.size > 0) dueJobs.afterCommit({ refs: null, wakes: true })
    return found
  }

  /** Answers for the requests that are stored. */
  async function storedOf(requests: readonly Requested[]): Promise<Map<Requested, AcceptAnswer>> {
    const ids = requests.flatMap(({ notifications }) => notifications.map(({ id }) => id))
    const rows = await connection.rows<{ id: string; created_at: number }>(SELECT_STORED, [ids])
    const found = new Map(rows.map((row) => [row.id, row.created_at]))
    return new Map(
      requests.flatMap((request) => {
        const [first] = request.notifications
        const createdAt = first === undefined ? undefined : found.get(first.id)
        if (createdAt === undefined) return []
        return [[request, { kind: 'accepted', admitted: request.notifications.length, createdAt }] as const]
      }),
    )
  }

  async function set(requests: readonly Requested[]): Promise<AcceptAnswer[]> {
    if (requests.length === 0) return []
    const organizations = await organizationsOf(connection, requests)
    // Enqueueing in the same commit needs a transaction.
    const single = dueJobs.sink === null || 'enqueue' in dueJobs.sink
    if (
      single &&
      requests.every(
        ({ idempotency, organizationId, records }) =>
          idempotency === undefined && records === undefined && organizations.has(organizationId),
      )
    ) {
      return acceptPlain(requests)
    }
    const answers = new Map<Requested, AcceptAnswer>()
    for (const round of roundsOf(requests)) {
      for (const [index, answer] of (await acceptInTransaction(round)).entries()) {
        answers.set(round[index] as Requested, answer)
      }
    }
    return requests.flatMap((request) => answers.get(request) ?? [])
  }

  return { set, forget: () => known.clear() }
}

/** Nothing of the set was stored. The next lookup shows which organization is gone. */
function deletedSince(): NotifierError {
  return new NotifierError('not_found', { message: 'An organization was deleted.' })
}

function inProgress(): NotifierError {
  return new NotifierError('idempotency_in_progress', { retryAfterMs: 1_000 })
}

/** Takes the free names. Returns the records under the other names, by hash. */
async function takeOrFind(
  tx: Transaction,
  requests: readonly Requested[],
  patienceMs: number,
): Promise<Map<string, IdempotencyRecord>> {
  const named = requests.flatMap((request) => {
    const hash = hashFor(request)
    const { idempotency: content, notifications } = request
    if (hash === undefined || content === undefined) return []
    return [{ hash, content, size: notifications.length }]
  })
  const taken = await takeRecords(tx, named, patienceMs)
  const others = named.map(({ hash }) => hash).filter((hash) => !taken.has(hash))
  return findRecords(tx, others)
}

function hashFor({ idempotency, organizationId }: Requested): string | undefined {
  return idempotency === undefined ? undefined : recordHash({ ...idempotency, organizationId })
}

/** Splits requests with the same name into rounds, so that later ones find the first one's record. */
function roundsOf(requests: readonly Requested[]): Requested[][] {
  const rounds: Requested[][] = []
  const counts = new Map<string, number>()
  for (const request of requests) {
    const name = hashFor(request)
    const round = name === undefined ? 0 : (counts.get(name) ?? 0)
    if (name !== undefined) counts.set(name, round + 1)
    rounds[round] ??= []
    rounds[round].push(request)
  }
  return rounds
}
