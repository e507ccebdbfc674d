import { expect, it } from 'vitest'
import type { JobRef, Queue, QueueWorker } from '../../../src/core/ports/queue.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { queueContract } from '../../../src/testing/queue/queue-contract.ts'
import { refChecks } from '../../../src/testing/queue/refs.ts'
import { mapStorage } from '../../map-storage/index.ts'
import { createState } from '../../map-storage/state.ts'

/* What the contract checks of refs: ways to break it that were once not found. */

/** An engine within this process. */
interface FakeEngine {
  readonly workers: Set<QueueWorker>
  /** Resolves when the worker's hand-overs so far have been taken. */
  taken(worker: QueueWorker): Promise<unknown>
  queue(): Queue
}

function engine(change: (queue: Queue, engine: FakeEngine) => Queue): FakeEngine {
  const workers = new Set<QueueWorker>()
  const handing = new Map<QueueWorker, Promise<void>[]>()
  let turn = 0

  function handOver(ref: JobRef): void {
    const worker = [...workers][turn++ % workers.size]
    if (worker !== undefined) handing.get(worker)?.push(worker.handle([ref]))
  }

  const self: FakeEngine = {
    workers,
    taken: (worker) => Promise.all(handing.get(worker) ?? []),
    queue: () => change(right, self),
  }
  const right: Queue = {
    name: 'engine',
    async open() {},
    async enqueue(refs) {
      // A timer takes no longer time.
      for (const ref of refs) if (ref.dueInMs < 2 ** 31) setTimeout(handOver, ref.dueInMs, ref)
    },
    async work(worker) {
      workers.add(worker)
      handing.set(worker, [])
      return async () => {
        workers.delete(worker)
        await self.taken(worker)
      }
    },
    async close() {},
  }
  return self
}

async function run(change: (queue: Queue, engine: FakeEngine) => Queue): Promise<void> {
  const checks: Promise<void>[] = []
  refChecks((_name, check) => checks.push(check({ harness: { queue: engine(change).queue }, onError() {} })))
  for (const check of checks) check.catch(() => {})
  await Promise.all(checks)
}

const WRONG: Readonly<Record<string, (queue: Queue, engine: FakeEngine) => Queue>> = {
  'refs come before they are due': (queue) => ({
    ...queue,
    enqueue: (refs) => queue.enqueue(refs.map((ref) => ({ ...ref, dueInMs: ref.dueInMs / 2 }))),
  }),
  'refs come at once, whenever they are due': (queue) => ({
    ...queue,
    enqueue: (refs) => queue.enqueue(refs.map((ref) => ({ ...ref, dueInMs: 0 }))),
  }),
  'refs lose their lane': (queue) => ({
    ...queue,
    enqueue: (refs) => queue.enqueue(refs.map((ref) => ({ ...ref, lane: 'email' }))),
  }),
  'what is far off comes at once': (queue) => ({
    ...queue,
    enqueue: (refs) =>
      queue.enqueue(refs.map((ref) => ({ ...ref, dueInMs: ref.dueInMs < 2 ** 31 ? ref.dueInMs : 1 }))),
  }),
  'a stop does not wait': (queue, { workers }) => ({
    ...queue,
    async work(worker) {
      await queue.work(worker)
      return async () => void workers.delete(worker)
    },
  }),
  'a stop stops nothing': (queue, { taken }) => ({
    ...queue,
    async work(worker) {
      await queue.work(worker)
      return async () => void (await taken(worker))
    },
  }),
}

it.concurrent('an engine that is right passes', () => run((queue) => queue))

it.concurrent.each(Object.entries(WRONG))('%s: found', (_fault, change) =>
  expect(run(change)).rejects.toThrow(),
)

/** Runs the whole contract over an engine, one check after the other; answers the errors of those that fail. */
async function failuresOf(change: (queue: Queue) => Queue): Promise<ReadonlyMap<string, Error>> {
  const checks: [string, () => Promise<void>][] = []
  queueContract(
    (name, check) => checks.push([name, check]),
    async () => {
      const storage = mapStorage(createState(Date))
      return {
        queue: engine(change).queue,
        notifier: (options) => createNotifier({ storage, ...options }),
        program: [new URL('file:///none')],
        async lose() {},
        takeAway: null,
        async close() {},
      }
    },
  )
  const failed = new Map<string, Error>()
  for (const [name, check] of checks) await check().catch((error: Error) => failed.set(name, error))
  expect(failed.size).toBe(checks.length)
  return failed
}

it.concurrent.each<[string, (queue: Queue) => Queue]>([
  ['enqueues nothing', (queue) => ({ ...queue, async enqueue() {} })],
  ['never answers', (queue) => ({ ...queue, enqueue: () => new Promise(() => {}) })],
])(
  'an engine that %s fails each check, and none waits for it but the first',
  async (_, change) => {
    const [first, ...others] = (await failuresOf(change)).values()
    expect(first?.message).toMatch(/After 15000 ms the engine has handed nothing over of what was enqueued/)
    for (const other of others) {
      expect(other.message).toMatch(/Not run: nothing comes from the engine/)
      expect(other.cause).toBe(first)
    }
  },
  60_000,
)

it.concurrent('an engine whose errors are events tells them with the check that fails', async () => {
  const away = new Error('The server is away.')
  const failed = await failuresOf((queue) => ({
    ...queue,
    async enqueue() {},
    async work(worker) {
      worker.onError(away)
      return queue.work(worker)
    },
  }))
  const [first] = failed.values()
  expect(first?.cause).toBe(away)
}, 60_000)
