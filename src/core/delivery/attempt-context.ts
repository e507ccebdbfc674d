import type { RunInSlices } from '../loop/processor.ts'
import type { SendContext } from '../ports/provider.ts'
import { type Stop, untilStopped } from './stop.ts'

const STOP = Symbol('stop')

/** One for all contexts: an accessor per object costs ten times as much. */
const SIGNAL = {
  configurable: true,
  enumerable: true,
  get(this: { readonly [STOP]: Stop }): AbortSignal {
    return this[STOP].signal()
  },
}

export interface AboutAttempt extends Omit<SendContext, 'signal' | 'runInSlices'> {
  readonly share: RunInSlices
}

/** The context of an attempt. The signal is created when a provider first reads it. */
export function createAttemptContext(about: AboutAttempt, stop: Stop): SendContext {
  const { notificationId, organizationId, attempt, idempotencyKey, createdAt, expiresInMs, logger } = about
  const context: Omit<SendContext, 'signal'> = {
    notificationId,
    organizationId,
    attempt,
    idempotencyKey,
    createdAt,
    expiresInMs,
    logger,
    runInSlices: (steps) => about.share(untilStopped(steps, stop)),
  }
  Object.defineProperty(context, STOP, { value: stop })
  return Object.defineProperty(context, 'signal', SIGNAL) as SendContext
}

/**
 * A retry needs a new key: a provider that deduplicates would answer the old key as before and send nothing, and a
 * bounced mail would be lost.
 *
 * @param earlierAttempts number of attempts before the last retry
 */
export function idempotencyKeyOf(notificationId: string, earlierAttempts: number): string {
  return earlierAttempts === 0 ? notificationId : `${notificationId}-${earlierAttempts}`
}
