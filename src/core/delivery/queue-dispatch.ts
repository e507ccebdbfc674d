import { invalidOption } from '../errors/invalid-option.ts'
import { throttled } from '../loop/throttled.ts'
import { inTime, OPEN_MS, within } from '../loop/within.ts'
import { faultsOf } from '../observe/faults-of.ts'
import type { Clock } from '../ports/clock.ts'
import type { JobRef, Queue } from '../ports/queue.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { createEnqueuer } from './enqueuer.ts'
import type { QueueHealth } from './model.ts'
import { createOffers, type Offers } from './offers.ts'

/** Connects a queue engine with the storage, which enqueues, and the dispatcher, which takes refs. */
export interface QueueDispatch {
  readonly offers: Offers
  health(): QueueHealth
  /** Makes the storage enqueue jobs from now on, also in a process that delivers nothing. */
  open(): Promise<void>
  /** Starts to take refs. */
  start(): void
  /** Takes no more refs. Refs already received are still claimed. */
  stop(limitMs: number): Promise<void>
  /** Enqueues waiting refs and closes the engine. */
  close(): Promise<void>
}

export interface QueueDispatchOptions {
  readonly queue: Queue
  readonly storage: Storage
  readonly clock: Clock
  /** A lane has work, or refs have arrived. */
  wake(lane?: string): void
  onError(error: unknown): void
}

/** Time for the last `enqueue` and for closing. */
const CLOSE_MS = 2_000
const STOP_MS = 1_000

export function createQueueDispatch(options: QueueDispatchOptions): QueueDispatch {
  const { queue, storage, clock, wake, onError } = options
  const fault = faultsOf(`queue "${queue.name}"`, onError)
  const offers = createOffers()
  const enqueuer = createEnqueuer({ queue, clock, onMissed, onError })
  let working: Promise<() => Promise<void>> | null = null
  let stopped: Promise<void> | null = null

  /** This process delivers jobs that the engine refused, if it delivers. */
  function onMissed(refs: readonly JobRef[]): void {
    if (working === null) return
    for (const { lane, dueInMs } of refs) if (dueInMs === 0) wake(lane)
  }

  async function work(): Promise<() => Promise<void>> {
    return queue.work({
      handle(refs) {
        const taken = offers.add(refs)
        wake()
        return taken
      },
      // An engine that is away fails at every try.
      onError: throttled(fault, () => clock.monotonic()),
    })
  }

  async function stopWork(): Promise<void> {
    const stop = await working
    await stop?.()
  }

  return {
    offers,
    health: () => ({ name: queue.name, takes: enqueuer.works() }),
    async open() {
      if (storage.enqueueJobs === undefined) {
        const message = `The storage "${storage.name}" cannot be used with the queue "${queue.name}": it is local to one process. Omit "queue".`
        throw invalidOption('queue', message)
      }
      await inTime(`queue "${queue.name}"`, () => queue.open(), OPEN_MS, clock)
      const { transactional } = queue
      const shared = transactional !== undefined && transactional.storage === storage.name
      await storage.enqueueJobs(
        shared ? { enqueueInTransaction: transactional.enqueue } : { enqueue: enqueuer.add },
      )
    },
    start() {
      working = work()
      working.catch(fault)
    },
    async stop(limitMs) {
      stopped = stopWork().catch(() => {})
      await within(stopped, Math.min(limitMs, STOP_MS), clock)
    },
    async close() {
      await enqueuer.flush(CLOSE_MS)
      const closed = Promise.resolve(stopped).then(() => queue.close())
      await within(closed.catch(fault), CLOSE_MS, clock)
    },
  }
}
