import type { LeaseRef, StartRef } from '../../../src/core/ports/storage/claim.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { changeAddresses } from './addresses.ts'
import { type Connection, NOW, type Runner } from './connection.ts'
import { addDue, type JobRow } from './due-jobs.ts'
import { once, type Value } from './values.ts'

/** Locks rows in the order of ids, so that sets cannot deadlock. */
const LOCKED = `
  SELECT j.id FROM carillon.jobs AS j JOIN given ON j.id = given.id
  WHERE j.state = 2 AND j.token = given.token`

/** Returns the jobs whose attempt has not begun: see migrations/0001-initial/start.ts. */
const START =
  'SELECT o_job AS id, o_token AS token FROM carillon.start_1($1::bigint, $2::bigint[], $3::bigint[], $4::text[])'

/** Before the jobs: every transaction that locks both starts with the notifications. */
const LOCK_NOTIFICATIONS = `
  SELECT n.id, 2 * n.seq AS job FROM carillon.notifications AS n
  WHERE n.id = ANY (ARRAY(SELECT subject FROM carillon.jobs WHERE id = ANY ($1::bigint[]) AND id % 2 = 0))
  ORDER BY n.id FOR NO KEY UPDATE`

/** Without waiting for the disk: a renewal lost to a power failure only returns the job. */
const RELAXED = "SELECT set_config('synchronous_commit', 'off', true)"

const RENEW = `
  WITH given AS (SELECT * FROM unnest($2::bigint[], $3::bigint[]) AS g (id, token)),
  relaxed AS (${RELAXED}),
  locked AS (${LOCKED} ORDER BY j.id FOR UPDATE OF j)
  UPDATE carillon.jobs AS j SET lease_until = ${NOW} + $4::bigint
  FROM locked, relaxed WHERE j.id = locked.id RETURNING j.id, j.token`

const RELEASE = `
  WITH given AS (SELECT * FROM unnest($1::bigint[], $2::bigint[]) AS g (id, token)),
  relaxed AS (${RELAXED}),
  locked AS (${LOCKED} AND j.provider IS NULL ORDER BY j.id FOR UPDATE OF j)
  UPDATE carillon.jobs AS j
  SET state = CASE WHEN j.recovered THEN 3 ELSE 0 END, token = NULL, lease_until = NULL
  FROM locked, relaxed WHERE j.id = locked.id RETURNING j.id, j.lane`

/** The number of a job. Null: not a job id. */
export function jobNumber(id: string): number | null {
  return /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id)) ? Number(id) : null
}

/** The operations on leases, one statement and one commit per set. */
export function createLeases(connection: Connection): Pick<Storage, 'startAttempts' | 'renew' | 'release'> {
  /** The refs with possible job ids, without duplicates, by {@link keyOf}. */
  function known<Ref extends LeaseRef>(refs: readonly Ref[]): Map<string, Known<Ref>> {
    const found = new Map<string, Known<Ref>>()
    for (const ref of refs) {
      const number = jobNumber(ref.jobId)
      if (number !== null) found.set(keyOf(ref), { ref, number })
    }
    return found
  }

  function startOf(given: readonly Known<StartRef>[]): readonly Value[] {
    return [
      connection.time(),
      given.map(({ number }) => number),
      once(given.map(({ ref }) => ref.token)),
      once(given.map(({ ref }) => ref.provider)),
    ]
  }

  /** Replaces recipients, too. */
  async function startAt(tx: Runner, given: readonly Known<StartRef>[]): Promise<LeaseRow[]> {
    const moved = given.filter(({ ref }) => ref.to !== undefined)
    const locked = await tx.rows<{ id: string; job: number }>(LOCK_NOTIFICATIONS, [
      moved.map(({ number }) => number),
    ])
    const refused = await tx.rows<LeaseRow>(START, startOf(given))
    const lost = new Set(refused.map(({ id }) => id))
    const begun = new Map(
      moved.flatMap(({ number, ref: { to } }) =>
        to === undefined || lost.has(number) ? [] : [[number, to]],
      ),
    )
    await changeAddresses(
      tx,
      locked.flatMap(({ id, job }) => {
        const to = begun.get(job)
        return to === undefined ? [] : [{ id, to }]
      }),
    )
    return refused
  }

  async function startAttempts(refs: readonly StartRef[]): Promise<boolean[]> {
    const asked = known(refs)
    if (asked.size === 0) return refs.map(() => false)
    const given = [...asked.values()]
    const refused = given.some(({ ref }) => ref.to !== undefined)
      ? await connection.transaction((tx) => startAt(tx, given))
      : await connection.rows<LeaseRow>(START, startOf(given))
    const lost = new Set(refused.map(({ id, token }) => `${id} ${token}`))
    return refs.map((ref) => asked.has(keyOf(ref)) && !lost.has(keyOf(ref)))
  }

  return {
    startAttempts,
    async renew(refs, leaseMs) {
      const given = [...known(refs).values()]
      if (given.length === 0) return refs.map(() => false)
      const renewed = await connection.rows<LeaseRow>(RENEW, [
        connection.time(),
        ...columnsOf(given),
        Math.ceil(leaseMs),
      ])
      const alive = new Set(renewed.map(({ id, token }) => `${id} ${token}`))
      return refs.map((ref) => alive.has(keyOf(ref)))
    },
    async release(refs) {
      const given = [...known(refs).values()]
      if (given.length === 0) return
      await connection.transaction(async ({ rows, made }) =>
        addDue(made, await rows<JobRow>(RELEASE, columnsOf(given))),
      )
    },
  }
}

interface Known<Ref extends LeaseRef> {
  readonly ref: Ref
  readonly number: number
}

function columnsOf(given: readonly Known<LeaseRef>[]): readonly [numbers: number[], tokens: number[]] {
  return [given.map(({ number }) => number), given.map(({ ref }) => ref.token)]
}

interface LeaseRow {
  readonly id: number
  readonly token: number
}

const keyOf = ({ jobId, token }: LeaseRef): string => `${jobId} ${token}`
