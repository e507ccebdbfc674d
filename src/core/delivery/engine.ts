import type { SecretBox } from '../access/secrets.ts'
import { ownLane, type ProviderRegistry } from '../channels/provider-registry.ts'
import type { Gate } from '../gate/gate.ts'
import type { Links } from '../links/links.ts'
import type { Tracker } from '../links/tracking.ts'
import type { Deadline } from '../loop/deadline.ts'
import type { Processor } from '../loop/processor.ts'
import { throttled, throttledEach } from '../loop/throttled.ts'
import { within } from '../loop/within.ts'
import { mayHaveGone } from '../notification/cancellation.ts'
import type { CategorySource } from '../notification/category-source.ts'
import type { NotificationEvent } from '../notification/event-payload.ts'
import type { ProcessListeners } from '../notification/process-event.ts'
import type { ProviderEvent } from '../notification/provider-event.ts'
import type { Observer } from '../observe/observer.ts'
import type { FindAddress } from '../people/address-now.ts'
import type { PersonHashes } from '../people/person-hashes.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { OutgoingHttp } from '../ports/outgoing.ts'
import type { Queue } from '../ports/queue.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import type { WebhookSigner } from '../ports/signer.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { CompiledTemplates } from '../text/compiled-templates.ts'
import { createAttempts } from './attempts.ts'
import { createChoose } from './choose.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'
import type { NotificationJob } from './end-before.ts'
import type { EndpointEvent } from './endpoint-health.ts'
import { createJudgeJob } from './judged.ts'
import { createLanes } from './lanes.ts'
import { laterDelay } from './later-delay.ts'
import { createLeases } from './leases.ts'
import type { Listeners } from './listeners.ts'
import type { ProviderHealth, QueueHealth, WaitingLane } from './model.ts'
import { createProviderState } from './provider-state.ts'
import { createQueueDispatch } from './queue-dispatch.ts'
import { createSharedLimits } from './shared-limits.ts'
import { createTally } from './tally.ts'
import { createThreads } from './threads.ts'
import { NO_UPLOADS, type UploadContents } from './upload-contents.ts'
import { createWakes } from './wakes.ts'

/** The delivery engine of a process, for notifications and webhook events. */
export interface Engine {
  providers(): readonly ProviderHealth[]
  /** Checks whether paused providers have worked in other processes. Never rejects. */
  refresh(): Promise<unknown>
  /** Lanes with work and no available provider in this process. */
  waiting(): readonly WaitingLane[]
  /** Duration of a claim that takes too long, in milliseconds. Null: none does. */
  stalledMs(): number | null
  /** Null: no queue engine. */
  queue(): QueueHealth | null
  /** Starts to enqueue jobs at the queue engine, also in a process that delivers nothing. */
  open(): Promise<void>
  start(): void
  /** Stored work may be due. With a queue engine, the storage enqueues it. */
  wake(lane?: string): void
  /** Stops claiming, waits for attempts until the deadline, then aborts them and stores their outcomes. */
  stop(deadline: Deadline): Promise<void>
  /** Stops enqueueing. */
  close(): Promise<void>
}

export interface EngineOptions {
  readonly storage: Storage
  readonly registry: ProviderRegistry
  readonly compiled: CompiledTemplates
  readonly links: Links
  readonly hashes: Pick<PersonHashes, 'addressName'>
  readonly findAddress: FindAddress
  /** Default: there are none. */
  readonly uploads?: UploadContents | undefined
  /** Undefined: nothing is tracked. */
  readonly tracker: Tracker | undefined
  readonly gate: Gate
  readonly categories: Pick<CategorySource, 'ofStored'>
  readonly processor: Processor
  readonly outgoing: OutgoingHttp
  readonly signer: WebhookSigner
  readonly clock: Clock
  readonly logger: Logger
  readonly leaseMs: number
  readonly pollMs: number
  /** The queue engine. Null: claims find the jobs. */
  readonly queue: Queue | null
  /** The longest pause of a provider. */
  readonly maxPauseMs: number
  readonly limiter: RateLimiter
  /** Used while `limiter` is away. */
  readonly localLimiter: RateLimiter
  readonly observer: Observer
  readonly listeners: ProcessListeners
  /** Those of events of all organizations. */
  readonly eventListeners: Listeners
  box(): SecretBox
  random(): number
  emit(event: NotificationEvent | EndpointEvent): void
  tell(event: ProviderEvent): void
  onError(error: unknown): void
}

/** Delay from a settlement to the search for jobs it has made due, shared by all settlements meanwhile. */
const LOOK_AFTER_MS = 50

/** A claim that takes longer than this and than two polls is stalled. */
const STALLED_MS = 10_000

/** Time for aborted attempts to record their outcomes before the storage closes. */
const ABORT_GRACE_MS = 3_000

