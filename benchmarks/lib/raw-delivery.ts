import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { createPublish } from './raw-events.ts'
import type { RawJobs } from './raw-jobs.ts'

/** Remaining work after a set of deliveries. */
export interface DeliveredSet {
  readonly count: number
  /** Jobs of the published events. */
  readonly events: readonly number[]
}

/** A row of a notification's event, written by Carillon. */
type EventRow = Record<string, SQLInputValue>

/**
 * Delivers a backlog with plain SQLite, as a floor: the statements of a claim, the start of an attempt and its
 * settlement, with the same rows and columns and the same three commits per set.
 *
 * @param delivered a file in which Carillon has delivered; source of the rows to write
 * @param jobs of a file with waiting notifications of one channel
 * @returns a function that delivers the next set; a count of 0 means that none is left
 */
export function rawDelivery(delivered: string, jobs: RawJobs): (perSet: number) => DeliveredSet {
  const left = readEvents(delivered)
  const publishAt = createPublish(jobs)
  const statements = jobs.prepare({
    // Oldest first. In index order each set would belong to one organization, whose rows lie apart.
    ready: `SELECT id, organization, lane FROM carillon_jobs NOT INDEXED
      WHERE state = 0 AND lane = 'email' AND high = 0 ORDER BY id LIMIT ? + 0`,
    content:
      'SELECT id, channel, recipient, content, created_at, expires_at FROM carillon_notifications WHERE seq = ?',
    facts: `SELECT n.seq, n.id, n.organization, n.recipient, e.status, e.sequence, e.fold
      FROM carillon_jobs AS j JOIN carillon_notifications AS n ON n.seq = ?
      LEFT JOIN carillon_events AS e ON e.notification = n.seq AND e.sequence =
        (SELECT max(sequence) FROM carillon_events WHERE notification = n.seq)
      WHERE j.id = ? AND j.state = 2 AND j.token = ?`,
    event: `INSERT INTO carillon_events
        (notification, sequence, organization, at, status, fact, published, fold, provider)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  })

  return function deliverSet(perSet) {
    const set = jobs.claim(
      () => (statements.ready.all(perSet) as { id: number }[]).map(({ id }) => id),
      (id) => JSON.parse((statements.content.get(id / 2) as { content: string }).content) as object,
    )
    jobs.start(set, () => 'none')
    const now = Date.now()
    const publish = publishAt(now)
    const events: number[] = []
    jobs.settle(set, ({ id }) => {
      const row = statements.facts.get(id / 2, id, set.token) as {
        seq: number
        id: string
        organization: string
        recipient: string
      }
      for (const { sequence, status, fact, published, fold, provider } of left) {
        const state = [published ?? 0, fold ?? null, provider ?? null]
        statements.event.run(
          row.seq,
          sequence ?? 2,
          row.organization,
          now,
          status ?? '',
          fact ?? '',
          ...state,
        )
      }
      const job = publish(row)
      if (job !== null) events.push(job)
    })
    return { count: set.jobs.length, events }
  }
}

function readEvents(file: string): EventRow[] {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database
      .prepare(
        'SELECT * FROM carillon_events WHERE notification = (SELECT min(notification) FROM carillon_events)',
      )
      .all() as EventRow[]
  } finally {
    database.close()
  }
}
