import type { SendContext } from '../../ports/provider.ts'
import type { RunInSlices } from '../processor.ts'
import { type Stop, untilStopped } from './stop.ts'

const STOP = Symbol('stop')

/** One for all contexts: an accessor of each object's own costs ten times as much. */
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

/** What a channel is told of one attempt. Its signal is made for a channel that looks at it. */
export function createAttemptContext(about: AboutAttempt, stop: Stop): SendContext {
  const { notificationId, organizationId, attempt, idempotencyKey, createdAt, logger } = about
  const context: Omit<SendContext, 'signal'> = {
    notificationId,
    organizationId,
    attempt,
    idempotencyKey,
    createdAt,
    logger,
    runInSlices: (steps) => about.share(untilStopped(steps, stop)),
  }
  Object.defineProperty(context, STOP, { value: stop })
  return Object.defineProperty(context, 'signal', SIGNAL) as SendContext
}

/**
 * A retry is a new try that somebody asked for. A provider that deduplicates would answer the key of the tries before it
 * as it did then, and send nothing: after a mail that came back, that is a message lost.
 *
 * @param earlierAttempts those before the last retry
 */
export function idempotencyKeyOf(notificationId: string, earlierAttempts: number): string {
  return earlierAttempts === 0 ? notificationId : `${notificationId}-${earlierAttempts}`
}
