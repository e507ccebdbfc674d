import type { LeaseRef, StartRef } from '../../../src/ports/storage/claim.ts'
import { addDue, type JobRow } from './announce.ts'
import { type Connection, NOW } from './connection.ts'

/** Rows are locked in the order of their ids, so that sets cannot deadlock. */
const LOCKED = `
  SELECT j.id FROM carillon.jobs AS j JOIN given ON j.id = given.id
  WHERE j.state = 2 AND j.token = given.token`

/** See migrations/0005-start.ts. */
const START = 'SELECT id, token FROM carillon.start_1($1::bigint, $2::bigint[], $3::bigint[], $4::text[])'

/** `relaxed`: a power failure that takes a renewal only returns the job. */
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

export interface Leases {
  startAttempts(refs: readonly StartRef[]): Promise<boolean[]>
  renew(refs: readonly LeaseRef[], leaseMs: number): Promise<boolean[]>
  release(refs: readonly LeaseRef[]): Promise<void>
}

/** The number of a job; null: no job can have this id. */
export function jobNumber(id: string): number | null {
  return /^[1-9]\d{0,15}$/.test(id) && Number.isSafeInteger(Number(id)) ? Number(id) : null
}

/** The verbs on leases: one statement for each set, and so one commit. */
export function createLeases(connection: Connection): Leases {
  /** The refs that can be any job's, each once. */
  function known<Ref extends LeaseRef>(refs: readonly Ref[]): (Ref & { readonly number: number })[] {
    const byNumber = new Map<string, Ref & { readonly number: number }>()
    for (const ref of refs) {
      const number = jobNumber(ref.jobId)
      if (number !== null) byNumber.set(keyOf(ref), { ...ref, number })
    }
    return [...byNumber.values()]
  }

  async function startAttempts(refs: readonly StartRef[]): Promise<boolean[]> {
    const given = known(refs)
    if (given.length === 0) return refs.map(() => false)
    const rows = await connection.rows<LeaseRow>(START, [
      connection.time(),
      given.map(({ number }) => number),
      given.map(({ token }) => token),
      given.map(({ provider }) => provider),
    ])
    return answersFor(refs, rows)
  }

  return {
    startAttempts,
    async renew(refs, leaseMs) {
      const given = known(refs)
      if (given.length === 0) return refs.map(() => false)
      const numbers = given.map(({ number }) => number)
      const tokens = given.map(({ token }) => token)
      const values = [connection.time(), numbers, tokens, Math.ceil(leaseMs)]
      return answersFor(refs, await connection.rows<LeaseRow>(RENEW, values))
    },
    async release(refs) {
      const given = known(refs)
      if (given.length === 0) return
      const numbers = given.map(({ number }) => number)
      const tokens = given.map(({ token }) => token)
      await connection.transaction(async ({ rows, made }) =>
        addDue(made, await rows<JobRow>(RELEASE, [numbers, tokens])),
      )
    },
  }
}

interface LeaseRow {
  readonly id: number
  readonly token: number
}

function answersFor(refs: readonly LeaseRef[], rows: readonly LeaseRow[]): boolean[] {
  const changed = new Set(rows.map(({ id, token }) => `${id} ${token}`))
  return refs.map((ref) => changed.has(keyOf(ref)))
}

const keyOf = ({ jobId, token }: LeaseRef): string => `${jobId} ${token}`
