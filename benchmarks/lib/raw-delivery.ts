import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

/** Delivers a backlog to nobody, with nothing but SQLite in between: the floor. */
export interface RawDelivery {
  /** Claims and settles everything, `perSet` at a time; gives how many there were. */
  deliver(perSet: number): number
  close(): void
}

/** What a delivery leaves behind, as Carillon wrote it. */
interface Left {
  readonly notification: Record<string, SQLInputValue>
  readonly events: readonly Record<string, SQLInputValue>[]
}

/**
 * The statements of a claim, the start of an attempt and its end, by hand: the same rows and columns, the same three
 * commits for a set, of which the claim's does not wait for the disk.
 *
 * @param delivered a file in which Carillon delivered something: the rows to write
 * @param backlog a file in which notifications of one channel wait
 */
export function rawDelivery(delivered: string, backlog: string): RawDelivery {
  const left = readLeft(delivered)
  const database = new DatabaseSync(backlog)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA cache_size = -16384')
  const statements = prepare(database)
  const { fold, provider, status, sequence, announced } = left.notification

  function commit(durable: boolean, work: () => void): void {
    database.exec(durable ? 'PRAGMA synchronous = FULL' : 'PRAGMA synchronous = NORMAL')
    statements.begin.run()
    work()
    statements.commit.run()
  }

  function deliverSet(token: number, perSet: number): number {
    const now = Date.now()
    let jobs: { id: number }[] = []
    commit(false, () => {
      jobs = statements.ready.all(perSet) as { id: number }[]
      for (const { id } of jobs) {
        statements.lease.run(token, now + 30_000, id)
        const row = statements.content.get(id / 2) as { content: string }
        JSON.parse(row.content)
      }
      statements.token.run(token)
    })
    commit(true, () => {
      for (const { id } of jobs) statements.start.run('none', id, token, now)
    })
    commit(true, () => {
      for (const { id } of jobs) {
        const row = statements.facts.get(id / 2, id, token) as { seq: number; organization: string }
        for (const event of left.events) {
          statements.event.run(
            row.seq,
            event.sequence ?? 2,
            row.organization,
            now,
            event.status ?? '',
            event.fact ?? '',
          )
        }
        statements.notification.run(
          status ?? null,
          sequence ?? 2,
          announced ?? 0,
          fold ?? null,
          provider ?? null,
          row.seq,
        )
        statements.end.run(id)
      }
    })
    return jobs.length
  }

  return {
    deliver(perSet) {
      let done = 0
      for (let token = 1; ; token += 1) {
        const count = deliverSet(token, perSet)
        if (count === 0) return done
        done += count
      }
    },
    close: () => database.close(),
  }
}

function readLeft(file: string): Left {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    const notification = database
      .prepare(`SELECT * FROM carillon_notifications WHERE status = 'sent' LIMIT 1`)
      .get() as Left['notification']
    const events = database
      .prepare('SELECT * FROM carillon_events WHERE notification = ?')
      .all(notification.seq ?? 0) as Record<string, SQLInputValue>[]
    return { notification, events }
  } finally {
    database.close()
  }
}

function prepare(database: DatabaseSync) {
  const text = {
    begin: 'BEGIN IMMEDIATE',
    commit: 'COMMIT',
    ready: `SELECT id, organization, lane FROM carillon_jobs WHERE state = 0 AND lane = 'email' AND high = 0
      AND organization = 'org_default' ORDER BY id LIMIT ?`,
    lease: 'UPDATE carillon_jobs SET state = 2, token = ?, lease_until = ? WHERE id = ?',
    content:
      'SELECT id, channel, recipient, content, created_at, expires_at FROM carillon_notifications WHERE seq = ?',
    token: 'UPDATE carillon_tokens SET token = ? WHERE only = 1',
    start: `UPDATE carillon_jobs SET attempts = attempts + 1, provider = ?
      WHERE id = ? AND state = 2 AND token = ? AND lease_until > ?`,
    facts: `SELECT n.seq, n.id, n.organization, n.recipient, n.status, n.sequence, n.fold
      FROM carillon_jobs AS j JOIN carillon_notifications AS n ON n.seq = ?
      WHERE j.id = ? AND j.state = 2 AND j.token = ?`,
    event: `INSERT INTO carillon_events (notification, sequence, organization, at, status, fact)
      VALUES (?, ?, ?, ?, ?, ?)`,
    notification: `UPDATE carillon_notifications
      SET status = ?, sequence = ?, announced = ?, fold = ?, provider = ? WHERE seq = ?`,
    end: 'DELETE FROM carillon_jobs WHERE id = ?',
  } as const
  return Object.fromEntries(
    Object.entries(text).map(([name, sql]) => [name, database.prepare(sql)]),
  ) as Record<keyof typeof text, ReturnType<DatabaseSync['prepare']>>
}
