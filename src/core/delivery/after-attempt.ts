import type { ErrorCode } from '../errors/catalogue.ts'
import type { Fact } from '../notification/facts.ts'
import type { Outcome, RefusedCopy, Rejected } from '../notification/outcome.ts'
import type { SuppressionReason } from '../notification/suppression.ts'
import { maxAttempts, maxOutageAttempts, type RetryPolicy, retryDelay } from './retry-delay.ts'

/** The state at the end of an attempt. */
export interface AttemptContext {
  /** Whether the channel suppresses refused recipients. */
  readonly suppressesRefused: boolean
  /** The kind says that an opt-out stops the whole channel. Default false. */
  readonly stops?: boolean | undefined
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** Number of earlier attempts that failed because of the provider. */
  readonly outages: number
  /** Number of attempts before the last retry of the notification, which no longer count. Default 0. */
  readonly earlierAttempts?: number | undefined
  /** Instance id of the provider that was called. */
  readonly provider: string
  /** True: another provider of the lane has not been called since the last delay and is not paused. */
  readonly hasNextProvider: boolean
  readonly policy: RetryPolicy
  /** Whether an ambiguous outcome leads to another attempt, or ends as `delivery_unknown`. */
  readonly onAmbiguous: 'retry' | 'fail'
  /** Milliseconds until the notification expires. Null: never. */
  readonly expiresInMs: number | null
  /** In [0, 1). */
  readonly random: number
  readonly durationMs: number
  /** Of a text message. */
  readonly segments?: number | undefined
  /** The message names its sender, instead of the provider's. Default false. */
  readonly namesSender?: boolean | undefined
}

/** The consequences of an attempt. */
export interface Decision {
  readonly facts: readonly Fact[]
  /** `end`: the job ends. `retry`: due again after `delayMs`; 0 with `failOver`: another provider at once. */
  readonly next:
    | { readonly kind: 'end' }
    | {
        readonly kind: 'retry'
        readonly delayMs: number
        readonly failOver: boolean
        /** The provider was at fault: the attempt does not count against the message. */
        readonly outage: boolean
      }
  /** The state of the provider according to the outcome. `unknown`: no answer. */
  readonly provider: 'works' | 'faulty' | 'unknown'
  /** Duration of the provider's pause, which saves the attempts of other messages. Null: unknown. */
  readonly pauseMs: number | null
}

/**
 * Pause after a refusal of credentials or account, which needs an operator.
 *
 * @internal
 */
export const DEFAULT_PAUSE_MS = 30_000

/**
 * Decides the consequences of an outcome. Faults of the recipient or message end the notification without failover.
 * Faults of the account or provider fail over and pause the provider, unless only the message's own sender was refused. An ambiguous outcome follows the provider's
 * policy and is marked.
 */
export function decide(outcome: Outcome, context: AttemptContext): Decision {
  const { attempt, provider, durationMs } = context
  const about = { attempt, provider, durationMs }
  switch (outcome.kind) {
    case 'accepted': {
      const handedOver = { ...about, providerMessageId: outcome.providerMessageId }
      const facts: Fact[] = [{ type: 'sent', ...handedOver, segments: context.segments }]
      if (outcome.status === 'delivered') facts.push({ type: 'delivered', ...handedOver })
      for (const copy of outcome.refusedCopies ?? []) facts.push(refusedCopy(copy, about, context))
      return { facts, next: { kind: 'end' }, provider: 'works', pauseMs: null }
    }
    case 'rejected':
      return refused(outcome, about, context)
    case 'retry': {
      const failure = {
        ...about,
        code: outcome.code,
        message: outcome.message,
        providerCode: outcome.providerCode,
      }
      const hintMs = outcome.retryAfterMs
      return isOutage(outcome)
        ? again(failure, context, { ...outage(outcome, context, hintMs ?? null), hintMs })
        : again(failure, context, { provider: 'works', outage: false, hintMs, pauseMs: null })
    }
    case 'ambiguous': {
      const failure = {
        ...about,
        code: outcome.code ?? 'delivery_unknown',
        message: outcome.reason,
        providerCode: outcome.providerCode,
        ambiguous: true,
      }
      if (context.onAmbiguous === 'fail') {
        const failed: Fact = { type: 'failed', ...failure, code: 'delivery_unknown' }
        return { facts: [failed], next: { kind: 'end' }, provider: 'unknown', pauseMs: null }
      }
      // The same provider again: only its own deduplication or the stable message id can prevent a duplicate.
      return again(failure, context, { provider: 'unknown', outage: false, hintMs: undefined, pauseMs: null })
    }
  }
}

