import { expect, test } from 'vitest'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const

test('a storage without transactions refuses one by name, and stores nothing', async () => {
  const { join: _, ...storage } = inMemory()
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    storage: { ...storage, name: 'plain' },
  })
  await notifier.start({ deliver: false })
  const options = { tx: {} as never }
  const refused = {
    code: 'invalid_transaction',
    message: expect.stringContaining('The plain storage cannot join a transaction'),
    details: { reason: 'unsupported' },
  }
  await expect(notifier.send(message, options)).rejects.toMatchObject(refused)
  await expect(notifier.sendBatch([message], options)).rejects.toMatchObject(refused)
  await expect(notifier.notifications.resend('notif_1', options)).rejects.toMatchObject(refused)
  await expect(notifier.notifications.cancel('notif_1', options)).rejects.toMatchObject(refused)
  await expect(notifier.notifications.reschedule('notif_1', { sendAt: null }, options)).rejects.toMatchObject(
    refused,
  )
  expect((await notifier.notifications.list()).items).toEqual([])
  await notifier.stop()
})
