import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import type { Addresses } from './addresses.ts'
import type { Connection } from './connection.ts'
import { isEventJob, subjectOf } from './jobs.ts'

const START = `
  UPDATE carillon_jobs SET attempts = attempts + 1, provider = ?
  WHERE id = ? AND state = 2 AND token = ? AND lease_until > ?`

const RENEW = 'UPDATE carillon_jobs SET lease_until = ? WHERE id = ? AND state = 2 AND token = ?'

/** The claim itself began attempts without a provider. */
const RELEASE = `
  UPDATE carillon_jobs
  SET state = CASE recovered WHEN 1 THEN 3 ELSE 0 END, token = NULL, lease_until = NULL,
    attempts = attempts - (provider IS NOT NULL), provider = NULL
  WHERE id = ? AND state = 2 AND token = ? AND (provider IS NULL OR provider = '')`

/** The operations on leases, one commit per set. */
export function createLeases(
  connection: Connection,
  addresses: Pick<Addresses, 'change'>,
): Pick<Storage, 'startAttempts' | 'renew' | 'release'> {
  const start = connection.statement(START)
  const renew = connection.statement(RENEW)
  const release = connection.statement(RELEASE)
  return {
    startAttempts(refs) {
      return connection.durably(() => {
        const now = connection.now()
        return refs.map(({ provider, jobId, token, to }) => {
          const job = Number(jobId)
          const begun = start().changes(provider, job, token, now) === 1
          if (begun && to !== undefined && !isEventJob(job)) addresses.change(subjectOf(job), to)
          return begun
        })
      })
    },
    renew(refs, leaseMs) {
      return connection.write(() => {
        const until = Math.ceil(connection.now() + leaseMs)
        return refs.map(({ jobId, token }) => renew().changes(until, Number(jobId), token) === 1)
      })
    },
    release(refs) {
      return connection.write(() => {
        for (const { jobId, token } of refs) release().run(Number(jobId), token)
      })
    },
  }
}
