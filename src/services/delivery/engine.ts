import type { EndpointEvent } from '../../domain/endpoint-health.ts'
import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { ProcessListeners } from '../../domain/process-event.ts'
import type { ProviderEvent } from '../../domain/provider-event.ts'
import { throttled } from '../../domain/throttled.ts'
import type { Tracking } from '../../domain/track-html.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { OutgoingHttp } from '../../ports/outgoing.ts'
import type { Queue } from '../../ports/queue.ts'
import type { RateLimiter } from '../../ports/rate-limiter.ts'
import type { WebhookSigner } from '../../ports/signer.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { ownLane, type ProviderRegistry } from '../channels/provider-registry.ts'
import type { Deadline } from '../deadline.ts'
import type { Links } from '../links/links.ts'
import type { Processor } from '../processor.ts'
import type { SecretBox } from '../secrets.ts'
import { createMatchSuppression } from '../suppressions/match.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { CompiledTemplates } from '../templates/compiled-templates.ts'
import { within } from '../within.ts'
import { createAttempts } from './attempts.ts'
import { createChoose } from './choose.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'
import type { NotificationJob } from './end-before.ts'
import { createLanes } from './lanes.ts'
import { createLeases } from './leases.ts'
import { createProviderState } from './provider-state.ts'
import { createQueueDispatch } from './queue-dispatch.ts'
import type { ProviderHealth, QueueHealth, WaitingLane } from './records.ts'
import { createSharedLimits } from './shared-limits.ts'
import { createWakes } from './wakes.ts'

/** The delivery engine of one process: it delivers notifications and webhook events alike. */
export interface Engine {
  providers(): readonly ProviderHealth[]
  /** Learns which paused providers have worked in another process since. Never rejects. */
  refresh(): Promise<unknown>
  /** Lanes with work that no provider of this process can be asked to do. */
  waiting(): readonly WaitingLane[]
  /** How long the storage has owed the answer to a claim, when that is too long; null: it is not. */
  stalledMs(): number | null
  /** Null: there is no queue engine. */
  queue(): QueueHealth | null
  /** Has jobs announced to the queue engine, also where nothing is delivered. */
  open(): Promise<void>
  start(): void
  /** Something was stored that may be due. With a queue engine it is the storage that announces it. */
  wake(lane?: string): void
  /** Stops claiming, lets attempts end by the deadline, then aborts them and waits for their outcomes to be stored. */
  stop(deadline: Deadline): Promise<void>
  /** Announces no more jobs to the queue engine. */
  close(): Promise<void>
}

export interface EngineOptions {
  readonly storage: Storage
  readonly registry: ProviderRegistry
  readonly compiled: CompiledTemplates
  readonly links: Links
  /** What is counted of an organization's HTML mails. */
  tracking(organizationId: string): Promise<Tracking>
  readonly processor: Processor
  readonly outgoing: OutgoingHttp
  readonly signer: WebhookSigner
  readonly clock: Clock
  readonly logger: Logger
  readonly leaseMs: number
  readonly pollMs: number
  /** Says when and where jobs are delivered; null: the claims do. */
  readonly queue: Queue | null
  /** The longest pause of a provider. */
  readonly maxPauseMs: number
  readonly limiter: RateLimiter
  /** Stands in while `limiter` is away. */
  readonly localLimiter: RateLimiter
  readonly observer: Observer
  readonly listeners: ProcessListeners
  box(): SecretBox
  random(): number
  emit(event: NotificationEvent | EndpointEvent): void
  tell(event: ProviderEvent): void
  onError(error: unknown): void
}

/** From a settlement to the look for what it has made due, one for all settlements meanwhile. */
const LOOK_AFTER_MS = 50

/** A claim that takes longer, and longer than two polls, counts as stalled. */
const STALLED_MS = 10_000

/** How long aborted attempts have to report before the storage is closed under them. */
const ABORT_GRACE_MS = 3_000

export function createEngine(options: EngineOptions): Engine {
  const { storage, registry, clock, onError } = options
  let dispatcher: Dispatcher | null = null
  const wake = (lane?: string): void => dispatcher?.wake(lane)
  /** Monotonic; null: no claim is under way. */
  let claimingSince: number | null = null
  let looking = false
  /** Whoever runs this process can put it right; the log of the endpoint is its organization's. */
  const unsigned = throttled(
    (cause) => {
      const message = 'Webhook events cannot be signed: they wait, and fail after their last attempt.'
      onError(new Error(message, { cause }))
    },
    () => clock.monotonic(),
  )

  /**
   * Events, and jobs that go on, may have made lanes due of which no claim has told yet, and while all that are known are full
   * none is asked for. A queue engine is told by the storage.
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
    goesOn: lookSoon,
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
      matchSuppression: createMatchSuppression(storage),
      lastAmbiguous: (job) => lastAmbiguous(storage, job),
    },
    events: { ...options, attempts, unsigned },
    group: ({ providers, weights }) => ({
      states: providers.map((provider) => createProviderState(provider, about)),
      choose: createChoose(weights),
    }),
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
    waiting: lanes.waiting,
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

/** The provider whose answer to the last attempt is unknown; also when that attempt ended with its process. */
async function lastAmbiguous(storage: Storage, job: NotificationJob): Promise<string | null> {
  const timeline = await storage.notifications.timeline(job.notification.id)
  const last = timeline.findLast(({ fact }) => fact?.attempt !== undefined && fact.unasked !== true)
  return last?.type === 'attempt_ambiguous' ? (last.fact?.provider ?? null) : null
}
