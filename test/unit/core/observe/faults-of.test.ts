import { expect, it } from 'vitest'
import { memoryRateLimiter } from '../../../../src/core/limits/memory-rate-limiter.ts'
import type { Queue } from '../../../../src/core/ports/queue.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const REFUSED = new Error('connect ECONNREFUSED 127.0.0.1:1')
/** As Node.js reports a name with several addresses. */
const ALL_REFUSED = Object.assign(new AggregateError([REFUSED]), { code: 'ECONNREFUSED' })

const refuses = (): Promise<never> => Promise.reject(REFUSED)

function queue(change: Partial<Queue>): Queue {
  return {
    name: 'ours',
    async open() {},
    async enqueue() {},
    work: async () => async () => {},
    async close() {},
    ...change,
  }
}

/** A storage that enqueues nothing. */
const enqueuing = (): Storage => ({ ...inMemory(), async enqueueJobs() {} })

it('a fault of a plug-in that nobody waits for is told with its name', async () => {
  const told: Error[] = []
  const notifier = createNotifier({
    channels: { email: recordingProvider({ name: 'mail', close: refuses }) },
    storage: enqueuing(),
    queue: queue({
      async work({ onError }) {
        onError(REFUSED)
        return async () => {}
      },
      close: refuses,
    }),
    rateLimiter: { ...memoryRateLimiter(), close: refuses },
    telemetry: [{ name: 'traces', stop: refuses }],
  })
  notifier.on('error', (error) => told.push(error))
  await notifier.start()
  await notifier.stop()
  expect(told.map(({ message }) => message).sort()).toEqual([
    'The provider "mail" has failed: connect ECONNREFUSED 127.0.0.1:1',
    'The queue "ours" has failed: connect ECONNREFUSED 127.0.0.1:1',
    'The queue "ours" has failed: connect ECONNREFUSED 127.0.0.1:1',
    'The rate limiter has failed: connect ECONNREFUSED 127.0.0.1:1',
    'The telemetry plug-in "traces" has failed: connect ECONNREFUSED 127.0.0.1:1',
  ])
  expect(told.every(({ cause }) => cause === REFUSED)).toBe(true)
})

it.each([
  [ALL_REFUSED, 'ECONNREFUSED'],
  ['text', 'see `cause`.'],
])('a fault without a message is told with its code, or points to its cause (%o)', async (fault, said) => {
  const told: Error[] = []
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    storage: enqueuing(),
    queue: queue({
      async work({ onError }) {
        onError(fault)
        return async () => {}
      },
    }),
  })
  notifier.on('error', (error) => told.push(error))
  await notifier.start()
  await notifier.stop()
  expect(told).toMatchObject([{ message: `The queue "ours" has failed: ${said}`, cause: fault }])
})

it.each<[string, Queue['work']]>([
  ['rejects', refuses],
  [
    'throws',
    () => {
      throw REFUSED
    },
  ],
])(
  'a queue whose work %s is told of, and what it would have handed over is found by polls',
  async (_how, work) => {
    const told: Error[] = []
    const email = recordingProvider()
    const notifier = createNotifier({
      channels: { email },
      storage: enqueuing(),
      queue: queue({ work }),
      delivery: { pollMs: 50 },
    })
    notifier.on('error', (error) => told.push(error))
    await notifier.start()
    await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hello' })
    await email.waitFor({ to: 'ada@example.com' })
    await notifier.stop()
    expect(told).toMatchObject([{ message: `The queue "ours" has failed: ${REFUSED.message}` }])
  },
)
