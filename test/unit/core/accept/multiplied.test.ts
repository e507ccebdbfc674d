import { expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'

const ADDRESSES = 100
const many = Array.from({ length: ADDRESSES }, (_, at) => `p${at}@example.com`)
const MILLION = 1_000_000

async function start() {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    bounds: { textBytes: MILLION },
    recipients: {
      resolve: () => ({ many: { channels: { email: many } }, one: { channels: { email: many[0] } } }),
    },
  })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  return notifier
}
const of = (recipient: string, characters: number) =>
  ({ channel: 'email', recipient, subject: 'Hi', body: 'x'.repeat(characters) }) as const

it('copies of a message for many addresses are bounded in characters', async () => {
  const notifier = await start()
  const most = Math.floor((16 * 1024 * 1024) / (ADDRESSES - 1))
  expect((await notifier.send(of('many', most - 200))).ids).toHaveLength(ADDRESSES)
  const tooLong = {
    code: 'message_too_large',
    details: { field: 'recipient', recipient: 'many', addresses: ADDRESSES },
  }
  await expect(notifier.send(of('many', most))).rejects.toMatchObject(tooLong)
  await expect(notifier.validate(of('many', most))).rejects.toMatchObject(tooLong)
  expect((await notifier.send(of('one', most))).status).toBe('queued')
})

it('copies of a batch are bounded together, and only the messages beyond are refused', async () => {
  const notifier = await start()
  const { items } = await notifier.sendBatch([
    of('many', 100_000),
    of('many', 100_000),
    of('one', 100_000),
    of('many', 10_000),
  ])
  expect(items.map((item) => ('error' in item ? item.error.code : 'accepted'))).toEqual([
    'accepted',
    'message_too_large',
    'accepted',
    'accepted',
  ])
})
