import type { RawJobs } from './raw-jobs.ts'

interface SentRow {
  readonly id: string
  readonly organization: string
  readonly recipient: string
}

/** Stores the event of a sent notification with its job and returns the job's id. Null: no endpoint. */
type Publish = (row: SentRow) => number | null

/** Publishes to the organization's endpoint, which is looked up once per set. */
export function createPublish(jobs: RawJobs): (now: number) => Publish {
  const statements = jobs.prepare({
    endpoint: 'SELECT id, status, events FROM carillon_webhook_endpoints WHERE organization = ?',
    delivery: `INSERT INTO carillon_deliveries (event_id, event_type, organization, endpoint, created_at, state, payload)
      VALUES (?, ?, ?, ?, ?, 'pending', ?)`,
    job: 'INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES (?, ?, ?, 0, 0, ?)',
  })
  return function publishAt(now) {
    const endpoints = new Map<string, string | undefined>()
    const timestamp = new Date(now).toISOString()
    return function publish({ id, organization, recipient }) {
      if (!endpoints.has(organization)) {
        const found = statements.endpoint.get(organization) as { id: string } | undefined
        endpoints.set(organization, found?.id)
      }
      const endpoint = endpoints.get(organization)
      if (endpoint === undefined) return null
      const event = 'notification.sent'
      const about = { id, channel: 'email', to: recipient, status: 'sent', timestamp, sequence: 2 }
      const payload = JSON.stringify({ event, data: { ...about, organizationId: organization } })
      const eventId = `evt_${id.slice('notif_'.length)}_2`
      const delivery = statements.delivery.run(eventId, event, organization, endpoint, now, payload)
      const job = 2 * Number(delivery.lastInsertRowid) + 1
      statements.job.run(job, organization, endpoint, now)
      return job
    }
  }
}

/** Claims, starts, posts and settles the events of a set by hand, without signatures. */
export function rawEvents(
  jobs: RawJobs,
  post: (payload: string) => Promise<void>,
): (events: readonly number[]) => Promise<void> {
  const statements = jobs.prepare({
    content: 'SELECT event_id, event_type, endpoint, payload FROM carillon_deliveries WHERE id = ?',
    facts: `SELECT d.id FROM carillon_jobs AS j JOIN carillon_deliveries AS d ON d.id = ?
      WHERE j.id = ? AND j.state = 2 AND j.token = ?`,
    attempt: 'INSERT INTO carillon_delivery_attempts (delivery, at, attempt) VALUES (?, ?, ?)',
  })
  return async function postSet(events) {
    const set = jobs.claim(
      () => events,
      (id) => statements.content.get((id - 1) / 2) as { endpoint: string; payload: string },
    )
    jobs.start(set, ({ endpoint }) => endpoint)
    const began = Date.now()
    await Promise.all(set.jobs.map(({ payload }) => post(payload)))
    const now = Date.now()
    const request = { url: 'http://127.0.0.1:12345/1', timestamp: Math.floor(began / 1000) }
    const about = {
      attempt: 1,
      status: 200,
      response: 'ok',
      durationMs: now - began,
      succeeded: true,
      request,
    }
    jobs.settle(set, ({ id }) => {
      const row = statements.facts.get((id - 1) / 2, id, set.token) as { id: number }
      statements.attempt.run(row.id, now, JSON.stringify(about))
    })
  }
}
