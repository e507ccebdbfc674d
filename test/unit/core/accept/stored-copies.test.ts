import { expect, onTestFinished, test } from 'vitest'
import { sqlite } from '../../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

test('a mail is found by the addresses of its copies, and so is its resend', async () => {
  const storage = sqlite({ file: ':memory:' })
  const notifier = createNotifier({ storage, channels: { email: recordingProvider() } })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  const cc = ['Bob@Example.com', 'ada@example.com']
  const { id } = await notifier.send({ ...mail, email: { cc, bcc: ['eve@xn--mnchen-3ya.de'] } })
  const { id: again } = await notifier.notifications.resend(id)
  await notifier.send({ ...mail, to: 'bob@example.com' })
  const found = async (copyTo: string) => {
    const filter = { organizationId: 'org_default', copyTo }
    const { items } = await storage.notifications.list(filter, { limit: 10, offset: 0 })
    return items.map((one) => one.id).sort()
  }
  for (const address of ['bob@example.com', 'ada@example.com', 'eve@xn--mnchen-3ya.de'])
    expect(await found(address)).toEqual([id, again].sort())
  expect(await found('mallory@example.com')).toEqual([])
})
