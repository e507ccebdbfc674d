import type { ErrorCode } from './errors/catalogue.ts'
import { ERRORS } from './errors/catalogue.ts'
import { ANNOUNCED_AS, EVENT_TYPES, type EventType, type Fact } from './facts.ts'
import type { NotificationFailure, NotificationStatus } from './notification.ts'
import { type Fold, foldFact, roundOf, statusOf } from './status.ts'

/** The part of a stored notification that facts change. */
export interface FactState {
  readonly status: NotificationStatus
  readonly fold: Fold
  /** Sequence number of the newest event; 1 is the accept itself. */
  readonly sequence: number
  /** Bit set of the event types announced so far, by index in {@link EVENT_TYPES}. */
  readonly announced: number
  readonly provider: string | null
  readonly providerMessageId: string | null
  readonly error: NotificationFailure | null
}

/** One appended event: a fact with its place in the notification's history. */
export interface RecordedEvent {
  readonly fact: Fact
  /** From 2; rises by one with every event of the notification. */
  readonly sequence: number
  /** The public status after it. */
  readonly status: NotificationStatus
  /** The event type to announce, at the first recording of its kind; else null. */
  readonly announce: EventType | null
}

const bit = (type: EventType): number => 1 << EVENT_TYPES.indexOf(type)
const FAILED = bit('notification.failed')

/**
 * Adds facts to a notification: the one function that every storage calls under the row's lock, so that
 * status, sequence and announcements mean the same everywhere.
 *
 * @param origin `engine` for facts of our own attempts, `receipt` for what providers report later.
 */
export function recordFacts(
  state: FactState,
  facts: readonly Fact[],
  origin: 'engine' | 'receipt',
): { readonly state: FactState; readonly events: readonly RecordedEvent[] } {
  let { fold, sequence, announced, status, provider, providerMessageId, error } = state
  const events: RecordedEvent[] = []
  for (const fact of facts) {
    const round = fact.type === 'redriven' ? roundOf(fold) + 1 : origin === 'engine' ? roundOf(fold) : 0
    fold = foldFact(fold, fact, round)
    status = statusOf(fold)
    sequence += 1
    if (fact.type === 'redriven') announced &= ~FAILED
    if (fact.type === 'sent') {
      provider = fact.provider ?? provider
      providerMessageId = fact.providerMessageId ?? null
    }
    error =
      status === 'failed' ? (fact.code === undefined ? error : failureOf(fact.code, fact.message)) : null
    const type = ANNOUNCED_AS[fact.type]
    const announce = type !== null && (announced & bit(type)) === 0 ? type : null
    if (announce !== null) announced |= bit(announce)
    events.push({ fact, sequence, status, announce })
  }
  return { state: { status, fold, sequence, announced, provider, providerMessageId, error }, events }
}

function failureOf(code: ErrorCode, message: string | undefined): NotificationFailure {
  return { code, message: message ?? ERRORS[code].message }
}
