import { expect, it } from 'vitest'
import { bullmqQueue } from '../../adapters/queue/bullmq/index.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Queue, QueueWorker } from '../../src/core/ports/queue.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { mapStorage } from '../map-storage/index.ts'
import { createState } from '../map-storage/state.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory()

it('a storage of one machine is refused with a queue engine', async () => {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    storage: sqlite({ file: `${directory}/one.db` }),
    queue: bullmqQueue({ url: 'redis://127.0.0.1:1' }),
  })
  await expect(notifier.start()).rejects.toMatchObject({
    code: 'invalid_configuration',
    details: { option: 'queue' },
  })
  await notifier.stop()
})

it('a stopped process leaves the refs that an engine still hands over, so that the engine can end', async () => {
  let worker: QueueWorker | undefined
  // As an engine does that had the refs on their way when it was stopped: it ends after their `handle`.
  const queue: Queue = {
    name: 'late',
    async open() {},
    async enqueue() {},
    async work(given) {
      worker = given
      return () => new Promise(() => {})
    },
    async close() {},
  }
  const storage = mapStorage(createState(Date))
  const notifier = createNotifier({ storage, channels: { email: recordingProvider() }, queue })
  notifier.on('error', () => {})
  await notifier.start()
  await notifier.stop({ timeoutMs: 0 })
  await worker?.handle([{ jobId: 'late', lane: 'email' }])
  expect(worker).toBeDefined()
}, 20_000)

it('an engine that is away is reported once, however often it fails', async () => {
  const queue: Queue = {
    name: 'away',
    async open() {},
    async enqueue() {},
    async work({ onError }) {
      for (let count = 0; count < 5; count += 1) onError(new Error('refused'))
      return async () => {}
    },
    async close() {},
  }
  const storage = mapStorage(createState(Date))
  const notifier = createNotifier({ storage, channels: { email: recordingProvider() }, queue })
  const errors: Error[] = []
  notifier.on('error', (error) => errors.push(error))
  await notifier.start()
  await notifier.stop({ timeoutMs: 0 })
  expect(errors.map(({ message }) => message)).toEqual(['The queue "away" has failed: refused'])
})
