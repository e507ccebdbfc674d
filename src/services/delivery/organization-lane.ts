import { decide } from '../../domain/decide.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { PROVIDER_RETRY } from '../../domain/retry.ts'
import type { Instances } from '../channels/instances.ts'
import type { ProviderSet } from '../providers.ts'
import { EXPIRED, isExpired, type NotificationJob } from './end-before.ts'
import type { Lane } from './lane.ts'
import { createNotificationLane, type NotificationDelivery, type ProviderGroup } from './notification-lane.ts'
import type { ProviderState } from './provider-state.ts'

/** The lane of one organization's own providers, which are made when it has work. */
export interface OrganizationLane extends Required<Lane> {
  /** The providers that are open. */
  states(): readonly ProviderState[]
  /** Why it does nothing at the moment; null: it can work. */
  blocked(): 'unavailable' | 'channel_not_configured' | null
  /** Nothing of it is under way. */
  idle(): boolean
}

export interface OrganizationLaneOptions {
  readonly channel: string
  readonly organizationId: string
  readonly instances: Instances
  /** Takes the work of an organization that has no providers of its own; null: nobody does. */
  readonly shared: Required<Lane> | null
  readonly delivery: NotificationDelivery
  group(set: ProviderSet): ProviderGroup
  wakeIn(ms: number): void
}

/** What an attempt meets when there is no provider to ask: a fault of the organization's account. */
const UNAVAILABLE: Outcome = {
  kind: 'retry',
  scope: 'account',
  code: 'provider_unavailable',
  message: 'The providers of this organization could not be made.',
}
const NOT_CONFIGURED: Outcome = {
  kind: 'retry',
  scope: 'account',
  code: 'channel_not_configured',
  message: 'No provider is configured for this organization any more.',
}

/** How long a job waits that came while the providers were being made. */
const PATIENCE_MS = 500
/** Between looks at an organization that has lost its providers. */
const NOT_CONFIGURED_MS = 60_000

export function createOrganizationLane(options: OrganizationLaneOptions): OrganizationLane {
  const { channel, organizationId, instances, shared, delivery, wakeIn } = options
  const { attempts, clock, random } = delivery
  let opened: {
    readonly set: ProviderSet
    readonly lane: Required<Lane>
    readonly group: ProviderGroup
  } | null = null
  const pool = {}
  let running = 0
  /** Keeps the providers open from before the claim that is to use them, until its jobs are here. */
  let letGo: (() => void) | null = null
  /** The claim can use them: they were there before it. */
  let usable = false
  /** After a job has been told that there is no provider, until this time no other is. */
  let toldUntil = 0

  function lane(): Required<Lane> | null {
    const known = instances.known(organizationId)
    if (known?.kind !== 'loaded') return null
    if (known.set === null) return shared
    if (opened?.set !== known.set) {
      const { set } = known
      const group = { ...options.group(set), refused: (pausedMs: number) => renew(set, pausedMs) }
      opened = { set, group, lane: createNotificationLane(group, delivery) }
    }
    return opened.lane
  }

  const canMake = (): boolean => instances.stale(organizationId) && instances.hasRoom(organizationId)

  /**
   * New credentials may be there by the end of the pause: what is made before may have the old ones still. Those that were
   * refused after they had been replaced are the old ones.
   */
  function renew(set: ProviderSet, pausedMs: number): void {
    const known = instances.known(organizationId)
    if (known?.kind === 'loaded' && known.set === set) instances.renew(organizationId, pausedMs)
  }

  function blocked(): 'unavailable' | 'channel_not_configured' | null {
    const known = instances.known(organizationId)
    if (known?.kind === 'failed') return 'unavailable'
    return known?.kind === 'loaded' && known.set === null && shared === null ? 'channel_not_configured' : null
  }

  /** One job at a time learns that it cannot go; none while the providers are made once more. */
  function toTell(): number {
    const known = instances.known(organizationId)
    const now = clock.monotonic()
    const retried = known?.kind === 'failed' && now >= known.retryAt
    return blocked() !== null && !retried && running === 0 && now >= toldUntil ? 1 : 0
  }

  async function tell(job: NotificationJob): Promise<void> {
    const { jobId, token, notification, outages } = job
    const known = instances.known(organizationId)
    if (blocked() === null) {
      const next = { kind: 'retry', delayMs: PATIENCE_MS, unasked: true } as const
      return attempts.settle({ jobId, token, kind: 'notification', facts: [], next })
    }
    // It needs no turn, and so takes none from those that can still go.
    if (isExpired(job)) {
      const facts = [{ type: 'failed', code: 'expired', message: EXPIRED }] as const
      return attempts.settle({ jobId, token, kind: 'notification', facts, next: { kind: 'end' } })
    }
    const pausedMs =
      known?.kind === 'failed' ? Math.max(0, known.retryAt - clock.monotonic()) : NOT_CONFIGURED_MS
    toldUntil = clock.monotonic() + pausedMs
    wakeIn(pausedMs)
    if (!(await attempts.begin({ jobId, token, provider: channel }))) return
    const { facts, next } = decide(known?.kind === 'failed' ? UNAVAILABLE : NOT_CONFIGURED, {
      suppressesRefused: false,
      attempt: job.attempts + 1,
      outages,
      provider: channel,
      hasNextProvider: false,
      policy: PROVIDER_RETRY,
      onAmbiguous: 'retry',
      expiresInMs: notification.expiresInMs,
      random: random(),
      durationMs: 0,
    })
    await attempts.settle({
      jobId,
      token,
      kind: 'notification',
      facts: facts.map((fact) => ({ ...fact, unasked: true })),
      next:
        next.kind === 'end' ? next : { kind: 'retry', delayMs: next.delayMs, outage: true, unasked: true },
    })
  }

  return {
    begin: false,
    get pool() {
      return lane()?.pool ?? pool
    },
    states: () => (lane() !== null && lane() !== shared ? (opened?.group.states ?? []) : []),
    blocked,
    idle: () => running === 0 && letGo === null,
    free: () => lane()?.free() ?? toTell(),
    room: () => lane()?.room() ?? (canMake() ? 1 : toTell()),
    prepare() {
      if (!instances.hasRoom(organizationId)) return undefined
      // What is made is not waited for: an organization whose function hangs holds up nobody else.
      instances.load(organizationId)
      const ready = lane()
      letGo ??= instances.hold(organizationId)
      usable = ready !== null || blocked() !== null
      return ready?.prepare()
    },
    giveBack() {
      lane()?.giveBack()
      // What has just been made is for the next claim: closed before that, it would be made again for ever.
      if (!usable) return
      letGo?.()
      letGo = null
    },
    async run(job) {
      if (job.kind !== 'notification') return
      running += 1
      const release = instances.hold(organizationId)
      try {
        const ready = lane()
        await (ready === null ? attempts.run(job, () => tell(job)) : ready.run(job))
      } finally {
        release()
        running -= 1
      }
    },
  }
}
