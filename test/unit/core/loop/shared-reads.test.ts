import { expect, it } from 'vitest'
import { createProcessor } from '../../../../src/core/loop/processor.ts'
import { sharedReads } from '../../../../src/core/loop/shared-reads.ts'
import { page } from '../../../../src/testing/storage/fixtures.ts'
import { mapStorage } from '../../../map-storage/index.ts'
import { createState } from '../../../map-storage/state.ts'

/** A storage whose lists block the process for ten milliseconds. */
function world() {
  let now = 0
  const read: string[] = []
  const blocking = async ({ organizationId }: { organizationId: string }) => {
    now += 10
    read.push(organizationId)
    return { items: [], nextCursor: null }
  }
  const storage = mapStorage(createState(Date))
  const slow = {
    ...storage,
    notifications: { ...storage.notifications, list: blocking, failures: blocking },
    logs: { ...storage.logs, list: blocking },
  }
  return { storage: sharedReads(slow, createProcessor({ monotonic: () => now })), read }
}

it.each(['notifications', 'failures', 'logs'] as const)(
  'reads one list of an organization between those of others: %s',
  async (which) => {
    const { storage, read } = world()
    const lists = {
      notifications: storage.notifications.list,
      failures: storage.notifications.failures,
      logs: storage.logs.list,
    }
    const list = (organizationId: string) => lists[which]({ organizationId }, page())
    const many = Array.from({ length: 50 }, () => list('org_busy'))
    await list('org_other')
    expect(read.indexOf('org_other')).toBeLessThanOrEqual(2)
    expect(await Promise.all(many)).toHaveLength(50)
    expect(read).toHaveLength(51)
  },
)

it('passes on what a list throws', async () => {
  const storage = mapStorage(createState(Date))
  const failing = { ...storage, logs: { ...storage.logs, list: () => Promise.reject(new Error('full')) } }
  const shared = sharedReads(failing, createProcessor({ monotonic: () => 0 }))
  await expect(shared.logs.list({ organizationId: 'org_a' }, page())).rejects.toThrow('full')
})
