import type { Fact, FactType } from './facts.ts'
import type { NotificationStatus } from './notification.ts'

/**
 * The fold of a notification's facts.
 *
 * It is a join-semilattice: each slot only ever takes the larger of two ranks. So the result is the same for
 * every order of the facts, and a fact recorded twice changes nothing.
 *
 * Two levels. Within one hand-over to a provider the internal rank decides: a bounce after acceptance outranks
 * `delivered`. Across hand-overs the best public status wins. What we decide ourselves (cancelled, given up)
 * is outranked by any provider's acceptance. A retry opens a new round: our own facts of an earlier round,
 * and failed hand-overs of it, no longer count.
 */
export interface Fold {
  /** Highest `round * 100 + rank` of our own facts. */
  readonly own: number
  /**
   * Per hand-over: the highest `rank` and the highest known `round`. What a provider reports about a notification without
   * saying which hand-over it means has a place of its own, and is told apart only when the status is read: so it does
   * not matter whether it comes before or after the hand-over.
   */
  readonly handovers: Readonly<Record<string, Handover>>
}

/** What is known of one hand-over: `[rank, round]`. */
export type Handover = readonly [rank: number, round: number]

const OWN = { scheduled: 0, queued: 10, cancelled: 25, failed: 35 } as const
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

/** Status by rank of a hand-over; `undelivered` and `bounced` are both `failed` to the public. */
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
  failed: 1,
  sent: 2,
  delivered: 3,
  opened: 4,
  clicked: 5,
}

/** The fold of a notification that was just accepted. */
export function initialFold(status: 'scheduled' | 'queued'): Fold {
  return { own: OWN[status], handovers: {} }
}

/** What stands behind a provider's name in a key: its id for the message, our attempt, or a round of ours. */
const BY = { message: '|', attempt: '#', round: '@' } as const

/**
 * Identifies the hand-over that a fact speaks of: the provider's id for the message, else our attempt. A report with
 * neither speaks of the provider's newest hand-over; of it only the round is known.
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

/** Instance ids hold none of the three separators. */
function providerOf(key: string): string {
  return key.slice(0, key.search(/[|#@]/))
}

/**
 * Adds one fact. Returns the same object when the fact adds nothing.
 *
 * @param round retries before this fact, for facts of our own (`sent` included); receipts pass 0, because they
 *   do not know it.
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

/** The round that a key names; undefined: it names something else. */
function roundIn(key: string): number | undefined {
  const at = key.search(/[|#@]/)
  return key[at] === BY.round ? Number(key.slice(at + 1)) : undefined
}

function ownRank(fact: Fact, round: number): number {
  switch (fact.type) {
    case 'cancelled':
      return round * ROUND + OWN.cancelled
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

/** How many retries the fold has seen. */
export function roundOf(fold: Fold): number {
  return Math.floor(fold.own / ROUND)
}

/** The public status that a fold stands for. */
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
  if (own >= OWN.cancelled) return 'cancelled'
  return own >= OWN.queued ? 'queued' : 'scheduled'
}

/** The hand-overs, each with what was reported without saying which one is meant. */
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

/** Of a provider's hand-overs in one round the one about which least is known: the newest, as far as can be told. */
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
