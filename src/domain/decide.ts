import type { ErrorCode } from './errors/catalogue.ts'
import type { Fact } from './facts.ts'
import type { Outcome, Rejected } from './outcome.ts'
import { maxAttempts, maxOutageAttempts, type RetryPolicy, retryDelay } from './retry.ts'
import type { SuppressionReason } from './suppression.ts'

/** What the engine knows when an attempt has ended. */
export interface AttemptContext {
  /** Whether the channel's refused recipients stay refused. */
  readonly suppressesRefused: boolean
  /** From 1; of all attempts, whosever fault they met. */
  readonly attempt: number
  /** How many of the attempts before this one met a fault of the provider. */
  readonly outages: number
  /** How many were before the notification was retried: they no longer count. Default 0. */
  readonly earlierAttempts?: number | undefined
  /** Instance id of the provider that was asked. */
  readonly provider: string
  /** True when another provider of the lane has not been asked since the last delay and is not paused. */
  readonly hasNextProvider: boolean
  readonly policy: RetryPolicy
  /** Whether an ambiguous outcome is tried again, or ends as `delivery_unknown`. */
  readonly onAmbiguous: 'retry' | 'fail'
  /** Milliseconds left until the notification expires; null: never. */
  readonly expiresInMs: number | null
  /** In [0, 1). */
  readonly random: number
  readonly durationMs: number
  /** Of a text message. */
  readonly segments?: number | undefined
}

/** What follows from an attempt. */
export interface Decision {
  readonly facts: readonly Fact[]
  /** `end`: the job is done. `retry`: due again after `delayMs`; 0 with `failOver`: another provider at once. */
  readonly next:
    | { readonly kind: 'end' }
    | {
        readonly kind: 'retry'
        readonly delayMs: number
        readonly failOver: boolean
        /** The attempt met a fault of the provider: it is counted apart, and uses the message up no further. */
        readonly outage: boolean
      }
  /** What the outcome says about the provider itself; `unknown`: it gave no answer. */
  readonly provider: 'works' | 'faulty' | 'unknown'
  /** How long a faulty provider instance should rest, instead of burning other messages' attempts, if that is known. */
  readonly pauseMs: number | null
}

/**
 * How long a provider is paused after it refused us (credentials, account): somebody has to act.
 *
 * @internal
 */
export const DEFAULT_PAUSE_MS = 30_000

/**
 * Decides what follows from an outcome: recipient and message faults end the notification and
 * never fail over; account and provider faults fail over, and pause that provider; an ambiguous outcome follows
 * the channel's policy and is marked.
 */
export function decide(outcome: Outcome, context: AttemptContext): Decision {
  const { attempt, provider, durationMs } = context
  const about = { attempt, provider, durationMs }
  switch (outcome.kind) {
    case 'accepted': {
      const handedOver = { ...about, providerMessageId: outcome.providerMessageId }
      const facts: Fact[] = [{ type: 'sent', ...handedOver, segments: context.segments }]
      if (outcome.status === 'delivered') facts.push({ type: 'delivered', ...handedOver })
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
      const providersFault = outcome.scope === 'account' || outcome.scope === 'provider'
      return again(failure, context, {
        provider: providersFault ? 'faulty' : 'works',
        hintMs: outcome.retryAfterMs,
        pauseMs: providersFault ? (outcome.retryAfterMs ?? null) : null,
      })
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
      // The same provider again: only there can its own deduplication or our stable message id help.
      return again(failure, context, { provider: 'unknown', hintMs: undefined, pauseMs: null })
    }
  }
}

/**
 * What a refused recipient is suppressed for. A mailbox that does not exist stays so; of a phone number or a device that
 * is not known the operator, or the device itself, may think otherwise tomorrow.
 */
function suppressionFor(
  code: ErrorCode,
  { suppressesRefused }: AttemptContext,
): SuppressionReason | undefined {
  if (code === 'unsubscribed') return 'unsubscribe'
  return suppressesRefused && code === 'invalid_recipient' ? 'hard_bounce' : undefined
}

function refused(
  outcome: Rejected,
  about: Pick<Fact, 'attempt' | 'provider' | 'durationMs'>,
  context: AttemptContext,
): Decision {
  const { code, message, providerCode, scope } = outcome
  const failure = { ...about, code, message, providerCode }
  if (scope === 'account' || scope === 'provider') {
    return again(failure, context, { provider: 'faulty', hintMs: undefined, pauseMs: DEFAULT_PAUSE_MS })
  }
  const suppress = scope === 'recipient' ? suppressionFor(code, context) : undefined
  const failed: Fact = { type: 'failed', ...failure, occurredAt: outcome.since }
  const facts = [suppress === undefined ? failed : { ...failed, suppress }]
  return { facts, next: { kind: 'end' }, provider: 'works', pauseMs: null }
}

type Failure = Omit<Fact, 'type'> & { readonly code: ErrorCode }

function again(
  failure: Failure,
  context: AttemptContext,
  how: Pick<Decision, 'provider' | 'pauseMs'> & { readonly hintMs: number | undefined },
): Decision {
  const { attempt, outages, earlierAttempts = 0, policy, random, expiresInMs, hasNextProvider } = context
  const fact: Fact = { type: failure.ambiguous === true ? 'attempt_ambiguous' : 'attempt_failed', ...failure }
  const outage = how.provider === 'faulty'
  // Each kind has its own count: an outage leaves a message the attempts that are its own.
  const count = outage ? outages + 1 : attempt - earlierAttempts - outages
  const last = count >= (outage ? maxOutageAttempts(policy) : maxAttempts(policy))
  const about = { provider: how.provider, pauseMs: how.pauseMs }
  if (outage && hasNextProvider && !last) {
    return { facts: [fact], next: { kind: 'retry', delayMs: 0, failOver: true, outage }, ...about }
  }
  // In a long outage a message waits for its provider at the longest delay.
  const delayMs = last
    ? null
    : retryDelay(policy, Math.min(count, maxAttempts(policy) - 1), random, how.hintMs)
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
