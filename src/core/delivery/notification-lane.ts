import type { ProviderChecks } from '../channels/provider-checks.ts'
import type { ConfiguredProvider } from '../channels/providers.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import { isNotifierError } from '../errors/notifier-error.ts'
import type { Processor, RunInSlices } from '../loop/processor.ts'
import { once } from '../loop/steps.ts'
import { unknownDelivery } from '../notification/cancellation.ts'
import type { Fact } from '../notification/facts.ts'
import type { NotificationFailure, Wait } from '../notification/notification.ts'
import { type Outcome, withoutTexts } from '../notification/outcome.ts'
import { isOwn, type ProviderEvent } from '../notification/provider-event.ts'
import type { Observer } from '../observe/observer.ts'
import type { AddressNow, FindAddress } from '../people/address-now.ts'
import type { PersonHashes } from '../people/person-hashes.ts'
import type { Clock } from '../ports/clock.ts'
import type { Message } from '../ports/provider.ts'
import { type AttemptContext, type Decision, decide } from './after-attempt.ts'
import { idempotencyKeyOf } from './attempt-context.ts'
import type { Attempts, Ending as EndingOf } from './attempts.ts'
import type { Choose } from './choose.ts'
import { type ComposedMessage, type Composition, createCompose } from './compose.ts'
import type { CopyFacts } from './copies.ts'
import { EXPIRED, endBefore, isExpired, type NotificationJob } from './end-before.ts'
import { createFailoverHistory } from './failover-history.ts'
import type { Judged, JudgeJob } from './judged.ts'
import type { Lane } from './lane.ts'
import type { Pass, ProviderState } from './provider-state.ts'
import { sendAttempt } from './send-attempt.ts'
import type { Stop } from './stop.ts'
import { createTally, type Tally } from './tally.ts'

/** Tenants read it. */
const UNJUDGED = 'Whether the message may go could not be found out.'

/**
 * The fact of a message that is no longer sent. One that an earlier attempt may have sent is not called skipped.
 *
 * @param mayHaveGone whether an attempt since the last retry has an unknown result
 */
async function endingOf(
  job: NotificationJob,
  why: NotificationFailure,
  mayHaveGone: (job: NotificationJob) => Promise<boolean>,
): Promise<Fact> {
  if (why.decidedBy === undefined && why.code !== 'no_address') return { type: 'failed', ...why }
  const { attempts, earlierAttempts, recovered } = job
  if (attempts === earlierAttempts || !(recovered || (await mayHaveGone(job))))
    return { type: 'skipped', ...why }
  return { type: 'failed', ...unknownDelivery(why.message) }
}

type Ending = EndingOf<'notification'>
type Retry = Extract<Decision['next'], { kind: 'retry' }>

/** Dependencies of notification delivery. */
export interface NotificationDelivery extends Composition {
  readonly registry: ProviderChecks
  readonly attempts: Attempts
  readonly processor: Processor
  /** The provider of a last attempt with an unknown result. Null: no such attempt. */
  lastAmbiguous(job: NotificationJob): Promise<string | null>
  /** The current addresses of people. */
  readonly findAddress: FindAddress
  readonly hashes: Pick<PersonHashes, 'addressName'>
  readonly judge: JudgeJob
  /** Delay of a job about which something could not be found out. */
  laterDelay(job: NotificationJob): Promise<number>
  /** Whether an attempt since the last retry has an unknown result. */
  mayHaveGone(job: NotificationJob): Promise<boolean>
  readonly clock: Clock
  readonly observer: Observer
  /** In [0, 1). */
  random(): number
  onError(error: unknown): void
}

/** Data of one hand-over. */
interface HandOver {
  readonly pass: Pass
  readonly stop: Stop
  readonly share: RunInSlices
  /** Milliseconds until the notification expires. */
  leftMs(): number
}

/** Delay of a job whose only remaining provider has no free slot. */
const RETURN_DELAY_MS = 500
/** Interval between two jobs that wait for one provider, to leave time for jobs that others can take. */
const RETURN_EVERY_MS = 1
/** Extra delay after a pause for the message that failed. */
const BEHIND_MS = 1
/** A judge that lets a message wait for less is asked again only after this time. */
const SHORTEST_WAIT_MS = 100
/** Shorter waits are in no history: where the storage's clock is ahead, the gate sees a message before its time. */
const LEAST_TOLD_MS = 1_000
/** Maximum number of jobs going back at once. Above it nothing more is claimed. */
const MOST_RETURNING = 100

