import type { DeliveryAttempt } from '../ports/storage/webhook-endpoints.ts'
import { ERASED_ADDRESS } from './erased-fact.ts'
import type { NotificationEvent } from './event-payload.ts'
import type { Fact } from './facts.ts'
import type { NotificationContent, NotificationFailure } from './notification.ts'
import { type FactState, failureOf } from './record-facts.ts'
import { removedContent } from './sensitive.ts'
import { withoutMessageIds } from './status.ts'

/** True: the fact names one of the addresses, which have small letters A to Z. */
export function concerns(
  { address, message, providerCode }: Pick<Fact, 'address' | 'message' | 'providerCode'>,
  addresses: readonly string[],
): boolean {
  const texts = [address, message, providerCode].flatMap((text) => text?.toLowerCase() ?? [])
  return addresses.some((one) => texts.some((text) => text.includes(one.toLowerCase())))
}

/**
 * The rest of a content whose addressee is erased.
 *
 * @param at the storage's time, in epoch milliseconds
 *
 * @example
 * const { content } = storedContent(erasedContent({ body: 'Hello, Ada' }, now))
 */
export function erasedContent(content: NotificationContent, at: number): NotificationContent {
  return { ...removedContent(content), erasedAt: at }
}

/** The state of a notification without identity. */
export function erasedState(state: FactState): FactState {
  const { fold, error } = state
  return {
    ...state,
    fold: withoutMessageIds(fold),
    providerMessageId: null,
    error: error === null ? null : erasedFailure(error),
  }
}

function erasedFailure({ code, decidedBy }: NotificationFailure): NotificationFailure {
  return failureOf({ code, decidedBy })
}

/**
 * The body of a webhook event about a notification, without identity.
 *
 * @param payload JSON of a {@link NotificationEvent}
 * @param addresses in small letters: only the texts of its error go, if they name one of these. Absent: all identity goes
 *
 * @example
 * for (const { id, payload } of await query<{ id: number; payload: string }>('SELECT * FROM deliveries'))
 *   await query('UPDATE deliveries SET payload = $1 WHERE id = $2', [erasedPayload(payload), id])
 */
export function erasedPayload(payload: string, addresses?: readonly string[]): string {
  const { event, data }: NotificationEvent = JSON.parse(payload)
  const { error } = data
  if (addresses !== undefined && (error === undefined || !concerns(error, addresses))) return payload
  const { since = undefined } = { ...error } as { readonly since?: string }
  const { recipient: _, metadata: __, ...rest } = data
  return JSON.stringify({
    event,
    data: {
      ...(addresses === undefined ? { ...rest, to: ERASED_ADDRESS } : data),
      ...(error === undefined ? {} : { error: { ...failureOf({ code: error.code }), since } }),
    },
  })
}

/**
 * An entry of the delivery log without the answer, which may echo the event.
 *
 * @param addresses in small letters: the answer goes only if it names one of these. Absent: it always goes
 *
 * @example
 * for (const { id, attempt } of await query<{ id: number; attempt: string }>('SELECT * FROM attempts'))
 *   await query('UPDATE attempts SET attempt = $1 WHERE id = $2', [JSON.stringify(erasedAttempt(JSON.parse(attempt))), id])
 */
export function erasedAttempt(attempt: DeliveryAttempt, addresses?: readonly string[]): DeliveryAttempt {
  const isNamed = addresses === undefined || concerns({ message: attempt.response }, addresses)
  return isNamed ? { ...attempt, response: '' } : attempt
}
