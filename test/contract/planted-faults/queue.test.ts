import { expect, it } from 'vitest'
import type { JobRef, Queue, QueueWorker } from '../../../src/ports/queue.ts'
import type { QueueHarness } from '../../../src/testing/queue/harness.ts'
import { refChecks } from '../../../src/testing/queue/refs.ts'

/* What the contract checks of refs: ways to break it that were once not found. */

/** An engine within this process. */
interface Engine {
  readonly workers: Set<QueueWorker>
  /** Resolves when the worker's hand-overs so far have been taken. */
  taken(worker: QueueWorker): Promise<unknown>
  queue(): Queue
}

function engine(change: (queue: Queue, engine: Engine) => Queue): Engine {
  const workers = new Set<QueueWorker>()
  const handing = new Map<QueueWorker, Promise<void>[]>()
  let turn = 0

  function handOver(ref: JobRef): void {
    const worker = [...workers][turn++ % workers.size]
    if (worker !== undefined) handing.get(worker)?.push(worker.handle([ref]))
  }

  const self: Engine = {
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

async function run(change: (queue: Queue, engine: Engine) => Queue): Promise<void> {
  const checks: Promise<void>[] = []
  refChecks((_name, check) =>
    checks.push(check({ harness: { queue: engine(change).queue } as unknown as QueueHarness })),
  )
  for (const check of checks) check.catch(() => {})
  await Promise.all(checks)
}

const WRONG: Readonly<Record<string, (queue: Queue, engine: Engine) => Queue>> = {
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
