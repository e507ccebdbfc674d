import { envelopeAddress } from '../channels/mail-parts.ts'
import { entryOf } from '../errors/catalogue.ts'
import { ERASED_ADDRESS, erasedFact } from './erased-fact.ts'
import { EVENT_TYPE_OF, EVENT_TYPES, type EventType, type Fact } from './facts.ts'
import type { NotificationFailure, NotificationStatus } from './notification.ts'
import { type Fold, foldFact, roundOf, statusOf } from './status.ts'

/** The fields of a stored notification that facts change. */
export interface FactState {
  readonly status: NotificationStatus
  readonly fold: Fold
  /** Sequence number of the newest event; 1 is the accept. */
  readonly sequence: number
  /** Bit set of the published event types, by index in {@link EVENT_TYPES}. */
  readonly published: number
  readonly provider: string | null
  readonly providerMessageId: string | null
  readonly error: NotificationFailure | null
}

/** A recorded fact with its place in the history. */
export interface RecordedEvent {
  readonly fact: Fact
  /** From 2; rises by one with every event of the notification. */
  readonly sequence: number
  /** The public status after the event. */
  readonly status: NotificationStatus
  /** The event type to publish, at the first recording of the type. Null: none. */
  readonly eventType: EventType | null
}

const bit = (type: EventType): number => 1 << EVENT_TYPES.indexOf(type)
const UNSENT: readonly string[] = ['skipped', 'cancelled']
const FAILED = bit('notification.failed')

/**
 * Adds facts to a notification. Every storage calls this function under a lock, so that status, sequence and published
 * events are the same everywhere. The facts to store are those of the returned events.
 *
 * @param origin `engine` for facts of attempts, `receipt` for reports of providers
 * @param to the notification's address: a report about another address changes no status. {@link ERASED_ADDRESS}: the
 *   returned facts name no person
 *
 * @example
 * const before = toFactState(accepted, columns)
 * const { state, events } = recordFacts(before, facts, 'engine', 'ada@example.com')
 * const changed = factColumns(state)
 */
export function recordFacts(
  state: FactState,
  facts: readonly Fact[],
  origin: 'engine' | 'receipt',
  to: string,
): { readonly state: FactState; readonly events: readonly RecordedEvent[] } {
  let current = state
  const events: RecordedEvent[] = []
  for (const given of facts) {
    const reported = origin === 'receipt' ? asReported(given, to) : given
    const fact = to === ERASED_ADDRESS ? erasedFact(reported) : reported
    const { next, eventType } = recordFact(current, fact, origin)
    current = next
    events.push({ fact, sequence: next.sequence, status: next.status, eventType })
  }
  return { state: current, events }
}

/** A report about a copy is only logged; `suppress` still concerns its address. */
function asReported(fact: Fact, to: string): Fact {
  return otherAddress(fact, to) === null ? fact : { ...fact, type: 'reported' }
}

/** The address that a fact is about, if it is not the notification's. Null: it is. */
export function otherAddress({ address }: Fact, to: string): string | null {
  return address === undefined || plain(address) === plain(to) ? null : address
}

/**
 * The address with which a provider's report is recorded: the notification's. A report about another one that is not among
 * its copies may be about a copy that was erased: {@link ERASED_ADDRESS}.
 *
 * @param copies as accepted, without erased ones; read only for a report about another address
 *
 * @example
 * for (const fact of facts) {
 *   const to = reportedTo(fact, notification.to, () => ['bob@example.com'])
 *   const { events } = recordFacts(state, [fact], 'receipt', to)
 * }
 */
export function reportedTo(fact: Fact, to: string, copies: () => readonly string[]): string {
  const other = otherAddress(fact, to)
  if (other === null) return to
  return copies().some((copy) => plain(copy) === plain(other)) ? to : ERASED_ADDRESS
}

/** Providers report the domain of a mail's recipient in punycode. */
function plain(address: string): string {
  const ascii = /[^\0-\x7f]/.test(address) ? (envelopeAddress(address) ?? address) : address
  return ascii.trim().toLowerCase()
}

function recordFact(
  state: FactState,
  fact: Fact,
  origin: 'engine' | 'receipt',
): { readonly next: FactState; readonly eventType: EventType | null } {
  const fold = foldFact(state.fold, fact, roundFor(state.fold, fact, origin))
  const status = statusOf(fold)
  // After a retry the notification may fail, and publish that, once more.
  const published = fact.type === 'retried' ? state.published & ~FAILED : state.published
  const type = fact.machine === true ? null : EVENT_TYPE_OF[fact.type]
  const eventType = type !== null && (published & bit(type)) === 0 ? type : null
  const sent = fact.type === 'sent'
  // For a final failure, filters ask for the provider of the last attempt.
  const failedAt = fact.type === 'failed' && status === 'failed' ? fact.provider : undefined
  const provider = sent || failedAt !== undefined ? (fact.provider ?? state.provider) : state.provider
  const messageId = provider === state.provider ? state.providerMessageId : null
  return {
    eventType,
    next: {
      status,
      fold,
      sequence: state.sequence + 1,
      published: eventType === null ? published : published | bit(eventType),
      provider,
      providerMessageId: sent ? (fact.providerMessageId ?? null) : messageId,
      error: errorAfter(state, fact, status, fold !== state.fold),
    },
  }
}

function roundFor(fold: Fold, fact: Fact, origin: 'engine' | 'receipt'): number {
  if (fact.type === 'retried') return roundOf(fold) + 1
  return origin === 'engine' ? roundOf(fold) : 0
}

/** The reason for an end; during a wait for another attempt, the failure of the last one. A cancellation may have none. */
function errorAfter(
  before: FactState,
  fact: Fact,
  status: NotificationStatus,
  decided: boolean,
): NotificationFailure | null {
  const { code, type, notSent } = fact
  const hadFailed = before.status === 'failed'
  if (status === 'failed') {
    // Only a fact that changes the fold changes the reason; a lesser or repeated one keeps it.
    const stays = hadFailed && (!decided || code === undefined) ? before.error : null
    return stays ?? failureOf(fact)
  }
  if (UNSENT.includes(status)) return type === status && decided ? whyUnsent(fact) : before.error
  if (status !== 'queued') return null
  const tried = (type === 'attempt_failed' || type === 'attempt_ambiguous') && notSent !== true
  if (tried) return failureOf(fact)
  return hadFailed ? null : before.error
}

/** Null: it was cancelled before anything could have gone. */
const whyUnsent = (fact: Fact): NotificationFailure | null =>
  fact.type === 'cancelled' && fact.code === undefined ? null : failureOf(fact)

/** The failure of a fact, or why it was skipped; a provider may report one without a known code. */
export function failureOf({
  code = 'provider_error',
  message = entryOf(code).message,
  providerCode,
  decidedBy,
}: Pick<Fact, 'code' | 'message' | 'providerCode' | 'decidedBy'>): NotificationFailure {
  return { code, message, ...known('providerCode', providerCode), ...known('decidedBy', decidedBy) }
}

function known(name: 'providerCode' | 'decidedBy', text: string | undefined): Partial<NotificationFailure> {
  return text === undefined ? {} : { [name]: text }
}