/** The providers of a lane. */
export interface ProviderGroup {
  /** In order of preference. */
  readonly states: readonly ProviderState[]
  readonly choose: Choose
  /** Counts the used slots of all. */
  readonly used: Tally
  /** A provider refused the credentials and is paused for this time. */
  refused?(pausedMs: number): void
}

/**
 * The lane of one set of providers.
 *
 * @param exempt the organization that may use all slots, null: none may. Undefined: the providers serve one organization
 */
export function createNotificationLane(
  { states, choose, used, refused }: ProviderGroup,
  delivery: NotificationDelivery,
  exempt?: () => string | null,
): Required<Lane> {
  const { registry, attempts, processor, clock, logger, observer, random, onError, findAddress, judge } =
    delivery
  const compose = createCompose(delivery)
  const history = createFailoverHistory()
  /** Jobs whose history or address is being read. Each will need a slot. */
  const reading = createTally()
  /** Jobs going back to the storage without a slot. */
  let returning = 0
  /** Due time of the last job that waits for a provider. */
  const returns = new Map<ProviderState, number>()

  const isNew = (job: NotificationJob, state: ProviderState): boolean =>
    history.of(job)?.failedOver.has(state.provider.name) !== true

  /** The reachable providers that may be called, free or not. */
  function eligible(job: NotificationJob, reachable: readonly ProviderState[]): readonly ProviderState[] {
    // Only the provider that may have taken the message can deduplicate it.
    const only = history.of(job)?.only
    const same = reachable.filter(({ provider }) => provider.name === only)
    return same.length > 0 ? same : reachable.filter((state) => isNew(job, state))
  }

  function take(job: NotificationJob, reachable: readonly ProviderState[]): ProviderState | undefined {
    // Most lanes have one provider, and most jobs take the first: avoids further lists.
    const [single] = reachable
    if (states.length === 1 && single !== undefined)
      return single.takes() > 0 || single.waits() ? single : undefined
    const asked = eligible(job, reachable).filter((state) => mayUse(job, state))
    const free = asked.filter((state) => state.takes() > 0)
    if (free.length > 0) return choose(free)
    const waiting = asked.filter((state) => state.waits())
    return waiting.length === 0 ? undefined : choose(waiting)
  }

  /** Claims leave room in the lane, but not at each provider. */
  const mayUse = ({ organizationId }: NotificationJob, state: ProviderState): boolean =>
    exempt === undefined ||
    organizationId === exempt() ||
    (state.used.get(organizationId) ?? 0) < state.empty()

  async function deliver(
    job: NotificationJob,
    state: ProviderState,
    pass: Pass,
    stop: Stop,
    movedTo: string | undefined,
  ): Promise<Ending | null> {
    const claimedAt = clock.monotonic()
    const leftMs = (): number =>
      (job.notification.expiresInMs ?? Number.POSITIVE_INFINITY) - (clock.monotonic() - claimedAt)
    const over = endBefore(job, state)
    if (over !== null) return endWith(job, await endingOf(job, over, delivery.mayHaveGone))
    const judged = await judgedNow(job)
    if (judged === null) return waitFor({ message: UNJUDGED, delayMs: await delivery.laterDelay(job) })
    const { verdict } = judged
    if (verdict.kind === 'wait' && verdict.until > clock.now()) return delayed(job, verdict, state)
    const share = processor.share(job.organizationId)
    const composed = await compose(job, judged, state, share, stop)
    if (composed === null) {
      await attempts.release([job])
      return null
    }
    if ('code' in composed) return endWith(job, await endingOf(job, composed, delivery.mayHaveGone))
    const { provider } = state
    if (!(await attempts.begin(job, provider.name, movedTo))) return null
    // A provider's synchronous work counts as the organization's.
    return share(once(() => handOver(job, state, composed, { pass, stop, share, leftMs })))
  }

  async function handOver(
    job: NotificationJob,
    state: ProviderState,
    { message, segments, copies }: ComposedMessage,
    handing: HandOver,
  ): Promise<Ending> {
    const { pass, stop, leftMs } = handing
    const { provider } = state
    const paced = pass(stop)
    if (paced !== undefined) await paced
    const secured = attempts.secure(stop)
    if (secured !== undefined) await secured
    const attempt = job.attempts + 1
    if (stop.aborted()) return notAsked(job, provider.name)
    // The commit, the rate limit and the share may have taken long.
    if (leftMs() <= 0) return endWithout(job, 'expired', EXPIRED)
    const began = clock.monotonic()
    const outcome = await ask(job, provider, message, handing)
    const durationMs = Math.round(clock.monotonic() - began)
    const namesSender = hasSender(message, provider.kind.name)
    const end = decision(job, state, outcome, {
      attempt,
      durationMs,
      segments,
      namesSender,
      expiresInMs: leftMs(),
    })
    // Before the slot is freed, because it decides whether the provider is called again.
    const pause = updateState(state, end)
    if (outcome.kind === 'rejected' && outcome.scope === 'account') refused?.(state.pausedMs())
    return answered(job, state, withCopies(end, copies, attempt, provider.name), pause)
  }

  function ask(
    { notification, organizationId, attempts, earlierAttempts }: NotificationJob,
    provider: ConfiguredProvider,
    message: Message,
    { stop, share, leftMs }: HandOver,
  ): Promise<Outcome> {
    const { id, createdAt, content } = notification
    const context = {
      notificationId: id,
      organizationId,
      attempt: attempts + 1,
      idempotencyKey: idempotencyKeyOf(id, earlierAttempts),
      createdAt,
      expiresInMs: finite(leftMs()),
      logger,
      share,
    }
    const sensitive = content.sensitive === true
    // An exception of a provider may contain the message.
    const told = sensitive ? ({ message: said }: Error) => onError(new Error(said)) : onError
    const asked = sendAttempt(provider, message, context, stop, clock, observer, told)
    return sensitive ? asked.then(withoutTexts) : asked
  }

  function decision(
    job: NotificationJob,
    state: ProviderState,
    outcome: Outcome,
    about: Pick<AttemptContext, 'attempt' | 'durationMs' | 'segments' | 'namesSender' | 'expiresInMs'>,
  ): Decision {
    const { provider } = state
    return decide(outcome, {
      ...about,
      suppressesRefused: provider.kind.suppressesRefused === true,
      stops: provider.kind.stops === true,
      outages: job.outages,
      earlierAttempts: job.earlierAttempts,
      provider: provider.name,
      hasNextProvider: states.some(
        (other) => other !== state && other.pausedMs() === 0 && isNew(job, other) && reaches(other, job),
      ),
      policy: provider.retry,
      onAmbiguous: provider.onAmbiguous,
      random: random(),
    })
  }

  /** The outcome decides the provider's state, for any message. @returns the begin or end of a pause */
  function updateState(state: ProviderState, { facts, provider, pauseMs }: Decision): ProviderEvent | null {
    if (provider === 'works') return state.succeeded()
    if (provider === 'unknown') state.unclear()
    if (provider !== 'faulty') return null
    const { code = 'provider_error', message = code } = facts[0] ?? {}
    return state.faulted(pauseMs, { code, message })
  }

  function answered(
    job: NotificationJob,
    state: ProviderState,
    { facts, next }: Decision,
    pause: ProviderEvent | null,
  ): Ending {
    const tried = { jobId: job.jobId, attempts: job.attempts + 1 }
    if (next.kind === 'end') history.forget(job.jobId)
    else if (next.failOver) history.failOver(tried, state.provider.name)
    else history.retry(tried, facts[0]?.ambiguous === true ? state.provider.name : null)
    return {
      facts,
      ...(pause !== null && isOwn(pause) ? { providerEvent: pause } : {}),
      next:
        next.kind === 'end'
          ? next
          : { kind: 'retry', delayMs: delayOf(job, state, next), ...(next.outage ? { outage: true } : {}) },
    }
  }

  /** The message that failed does not probe the provider: it may be the cause. */
  function delayOf({ notification }: NotificationJob, state: ProviderState, next: Retry): number {
    if (!next.outage || next.failOver) return next.delayMs
    const expiresInMs = notification.expiresInMs ?? Number.POSITIVE_INFINITY
    return Math.max(next.delayMs, Math.min(state.pausedMs() + BEHIND_MS, expiresInMs))
  }

  /** The notifier stops, or lost the job, between the recorded start and the hand-over. */
  function notAsked({ attempts }: NotificationJob, provider: string): Ending {
    const fault = { code: 'provider_unavailable', message: NOT_ASKED, notSent: true } as const
    return {
      facts: [{ type: 'attempt_failed', attempt: attempts + 1, provider, ...fault }],
      // The message is not at fault, so this costs it no attempt.
      next: { kind: 'retry', delayMs: 0, outage: true, notSent: true },
    }
  }

  /**
   * All remaining providers are paused or full: back to the storage until one may have room.
   *
   * @param reachable at least one
   */
  function later(job: NotificationJob, reachable: readonly ProviderState[]): Ending {
    let left = eligible(job, reachable)
    // If all remaining providers are paused, those it has failed over from may be called again.
    if (history.of(job)?.only == null && left.every((state) => state.pausedMs() > 0)) {
      history.retry(job, null)
      left = eligible(job, reachable)
    }
    const delayMs = Math.min(returnIn(left), job.notification.expiresInMs ?? Number.POSITIVE_INFINITY)
    return { facts: [], next: { kind: 'retry', delayMs, notSent: true } }
  }

  function returnIn(left: readonly ProviderState[]): number {
    const now = clock.monotonic()
    const soonest = left.reduce((one, other) => (other.pausedMs() < one.pausedMs() ? other : one))
    const earliest = now + Math.max(RETURN_DELAY_MS, soonest.pausedMs())
    const at = Math.max(earliest, (returns.get(soonest) ?? 0) + RETURN_EVERY_MS)
    returns.set(soonest, at)
    return at - now
  }

  function endWithout(job: NotificationJob, code: ErrorCode, message: string): Ending {
    return endWith(job, { type: 'failed', code, message })
  }

  function endWith(job: NotificationJob, fact: Fact): Ending {
    history.forget(job.jobId)
    const { channel } = job.notification
    if (fact.type === 'skipped')
      observer.record({ type: 'skipped', channel, decidedBy: fact.decidedBy ?? '' })
    return { facts: [fact], next: { kind: 'end' } }
  }

  /** No provider is available now. */
  async function goBack(job: NotificationJob, reachable: readonly ProviderState[]): Promise<void> {
    returning += 1
    try {
      await attempts.settle(job, withoutProvider(job, reachable))
    } finally {
      returning -= 1
    }
  }

  function withoutProvider(job: NotificationJob, reachable: readonly ProviderState[]): Ending {
    if (isExpired(job)) return endWithout(job, 'expired', EXPIRED)
    if (reachable.length > 0) return later(job, reachable)
    const { code, message } = unreachable(job)
    return endWithout(job, code, message)
  }

  /** Reads whether only one provider may be called, if another process made the last attempt. */
  async function recall(job: NotificationJob): Promise<void> {
    reading.add(job.organizationId)
    try {
      history.retry(job, await delivery.lastAmbiguous(job))
    } finally {
      reading.remove(job.organizationId)
    }
  }

  /** The job with the address of now. Null: it goes nowhere now, and was settled. */
  async function readdressed(
    job: NotificationJob,
    looking: Promise<AddressNow>,
  ): Promise<NotificationJob | null> {
    reading.add(job.organizationId)
    try {
      const now = isExpired(job) ? null : await looking
      // Ended as expired by the attempt that follows.
      if (now === null) return job
      if (now.kind === 'send') return { ...job, notification: { ...job.notification, to: now.to } }
      // Never skipped in silence after an attempt that may have reached the recipient.
      const ending =
        now.kind === 'end' ? endWith(job, await endingOf(job, now.why, delivery.mayHaveGone)) : waitFor(now)
      await attempts.settle(job, ending)
      return null
    } finally {
      reading.remove(job.organizationId)
    }
  }

  /** Costs no attempt. It ends when it expires. */
  function delayed(
    { notification: { expiresInMs, to, recipient } }: NotificationJob,
    { until, reason }: Wait,
    { provider: { kind } }: ProviderState,
  ): Ending {
    const waitMs = Math.max(until - clock.now(), SHORTEST_WAIT_MS)
    const delayMs = Math.min(waitMs, expiresInMs ?? Number.POSITIVE_INFINITY)
    const facts = waitMs < LEAST_TOLD_MS ? [] : [{ type: 'delayed', message: reason } as const]
    const delayedFor = { address: delivery.hashes.addressName(kind, to), recipient }
    return { facts, next: { kind: 'retry', delayMs, notSent: true, delayedFor } }
  }

  /** Null: a plug-in failed to judge it, as was reported. Rejects if the storage is away. */
  async function judgedNow(job: NotificationJob): Promise<Judged | null> {
    try {
      return await judge(job)
    } catch (error) {
      if (isNotifierError(error) && error.code === 'service_unavailable') return null
      throw error
    }
  }

  /** Costs no attempt, and the history says why it waits. */
  function waitFor({
    message,
    delayMs,
  }: Pick<Extract<AddressNow, { kind: 'later' }>, 'message' | 'delayMs'>): Ending {
    const fact = { type: 'attempt_failed', code: 'service_unavailable', message, notSent: true } as const
    return { facts: [fact], next: { kind: 'retry', delayMs, notSent: true } }
  }

  const reaches = (
    { provider }: ProviderState,
    { notification: { to, content } }: NotificationJob,
  ): boolean => registry.accepts(provider, to) && registry.refusalOf(provider, to, content.parts) === null

  /** Why no provider may be called. */
  function unreachable({ notification: { to, content } }: NotificationJob): NotificationFailure {
    for (const { provider } of states) {
      const refusal = registry.accepts(provider, to) ? registry.refusalOf(provider, to, content.parts) : null
      if (refusal !== null) return refusal
    }
    return { code: 'invalid_recipient', message: 'No configured provider accepts this recipient any more.' }
  }

  /** @param before the recorded address */
  async function deliverTo(job: NotificationJob, before: string, stop: Stop): Promise<void> {
    const { to } = job.notification
    const movedTo = to === before ? undefined : to
    // Called once: `accepts()` may return different results.
    const reachable = states.filter((candidate) => reaches(candidate, job))
    const state = take(job, reachable)
    await (state === undefined
      ? goBack(job, reachable)
      : state.run(
          job.organizationId,
          (pass) => deliver(job, state, pass, stop, movedTo),
          (ending) => attempts.settle(job, ending),
        ))
  }

  const sum = (count: (state: ProviderState) => number): number =>
    Math.max(0, states.reduce((all, state) => all + count(state), 0) - reading.all())

  const unlessReturning = (count: (state: ProviderState) => number): number =>
    returning >= MOST_RETURNING ? 0 : sum(count)

  const free = (): number => unlessReturning((state) => state.free())

  return {
    begin: false,
    pool:
      exempt === undefined
        ? null
        : {
            free,
            empty: () => sum((state) => state.empty()),
            used: () => (reading.all() === 0 ? used.of : added(used.of, reading.of)),
          },
    free,
    room: () => unlessReturning((state) => state.room()),
    prepare() {
      const asked = states.flatMap((state) => state.prepare() ?? [])
      return asked.length === 0 ? undefined : Promise.all(asked)
    },
    giveBack() {
      for (const state of states) state.giveBack()
    },
    async run(job) {
      if (job.kind !== 'notification') return
      await attempts.run(job, async (stop) => {
        if (states.length > 1 && job.attempts > 0 && history.of(job) === undefined) await recall(job)
        const looking = findAddress(job)
        const addressed = looking === undefined ? job : await readdressed(job, looking)
        if (addressed !== null) await deliverTo(addressed, job.notification.to, stop)
      })
    },
  }
}

function added(
  some: ReadonlyMap<string, number>,
  more: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const sums = new Map(some)
  for (const [owner, count] of more) sums.set(owner, (sums.get(owner) ?? 0) + count)
  return sums
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null)

/** After the facts of the attempt, the first of which decides what follows. */
function withCopies(decision: Decision, copies: CopyFacts, attempt: number, provider: string): Decision {
  if (copies.length === 0) return decision
  const about = copies.map((fact) => ({ ...fact, attempt, provider }))
  return { ...decision, facts: [...decision.facts, ...about] }
}

/** True: the parts of the channel name a sender. */
function hasSender(message: object, channel: string): boolean {
  const parts = (message as Readonly<Record<string, { readonly from?: unknown } | undefined>>)[channel]
  return parts?.from !== undefined
}

const NOT_ASKED = 'The provider was not asked: the notifier is stopping, or has lost the job.'