type Fault = Pick<Rejected, 'code' | 'scope'>

const isOutage = ({ scope }: Fault): boolean => scope === 'account' || scope === 'provider'

/** A refusal of the message's own sender concerns no other message, so that it must not pause the provider for all. */
function outage({ code }: Fault, { namesSender }: AttemptContext, pauseMs: number | null) {
  return code === 'invalid_sender' && namesSender === true
    ? ({ provider: 'works', outage: true, pauseMs: null } as const)
    : ({ provider: 'faulty', outage: true, pauseMs } as const)
}

/** The message was sent to the others, so it needs no further attempt. */
function refusedCopy(copy: RefusedCopy, about: Partial<Fact>, context: AttemptContext): Fact {
  const message = copy.message ?? `The copy to ${copy.address} was refused.`
  return { ...about, type: 'reported', ...copy, message, suppress: suppressionFor(copy.code, context) }
}

/**
 * The reason to suppress a refused recipient. A missing mailbox stays missing; an unknown phone number or device may
 * work tomorrow.
 */
function suppressionFor(
  code: ErrorCode,
  { suppressesRefused, stops }: AttemptContext,
): SuppressionReason | undefined {
  if (code === 'unsubscribed') return stops ? 'stop' : 'unsubscribe'
  return suppressesRefused && code === 'invalid_recipient' ? 'hard_bounce' : undefined
}

function refused(
  outcome: Rejected,
  about: Pick<Fact, 'attempt' | 'provider' | 'durationMs'>,
  context: AttemptContext,
): Decision {
  const { code, message, providerCode, scope } = outcome
  const failure = { ...about, code, message, providerCode }
  if (isOutage(outcome))
    return again(failure, context, { ...outage(outcome, context, DEFAULT_PAUSE_MS), hintMs: undefined })
  const suppress = scope === 'recipient' ? suppressionFor(code, context) : undefined
  const failed: Fact = { type: 'failed', ...failure, occurredAt: outcome.since }
  const facts = [suppress === undefined ? failed : { ...failed, suppress }]
  return { facts, next: { kind: 'end' }, provider: 'works', pauseMs: null }
}

type Failure = Omit<Fact, 'type'> & { readonly code: ErrorCode }

function again(
  failure: Failure,
  context: AttemptContext,
  refusal: Pick<Decision, 'provider' | 'pauseMs'> & {
    readonly outage: boolean
    readonly hintMs: number | undefined
  },
): Decision {
  const { attempt, outages, earlierAttempts = 0, policy, random, expiresInMs, hasNextProvider } = context
  const fact: Fact = { type: failure.ambiguous === true ? 'attempt_ambiguous' : 'attempt_failed', ...failure }
  const { outage } = refusal
  // Outages are counted separately, so that a message keeps its attempts.
  const count = outage ? outages + 1 : attempt - earlierAttempts - outages
  const last = count >= (outage ? maxOutageAttempts(policy) : maxAttempts(policy))
  const about = { provider: refusal.provider, pauseMs: refusal.pauseMs }
  if (outage && hasNextProvider && !last) {
    return { facts: [fact], next: { kind: 'retry', delayMs: 0, failOver: true, outage }, ...about }
  }
  // In a long outage a message waits with the longest delay.
  const delayMs = last
    ? null
    : retryDelay(policy, Math.min(count, maxAttempts(policy) - 1), random, refusal.hintMs)
  if (delayMs === null) {
    return {
      facts: [
        fact,
        {
          ...failure,
          type: 'failed',
          code: failure.ambiguous === true ? 'delivery_unknown' : 'attempts_exhausted',
          message: gaveUp(attempt, failure),
        },
      ],
      next: { kind: 'end' },
      ...about,
    }
  }
  if (expiresInMs !== null && delayMs >= expiresInMs) {
    return {
      facts: [
        fact,
        {
          ...failure,
          type: 'failed',
          code: 'expired',
          message: `Expires before the next attempt; the last one: ${said(failure)}`,
        },
      ],
      next: { kind: 'end' },
      ...about,
    }
  }
  return { facts: [fact], next: { kind: 'retry', delayMs, failOver: false, outage }, ...about }
}

function gaveUp(attempt: number, failure: Failure): string {
  return `Gave up after ${attempt} ${attempt === 1 ? 'attempt' : 'attempts'}; the last: ${said(failure)}`
}

function said(failure: Failure): string {
  return failure.message === undefined ? failure.code : `${failure.code}: ${failure.message}`
}
