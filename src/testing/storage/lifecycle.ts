import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { Absent } from '../test-api.ts'
import { note, page } from './fixtures.ts'
import type { Check } from './harness.ts'
import { CONTRACT_START, insertion, itemKind } from './record-fixtures.ts'

export function lifecycleChecks(check: Check): void {
  check('a start more, of what has started, changes nothing', async ({ storage }) => {
    const organizationId = DEFAULT_ORGANIZATION
    await storage.accept([{ organizationId, notifications: [note()] }])
    await Promise.all([storage.start(CONTRACT_START), storage.start(CONTRACT_START)])
    assert.equal((await storage.notifications.list({ organizationId }, page())).items.length, 1)
  })

  check('after a start, an inspection finds the schema, all rights and the clock', async (harness) => {
    const { storage } = harness
    if (storage.inspect === undefined) throw new Absent('The storage has no schema.')
    const { now, ...found } = await storage.inspect()
    assert.deepEqual(found, { version: found.needed, needed: found.needed, steps: [], missingRights: [] })
    await harness.advance(60_000)
    const later = (await storage.inspect()).now - now
    assert.ok(later >= 60_000 && later < 120_000, `the clock went on by ${later} ms`)
  })

  check('a stop finishes pending calls first, and may come twice, and after another', async (harness) => {
    const { storage } = harness
    const organizationId = DEFAULT_ORGANIZATION
    const pending = [
      storage.quotaUsed(organizationId, '2026-01'),
      storage.records.get(
        itemKind,
        Array.from({ length: 3_000 }, () => ({ id: 'unknown' })),
      ),
      storage.records.write([[insertion()]]),
      storage.records.list(itemKind, { organizationId }, page()),
      storage.records.removeOld(itemKind, { organizationId, olderThanMs: 0, most: 1 }),
      storage.deletions.purge(organizationId, 1),
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
      storage.expire({ what: { organizationId, olderThanMs: 0 }, most: 1 }),
    ]
    const answered = Promise.allSettled(pending)
    await Promise.all([storage.stop(), storage.stop()])
    for (const answer of await answered) assert.equal(answer.status, 'fulfilled')
    await storage.stop()
  })
}
