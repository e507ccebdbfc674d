import { expect, it } from 'vitest'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { custodyWorld } from '../support/custody-world.ts'
import type { StorageLocation } from '../support/faults/store.ts'
import { describeEachWith } from '../support/left-out.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'
import { storedText } from '../support/stored-text.ts'

const ADA = 'ada-mrk@example.com'
const ada = { channel: 'email', to: ADA } as const
const MARKER = /ada-mrk|mrk file/i

/** The storage of a process that ends after a number of calls: then every call fails. */
function dying(calls: { left: number }): (storage: Storage) => Storage {
  const part = <Part extends object>(methods: Part): Part =>
    Object.fromEntries(
      Object.entries(methods).map(([name, method]) => [
        name,
        async (...given: unknown[]) => {
          if (calls.left <= 0) throw new Error('killed')
          calls.left -= 1
          return (method as (...input: unknown[]) => unknown)(...given)
        },
      ]),
    ) as Part
  return (storage) => ({
    ...storage,
    custody: part(storage.custody),
    records: part(storage.records),
    notifications: part(storage.notifications),
  })
}

async function fill(location: StorageLocation): Promise<void> {
  const { notifier } = await custodyWorld(location, { deliver: false })
  const { id } = await notifier.attachments.upload(Buffer.from('mrk file'), {
    filename: 'a.txt',
    contentType: 'text/plain',
  })
  const mail = { ...ada, subject: 'Hi', body: 'Hello mrk file' }
  await notifier.send({ ...mail, email: { attachments: [{ id }] } } as never)
  await notifier.send({
    ...mail,
    to: 'bob@example.com',
    body: 'x',
    email: { cc: [ADA.toUpperCase()] },
  } as never)
  await notifier.suppressions.add({ ...ada, source: 'ada-mrk' })
  await notifier.preferences.change(ada, { channels: { email: true } })
  await notifier.stop()
}

describeEachWith(STORAGES, whyNoStorage, 'an erasure on %s', (_name, locationOf) => {
  it('is continued after a kill at every step', { timeout: 600_000 }, async () => {
    for (let steps = 1; ; steps += 1) {
      const location = await locationOf()
      await fill(location)
      expect(storedText(location)).toMatch(MARKER)
      const calls = { left: Number.POSITIVE_INFINITY }
      const first = await custodyWorld(location, { deliver: false, wrap: dying(calls) })
      calls.left = steps
      const survived = await first.notifier.people.erase(ada).then(
        () => true,
        () => false,
      )
      await first.notifier.stop()
      const second = await custodyWorld(location, { laterMs: 120_000 })
      const { status } = await second.erase(ada)
      expect([steps, status, await second.exported(ada)]).toEqual([
        steps,
        'completed',
        [expect.objectContaining({ type: 'suppression', to: null, source: null })],
      ])
      expect((await second.notifier.people.listErasures()).items.map((one) => one.status)).not.toContain(
        'running',
      )
      await second.notifier.stop()
      expect([steps, MARKER.exec(storedText(location))?.[0]]).toEqual([steps, undefined])
      if (survived) break
      expect(steps).toBeLessThan(100)
    }
  })
})
