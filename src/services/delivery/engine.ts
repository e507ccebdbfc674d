import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { ProcessListeners } from '../../domain/process-event.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { OutgoingHttp } from '../../ports/outgoing.ts'
import type { WebhookSigner } from '../../ports/signer.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Providers } from '../providers.ts'
import type { ProviderHealth } from '../records.ts'
import type { SecretBox } from '../secrets.ts'
import { createMatchSuppression } from '../suppressions/match.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { CompiledTemplates } from '../templates/compiled-templates.ts'
import { within } from '../within.ts'
import { createAttempts } from './attempts.ts'
import { createDispatcher, type Dispatcher } from './dispatcher.ts'
import { createLanes } from './lanes.ts'
import { createLeases } from './leases.ts'
import { createProviderState } from './provider-state.ts'

/** The delivery engine of one process: it delivers notifications and webhook events alike. */
export interface Engine {
  providers(): readonly ProviderHealth[]
  start(): void
  /** Something was stored that may be due. */
  wake(lane?: string): void
  /** Aborts the attempts that run. */
  hurry(): void
  /**
   * Stops claiming, lets attempts end within `deadlineMs`, then aborts them and waits for their outcomes to be stored.
   */
  stop(deadlineMs: number): Promise<void>
}

export interface EngineOptions {
  readonly storage: Storage
  readonly providers: Providers
  readonly compiled: CompiledTemplates
  readonly outgoing: OutgoingHttp
  readonly signer: WebhookSigner
  readonly clock: Clock
  readonly logger: Logger
  readonly maxSmsSegments: number
  readonly leaseMs: number
  readonly pollMs: number
  readonly observer: Observer
  readonly listeners: ProcessListeners
  box(): SecretBox
  random(): number
  announce(event: NotificationEvent): void
  failed(error: unknown): void
}

/** How long aborted attempts have to report before the storage is closed under them. */
const ABORT_GRACE_MS = 3_000

export function createEngine(options: EngineOptions): Engine {
  const { storage, clock, failed } = options
  let dispatcher: Dispatcher | null = null
  const wake = (lane?: string): void => dispatcher?.wake(lane)

  const leases = createLeases(storage, clock, options.leaseMs, failed)
  const attempts = createAttempts({
    storage,
    leases,
    clock,
    failed,
    observer: options.observer,
    listeners: options.listeners,
    announce: options.announce,
  })
  const states = new Map(
    [...options.providers].map(([channel, providers]) => [
      channel,
      providers.map((provider) => createProviderState(provider, clock, wake)),
    ]),
  )
  const matchSuppression = createMatchSuppression(storage)
  const lanes = createLanes(states, { ...options, attempts, matchSuppression }, { ...options, attempts })
  dispatcher = createDispatcher({
    storage,
    lanes,
    clock,
    leaseMs: options.leaseMs,
    pollMs: options.pollMs,
    failed,
  })

  return {
    providers: () => [...states.values()].flat().map((state) => state.health()),
    start: dispatcher.start,
    wake,
    hurry: attempts.abort,
    async stop(deadlineMs) {
      await dispatcher.stop()
      if (!(await within(dispatcher.idle(), deadlineMs, clock))) {
        attempts.abort()
        await within(dispatcher.idle(), ABORT_GRACE_MS, clock)
      }
      leases.close()
    },
  }
}