export function createEngine(options: EngineOptions): Engine {
  const { storage, registry, clock, onError } = options
  let dispatcher: Dispatcher | null = null
  const wake = (lane?: string): void => dispatcher?.wake(lane)
  /** Monotonic. Null: no claim is pending. */
  let claimingSince: number | null = null
  let looking = false
  /** Reported to operators, who can fix it; the endpoint's log belongs to its organization. */
  const unsigned = throttled(
    (cause) => {
      const message = 'Webhook events cannot be signed: they wait, and fail after their last attempt.'
      onError(new Error(message, { cause }))
    },
    () => clock.monotonic(),
  )

  const handlerFailures = throttledEach(
    ({ name, cause }: { readonly name: string; readonly cause: unknown }) => {
      const message = `The listener "${name}" failed. Its events come again, and fail after their last attempt.`
      onError(new Error(message, { cause }))
    },
    () => clock.monotonic(),
  )
  const handlerFailed = (name: string, cause: unknown): void => handlerFailures(name, { name, cause })

  /**
   * Events and later attempts may make lanes due that no claim has reported, and full lanes cause no claim. With a
   * queue engine the storage enqueues them.
   */
  function lookSoon(): void {
    if (looking || options.queue !== null) return
    looking = true
    clock.timer(LOOK_AFTER_MS, () => {
      looking = false
      wake()
    })
  }

  const leases = createLeases(storage, clock, options.leaseMs, onError)
  const attempts = createAttempts({
    storage,
    leases,
    clock,
    onError,
    observer: options.observer,
    listeners: options.listeners,
    emit(event) {
      options.emit(event)
      lookSoon()
    },
    onRetry: lookSoon,
  })
  const available = (): void => dispatcher?.freed()
  const limits = createSharedLimits(options.limiter, options.localLimiter, clock, onError)
  const wakes = createWakes(clock, available)
  const about = {
    clock,
    limits,
    maxPauseMs: options.maxPauseMs,
    available,
    wakeIn: wakes.in,
    tell: options.tell,
  }
  const lanes = createLanes({
    registry,
    notifications: {
      ...options,
      attempts,
      uploads: options.uploads ?? NO_UPLOADS,
      threads: createThreads(storage.notifications, registry),
      judge: createJudgeJob(options.gate, options.categories, storage.records, registry.kinds, clock),
      laterDelay: (job) => laterDelay(storage, job),
      lastAmbiguous: (job) => lastAmbiguous(storage, job),
      mayHaveGone: async ({ notification: { id } }) =>
        mayHaveGone((await storage.notifications.timeline(id)).flatMap(({ fact }) => fact ?? [])),
    },
    events: { ...options, attempts, unsigned, handlerFailed },
    listeners: options.eventListeners,
    group({ providers, weights }) {
      const used = createTally()
      const states = providers.map((provider) => createProviderState(provider, about, used))
      return { states, used, choose: createChoose(weights) }
    },
    freed: available,
    wakeIn: wakes.in,
  })
  registry.onChange((channel, organizationId) => wake(ownLane(channel, organizationId)))
  const queue =
    options.queue === null
      ? null
      : createQueueDispatch({ queue: options.queue, storage, clock, wake, onError })
  dispatcher = createDispatcher({
    storage: {
      ...storage,
      async claim(request) {
        claimingSince = clock.monotonic()
        try {
          await leases.secure()
          return await storage.claim(request)
        } finally {
          claimingSince = null
        }
      },
      release: attempts.release,
    },
    lanes,
    clock,
    leaseMs: options.leaseMs,
    pollMs: options.pollMs,
    offers: queue?.offers,
    onError,
  })

  return {
    providers: lanes.providers,
    refresh: lanes.refresh,
    waiting: () => lanes.waiting(dispatcher.due()),
    stalledMs() {
      const ms = claimingSince === null ? 0 : clock.monotonic() - claimingSince
      return ms > Math.max(STALLED_MS, 2 * options.pollMs) ? ms : null
    },
    queue: () => queue?.health() ?? null,
    open: async () => queue?.open(),
    start() {
      dispatcher.start()
      queue?.start()
    },
    wake: queue === null ? wake : () => {},
    async stop(deadline) {
      await queue?.stop(deadline.leftMs())
      await deadline.within(dispatcher.stop())
      if (!(await deadline.within(dispatcher.idle()))) {
        attempts.abort()
        await within(dispatcher.idle(), ABORT_GRACE_MS, clock)
      }
      leases.close()
      wakes.close()
    },
    close: async () => queue?.close(),
  }
}

/** The provider of a last attempt with an unknown result, also if that attempt ended with its process. */
async function lastAmbiguous(storage: Storage, job: NotificationJob): Promise<string | null> {
  const timeline = await storage.notifications.timeline(job.notification.id)
  const last = timeline.findLast(({ fact }) => fact?.attempt !== undefined && fact.notSent !== true)
  return last?.type === 'attempt_ambiguous' ? (last.fact?.provider ?? null) : null
}
