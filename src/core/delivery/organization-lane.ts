import type { Instances } from '../channels/instances.ts'
import type { ProviderSet } from '../channels/providers.ts'
import type { Outcome } from '../notification/outcome.ts'
import { decide } from './after-attempt.ts'
import { EXPIRED, isExpired, type NotificationJob } from './end-before.ts'
import type { Lane } from './lane.ts'
import { createNotificationLane, type NotificationDelivery, type ProviderGroup } from './notification-lane.ts'
import type { ProviderState } from './provider-state.ts'
import { PROVIDER_RETRY } from './retry-delay.ts'

/** The lane of an organization's own providers, which are loaded when it has work. */
export interface OrganizationLane extends Required<Lane> {
  /** The open providers. */
  states(): readonly ProviderState[]
  /** Why the lane cannot work now. Null: it can. */
  blocked(): 'unavailable' | 'channel_not_configured' | null
  /** True: no job is under way. */
  idle(): boolean
}

export interface OrganizationLaneOptions {
  readonly channel: string
  readonly organizationId: string
  readonly instances: Instances
  /** Takes the work of an organization without its own providers. Null: no lane does. */
  readonly shared: Required<Lane> | null
  readonly delivery: NotificationDelivery
  group(set: ProviderSet): ProviderGroup
  wakeIn(ms: number): void
}

/** Outcome without a provider: a fault of the organization's account. */
const UNAVAILABLE: Outcome = {
  kind: 'retry',
  scope: 'account',
  code: 'provider_unavailable',
  message: 'The providers of this organization could not be created.',
}
const NOT_CONFIGURED: Outcome = {
  kind: 'retry',
  scope: 'account',
  code: 'channel_not_configured',
  message: 'No provider is configured for this organization any more.',
}

/** Delay of a job that arrived while the providers were loading. */
const RETURN_DELAY_MS = 500
/** Interval of checks for an organization without providers. */
const NOT_CONFIGURED_MS = 60_000

export function createOrganizationLane(options: OrganizationLaneOptions): OrganizationLane {
  const { channel, organizationId, instances, shared, delivery, wakeIn } = options
  const { attempts, clock, random } = delivery
  let opened: {
    readonly set: ProviderSet
    readonly lane: Required<Lane>
    readonly group: ProviderGroup
  } | null = null
  let running = 0
  /** Keeps the providers open from before the claim until its jobs are here. */
  let letGo: (() => void) | null = null
  /** The providers were loaded before the claim, so it can use them. */
  let usable = false
  /** After one job has failed for lack of a provider, no other does until this time. */
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
   * The credentials may be replaced by the end of the pause: a provider loaded sooner may still have the old ones. A
   * refusal of already replaced credentials is ignored.
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

  /** One job at a time fails for lack of a provider; none while the providers are reloaded. */
  function toTell(): number {
    const known = instances.known(organizationId)
    const now = clock.monotonic()
    const retried = known?.kind === 'failed' && now >= known.retryAt
    return blocked() !== null && !retried && running === 0 && now >= toldUntil ? 1 : 0
  }

  async function tell(job: NotificationJob): Promise<void> {
    const { notification, outages } = job
    const known = instances.known(organizationId)
    if (blocked() === null) {
      const next = { kind: 'retry', delayMs: RETURN_DELAY_MS, notSent: true } as const
      return attempts.settle(job, { facts: [], next })
    }
    // An expired job needs no provider.
    if (isExpired(job)) {
      const facts = [{ type: 'failed', code: 'expired', message: EXPIRED }] as const
      return attempts.settle(job, { facts, next: { kind: 'end' } })
    }
    const pausedMs =
      known?.kind === 'failed' ? Math.max(0, known.retryAt - clock.monotonic()) : NOT_CONFIGURED_MS
    toldUntil = clock.monotonic() + pausedMs
    wakeIn(pausedMs)
    if (!(await attempts.begin(job, channel))) return
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
    await attempts.settle(job, {
      facts: facts.map((fact) => ({ ...fact, notSent: true })),
      next:
        next.kind === 'end' ? next : { kind: 'retry', delayMs: next.delayMs, outage: true, notSent: true },
    })
  }

  return {
    begin: false,
    get pool() {
      return lane()?.pool ?? null
    },
    states: () => (lane() !== null && lane() !== shared ? (opened?.group.states ?? []) : []),
    blocked,
    idle: () => running === 0 && letGo === null,
    free: () => lane()?.free() ?? toTell(),
    room: () => lane()?.room() ?? (canMake() ? 1 : toTell()),
    prepare() {
      if (!instances.hasRoom(organizationId)) return undefined
      // Not awaited: a hanging function of one organization must not block others.
      instances.load(organizationId)
      const ready = lane()
      letGo ??= instances.hold(organizationId)
      usable = ready !== null || blocked() !== null
      return ready?.prepare()
    },
    giveBack() {
      lane()?.giveBack()
      // Freshly loaded providers serve the next claim: closed before that, they would be reloaded forever.
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
