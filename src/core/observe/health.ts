import { laneParts } from '../channels/provider-registry.ts'
import type { ProviderHealth, QueueHealth, WaitingLane } from '../delivery/model.ts'
import { isNotifierError, type NotifierError } from '../errors/notifier-error.ts'
import { listedNames } from '../input/listed-names.ts'
import { within } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { RateLimiter } from '../ports/rate-limiter.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION, organizationKind } from '../tenancy/organization.ts'

export interface HealthReport {
  /**
   * `ok`: accepts and delivers. `degraded`: accepts, but a part fails: a shared provider is paused, has not worked
   * since a pause or gives no clear answers; notifications wait for such a provider; a claim is stalled; the rate
   * limiter or the queue does not answer. `unavailable`: not started, stopping, in maintenance, or the storage does not
   * answer or cannot store.
   */
  readonly status: 'ok' | 'degraded' | 'unavailable'
  /** The reason in words if the status is not `ok`. Null: `ok`. */
  readonly reason: string | null
  readonly storage: { readonly name: string; readonly durable: boolean; readonly answers: boolean }
  /** Null: no queue engine. */
  readonly queue: QueueHealth | null
  /** The providers of this process, including open ones of organizations: at most 1,000. */
  readonly providers: readonly ProviderHealth[]
  /** Lanes with due work and no available provider: at most 100. */
  readonly waiting: readonly WaitingLane[]
}

/** Timeout of the storage: a health check may wait for seconds only. */
const ANSWER_MS = 2_000

export interface HealthSources {
  readonly storage: Storage
  readonly limiter: Pick<RateLimiter, 'consume'>
  readonly delivery: {
    queue(): HealthReport['queue']
    stalledMs(): number | null
    providers(): HealthReport['providers']
    waiting(): HealthReport['waiting']
    /** Checks whether paused providers have worked in other processes. */
    refresh(): Promise<unknown>
  }
  readonly clock: Clock
}

/**
 * Reads from the storage, checks that it can store, and peeks at the limiter.
 *
 * @param refusal why calls are refused; null: they are not
 */
export async function reportHealth(
  { storage, limiter, delivery, clock }: HealthSources,
  refusal: NotifierError | null,
): Promise<HealthReport> {
  let answers = false
  let fault: string | null = 'The storage does not answer.'
  async function ask(): Promise<void> {
    try {
      const [organization = null] = await storage.records.get(organizationKind, [
        { id: DEFAULT_ORGANIZATION },
      ])
      answers = organization !== null
      if (!answers) return
      await storage.check?.()
      fault = null
    } catch (error) {
      if (isNotifierError(error)) fault = withCauses(error)
    }
  }
  let limits = false
  async function askLimiter(): Promise<void> {
    try {
      limits = (await limiter.consume([{ kind: 'pause', key: 'health' }])).uncounted !== true
    } catch {}
  }
  // Skips parts that are not open.
  const others = refusal === null ? [askLimiter(), delivery.refresh()] : []
  await within(Promise.all([ask(), ...others]), ANSWER_MS, clock)
  const reason = refusal?.message ?? fault
  const degraded = reason === null ? degradedBy(delivery, limits) : []
  return {
    status: reason !== null ? 'unavailable' : degraded.length > 0 ? 'degraded' : 'ok',
    reason: reason ?? (degraded.length > 0 ? degraded.join(' ') : null),
    storage: { name: storage.name, durable: storage.durable, answers },
    queue: delivery.queue(),
    providers: delivery.providers(),
    waiting: delivery.waiting(),
  }
}

const NOT_WORKING = {
  ready: 'has an unknown result for its last attempts',
  paused: 'is paused',
  probing: 'was paused and has not worked since',
}

/**
 * Providers and lanes of organizations do not count: one tenant's wrong password is no fault of the service. Nor do
 * listeners, which another process may have.
 */
function degradedBy(
  { queue, stalledMs, providers, waiting }: HealthSources['delivery'],
  limits: boolean,
): string[] {
  const reasons: string[] = []
  for (const { channel, name, organizationId, state, code } of providers()) {
    if (organizationId !== null || (state === 'ready' && code === null)) continue
    const what = NOT_WORKING[state]
    reasons.push(`The provider "${name}" (${channel}) ${what}${code === null ? '' : `: ${code}`}.`)
  }
  const owedMs = stalledMs()
  if (owedMs !== null) {
    const seconds = Math.round(owedMs / 1_000)
    reasons.push(`The storage has not answered a claim for ${seconds} seconds: delivery waits for it.`)
  }
  const shared = waiting().filter(
    ({ lane, reason }) => reason !== 'not_registered' && laneParts(lane).organizationId === null,
  )
  const lanes = new Map(shared.map(({ lane, reason }) => [lane, reason]))
  if (lanes.size > 0) {
    const listed = listedNames([...lanes.keys()], (lane) => lanes.get(lane) ?? '')
    reasons.push(`Notifications wait for a provider in ${listed}.`)
  }
  if (!limits) reasons.push('The rate limiter does not answer.')
  const engine = queue()
  if (engine?.takes === false)
    reasons.push(`The queue "${engine.name}" does not answer: polling finds the jobs.`)
  return reasons
}

/** The storage's message says what to do, and its cause is not visible elsewhere. */
function withCauses({ message, cause }: NotifierError): string {
  // Node's error for a host with several addresses, such as localhost, has no text.
  const causes = cause instanceof AggregateError && cause.message === '' ? cause.errors : [cause]
  const texts = causes.flatMap((one: unknown) =>
    one instanceof Error && one.message !== '' ? one.message : [],
  )
  return texts.length === 0 ? message : `${message} (${texts.join('; ')})`
}
