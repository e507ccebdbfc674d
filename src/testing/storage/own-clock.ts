import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  endpoint,
  idOf,
  jobOf,
  note,
  page,
  sent,
  start,
  timeOf,
} from './fixtures.ts'
import type { Check } from './harness.ts'
import { item } from './record-fixtures.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const organizationId = DEFAULT_ORGANIZATION

/** The clock of this process is three days behind that of the storage. */
export function ownClockChecks(check: Check): void {
  check('what is due, waits or is leased is so by the clock of the storage', async (harness) => {
    const { storage } = harness
    await harness.advance(3 * DAY)
    const now = await timeOf(storage)
    const [due = '', later = ''] = await accept(storage, [
      note({ sendAt: now - HOUR }),
      note({ sendAt: now + HOUR }),
    ])
    assert.equal((await storage.notifications.get(due))?.status, 'queued')
    assert.equal((await storage.notifications.get(later))?.status, 'scheduled')
    const job = await claimOne(storage)
    assert.equal(idOf(job), due)
    assert.deepEqual(await claim(storage), [])
    assert.deepEqual(await start(storage, [job]), [true])
    assert.equal((await jobOf(storage, due))?.state, 'running')
  })

  check('every stored time is one of the clock of the storage', async (harness) => {
    const { storage } = harness
    await harness.advance(3 * DAY)
    const now = await timeOf(storage)
    const hook = await endpoint(storage)
    const key = { organizationId, operation: 'send', key: 'k' } as const
    const idempotency = { ...key, fingerprint: 'f', result: '{}', ttlMs: HOUR }
    const notification = note()
    const [answer] = await storage.accept([{ organizationId, notifications: [notification], idempotency }])
    await deliver(storage, [sent()])
    const { jobId, token } = await claimOne(storage, hook.id)
    const attempt = { attempt: 1, status: 200, response: '', durationMs: 1, succeeded: true }
    const next = { kind: 'end' } as const
    await storage.settle([{ kind: 'event', jobId, token, attempt, ended: 'delivered', next }])
    const record = await item(storage)
    const [found] = await storage.findIdempotent([key])
    const stored = await storage.notifications.get(notification.id)
    const { items: log } = await storage.logs.list({ organizationId }, page())
    const { items: deliveries } = await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())
    const times = {
      accept: answer?.kind === 'accepted' ? answer.createdAt : undefined,
      endpoint: hook.createdAt,
      idempotency: found?.createdAt,
      notification: stored?.createdAt,
      record: record.createdAt,
      read: record.readAt,
      delivery: deliveries[0]?.createdAt,
      attempt: deliveries[0]?.attempts[0]?.at,
      timeline: (await storage.notifications.timeline(notification.id))[1]?.at,
      log: log[0]?.at,
    }
    for (const [what, at] of Object.entries(times)) {
      assert.ok(at !== undefined && Math.abs(at - now) < DAY, `the time of the ${what} is ${at}, not ${now}`)
    }
  })
}
