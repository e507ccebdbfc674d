import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'

/** Jobs under one lease, with the data read for each. */
export interface RawSet<Job> {
  readonly token: number
  readonly jobs: readonly (Job & { readonly id: number })[]
}

/** The three commits of a set of jobs by hand: leased, started, settled. The lease does not wait for the disk. */
export interface RawJobs {
  prepare<Name extends string>(text: Readonly<Record<Name, string>>): Record<Name, StatementSync>
  claim<Job>(choose: () => readonly number[], read: (id: number) => Job): RawSet<Job>
  start<Job>(set: RawSet<Job>, provider: (job: Job) => SQLInputValue): void
  settle<Job>(set: RawSet<Job>, end: (job: RawSet<Job>['jobs'][number]) => void): void
  close(): void
}

export function rawJobs(file: string): RawJobs {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = -16384')
  const statements = prepare({
    begin: 'BEGIN IMMEDIATE',
    commit: 'COMMIT',
    lease: 'UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ? WHERE id = ? AND state = 0',
    token: 'UPDATE carillon_fencing SET token = ? WHERE only = 1',
    start: `UPDATE carillon_jobs SET attempts = attempts + 1, provider = ?
      WHERE id = ? AND state = 2 AND token = ? AND lease_until > ?`,
    end: 'DELETE FROM carillon_jobs WHERE id = ?',
  })
  let token = 0

  function prepare<Name extends string>(text: Readonly<Record<Name, string>>): Record<Name, StatementSync> {
    const prepared = Object.entries<string>(text).map(([name, sql]) => [name, database.prepare(sql)])
    return Object.fromEntries(prepared)
  }

  function commit<Answer>(synchronous: 'NORMAL' | 'FULL', work: () => Answer): Answer {
    database.exec(`PRAGMA synchronous = ${synchronous}`)
    statements.begin.run()
    const answer = work()
    statements.commit.run()
    return answer
  }

  return {
    prepare,
    claim(choose, read) {
      token += 1
      return commit('NORMAL', () => {
        const until = Date.now() + 30_000
        const jobs = choose().map((id) => {
          statements.lease.run(token, until, id)
          return { ...read(id), id }
        })
        statements.token.run(token)
        return { token, jobs }
      })
    },
    start({ token, jobs }, provider) {
      commit('FULL', () => {
        const now = Date.now()
        for (const job of jobs) statements.start.run(provider(job), job.id, token, now)
      })
    },
    settle({ jobs }, end) {
      commit('FULL', () => {
        for (const job of jobs) {
          end(job)
          statements.end.run(job.id)
        }
      })
    },
    close: () => database.close(),
  }
}
