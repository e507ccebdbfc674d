import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../domain/organization.ts'
import { note, page } from './fixtures.ts'
import type { Check } from './harness.ts'

export function lifecycleChecks(check: Check): void {
  check('a start more, of what has started, changes nothing', async ({ storage }) => {
    const organizationId = DEFAULT_ORGANIZATION
    await storage.accept([{ organizationId, notifications: [note()] }])
    await Promise.all([storage.start(), storage.start()])
    assert.equal((await storage.notifications.list({ organizationId }, page())).items.length, 1)
  })

  check('a stop finishes pending calls first, and may come twice, and after another', async (harness) => {
    const { storage } = harness
    const organizationId = DEFAULT_ORGANIZATION
    const key = { organizationId, channel: 'email', address: 'ada@example.com' } as const
    const pending = [
      storage.putIfAbsent('secret', 'a'),
      storage.quotaUsed(organizationId, '2026-01'),
      storage.suppressions.match(Array.from({ length: 3_000 }, () => key)),
      storage.suppressions.add({ ...key, reason: 'manual', source: null }),
      storage.notifications.list({ organizationId }, page()),
      storage.webhookEndpoints.create(
        {
          id: 'wh_1',
          organizationId,
          url: 'https://example.com/',
          events: [],
          successStatus: '200',
          secrets: ['s'],
        },
        1,
      ),
      storage.retention.sweep({ organizationId, olderThanMs: 0, most: 1 }),
    ]
    const answered = Promise.allSettled(pending)
    await Promise.all([storage.stop(), storage.stop()])
    for (const answer of await answered) assert.equal(answer.status, 'fulfilled')
    await storage.stop()
  })
}
