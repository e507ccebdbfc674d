import type { Fact, FactType } from './facts.ts'
import type { NotificationStatus } from './notification.ts'

/**
 * The fold of a notification's facts.
 *
 * It is a join-semilattice: each entry only keeps the larger of two ranks. So the result is the same for every order of
 * the facts, and a repeated fact changes nothing.
 *
 * It has two levels. Within one hand-over the internal rank decides: a bounce after acceptance outranks `delivered`.
 * Across hand-overs the best public status wins. The service's own decisions (cancelled, skipped, given up) rank below
 * any provider's acceptance. A retry opens a new round, in which own facts and failed hand-overs of earlier rounds no
 * longer count.
 */
export interface Fold {
  /** Highest `round * 100 + rank` of the service's own facts. */
  readonly own: number
  /**
   * Per hand-over: the highest `rank` and the highest known `round`. A report that does not identify its hand-over gets
   * its own entry, and is assigned only when the status is read: so it may come before or after the hand-over.
   */
  readonly handovers: Readonly<Record<string, Handover>>
}

/** The state of one hand-over: `[rank, round]`. */
export type Handover = readonly [rank: number, round: number]

const OWN = { scheduled: 0, queued: 10, cancelled: 25, skipped: 27, failed: 35 } as const
const HANDOVER: Partial<Record<FactType, number>> = {
  sent: 30,
  deferred: 30,
  undelivered: 35,
  delivered: 40,
  bounced: 45,
  opened: 50,
  clicked: 60,
}
const ROUND = 100

/** Public status by rank of a hand-over. */
const PUBLIC: Readonly<Record<number, NotificationStatus>> = {
  30: 'sent',
  35: 'failed',
  40: 'delivered',
  45: 'failed',
  50: 'opened',
  60: 'clicked',
}
const ORDER: Readonly<Record<NotificationStatus, number>> = {
  scheduled: 0,
  queued: 0,
  cancelled: 0,
  skipped: 0,
  failed: 1,
  sent: 2,
  delivered: 3,
  opened: 4,
  clicked: 5,
}

/** The fold of a newly accepted notification. */
export function initialFold(status: 'scheduled' | 'queued'): Fold {
  return { own: OWN[status], handovers: {} }
}

/** Separators after a provider's name in a key: before its message id, the attempt's number, or the round. */
const BY = { message: '|', attempt: '#', round: '@' } as const

/**
 * The key of a fact's hand-over: the provider's message id, else the attempt. A report without either concerns the
 * provider's newest hand-over, of which only the round is known.
 */
function handoverKey(fold: Fold, fact: Fact): string {
  const { provider = '', providerMessageId, attempt } = fact
  if (providerMessageId !== undefined) return `${provider}${BY.message}${providerMessageId}`
  if (attempt !== undefined) return `${provider}${BY.attempt}${attempt}`
  return `${provider}${BY.round}${newestRound(fold, provider)}`
}

function newestRound({ handovers }: Fold, provider: string): number {
  let newest = 0
  for (const [key, [, round]] of Object.entries(handovers)) {
    if (providerOf(key) === provider) newest = Math.max(newest, round)
  }
  return newest
}

/** Instance ids contain none of the separators. */
function providerOf(key: string): string {
  return key.slice(0, key.search(/[|#@]/))
}

/**
 * Adds a fact. Returns the same object if it changes nothing.
 *
 * @param round number of retries before this fact, for facts of the service (`sent` included); 0 for receipts, which do
 *   not know it
 */
export function foldFact(fold: Fold, fact: Fact, round = 0): Fold {
  if (fact.machine === true) return fold
  const rank = HANDOVER[fact.type]
  if (rank !== undefined) {
    const key = handoverKey(fold, fact)
    const known = fold.handovers[key]
    const next: Handover =
      known === undefined
        ? [rank, roundIn(key) ?? round]
        : [Math.max(known[0], rank), Math.max(known[1], round)]
    if (known !== undefined && known[0] === next[0] && known[1] === next[1]) return fold
    return { own: fold.own, handovers: { ...fold.handovers, [key]: next } }
  }
  const own = ownRank(fact, round)
  return own > fold.own ? { own, handovers: fold.handovers } : fold
}

/** The round in a key. Undefined: it contains none. */
function roundIn(key: string): number | undefined {
  const at = key.search(/[|#@]/)
  return key[at] === BY.round ? Number(key.slice(at + 1)) : undefined
}

function ownRank(fact: Fact, round: number): number {
  switch (fact.type) {
    case 'cancelled':
      return round * ROUND + OWN.cancelled
    case 'skipped':
      return round * ROUND + OWN.skipped
    case 'failed':
      return round * ROUND + OWN.failed
    case 'retried':
    case 'attempt_failed':
    case 'attempt_ambiguous':
      return round * ROUND + OWN.queued
    default:
      return -1
  }
}

/** Number of retries. */
export function roundOf(fold: Fold): number {
  return Math.floor(fold.own / ROUND)
}

/** The same hand-overs under other keys: a provider may write an address into its id of a message. */
export function withoutMessageIds({ own, handovers }: Fold): Fold {
  const entries = Object.entries(handovers).map(([key, handover], index) => {
    const isMessage = key[key.search(/[|#@]/)] === BY.message
    return [isMessage ? `${providerOf(key)}${BY.message}${index}` : key, handover] as const
  })
  return { own, handovers: Object.fromEntries(entries) }
}

/** The public status of a fold. */
export function statusOf(fold: Fold): NotificationStatus {
  let best: NotificationStatus | undefined
  let failedRound = -1
  for (const [rank, round] of handoversOf(fold)) {
    const status = PUBLIC[rank] ?? 'sent'
    if (status === 'failed') failedRound = Math.max(failedRound, round)
    if (best === undefined || ORDER[status] > ORDER[best]) best = status
  }
  if (best !== undefined && best !== 'failed') return best
  const round = roundOf(fold)
  if (failedRound >= round) return 'failed'
  const own = fold.own % ROUND
  if (own >= OWN.failed) return 'failed'
  if (own >= OWN.skipped) return 'skipped'
  if (own >= OWN.cancelled) return 'cancelled'
  return own >= OWN.queued ? 'queued' : 'scheduled'
}

/** The hand-overs, each with the reports that do not identify one. */
function handoversOf({ handovers }: Fold): readonly Handover[] {
  const entries = Object.entries(handovers)
  const vague = entries.filter(([key]) => roundIn(key) !== undefined)
  if (vague.length === 0) return Object.values(handovers)
  const known = new Map(entries.filter(([key]) => roundIn(key) === undefined))
  for (const [key, [rank, round]] of vague) {
    const meant = leastKnown(known, providerOf(key), round)
    known.set(meant ?? key, [Math.max(rank, known.get(meant ?? '')?.[0] ?? 0), round])
  }
  return [...known.values()]
}

/** The hand-over of a provider in a round with the lowest rank: the newest, as far as known. */
function leastKnown(
  known: ReadonlyMap<string, Handover>,
  provider: string,
  round: number,
): string | undefined {
  let least: readonly [key: string, rank: number] | undefined
  for (const [key, handover] of known) {
    if (providerOf(key) !== provider || handover[1] !== round) continue
    if (least === undefined || handover[0] < least[1]) least = [key, handover[0]]
  }
  return least?.[0]
}
