/** What a provider does with one attempt. */
export type Act = 'accept' | 'deliver' | 'reject' | 'retry' | 'ambiguous'
export type Report = 'delivered' | 'bounced' | 'opened' | 'clicked' | 'deferred' | 'complained'

/** Delays before the second and third attempt: without jitter, so that the model knows when they are. */
export const DELAYS_MS = [1_000, 60_000]
export const LEASE_MS = 60_000
const MAX_ATTEMPTS = DELAYS_MS.length + 1
export const KEY_MS = 24 * 3_600_000

/** What is known of one notification, by the rules of docs/understand/delivery-semantics.md and nothing else. */
export interface ModelNotification {
  readonly to: string
  readonly acts: readonly Act[]
  readonly expiresAt: number | null
  readonly log: string[]
  readonly published: string[]
  attempts: number
  handOvers: number
  /** Null: it has no job. */
  dueAt: number | null
  /** Its last attempt ended with its process. */
  recovered: boolean
  /** Retries so far, and the attempts before the last one. */
  round: number
  earlier: number
  /** The best that we ourselves decided in this round. */
  own: 'scheduled' | 'queued' | 'cancelled' | 'failed'
  readonly messages: Map<string, { rank: number; round: number }>
  /** Messages that we know to have been sent. */
  readonly sent: Set<string>
  readonly early: { readonly type: Report; readonly message: string }[]
  readonly failures: Set<string>
}

/** A simple model of the whole service: lists and times. */
export interface Model {
  now: number
  readonly notifications: ModelNotification[]
  readonly suppressed: Set<string>
  readonly keys: Map<string, { readonly body: string; readonly index: number; readonly until: number }>
  readonly receipts: Set<string>
}

export const newModel = (now: number): Model => ({
  now,
  notifications: [],
  suppressed: new Set(),
  keys: new Map(),
  receipts: new Set(),
})

const RANK: Readonly<Record<string, number>> = {
  sent: 30,
  deferred: 30,
  delivered: 40,
  bounced: 45,
  opened: 50,
  clicked: 60,
}
const BEST = ['failed', 'sent', 'delivered', 'opened', 'clicked'] as const
const SHOWN: Readonly<Record<number, (typeof BEST)[number]>> = {
  30: 'sent',
  40: 'delivered',
  45: 'failed',
  50: 'opened',
  60: 'clicked',
}
const EVENT_OF: Readonly<Record<string, string>> = { bounced: 'failed' }
const SILENT = new Set(['attempt_failed', 'attempt_ambiguous', 'retried', 'rescheduled'])

export function statusOf(one: ModelNotification): string {
  const shown = [...one.messages.values()].map(({ rank, round }) => ({
    status: SHOWN[rank] ?? 'sent',
    round,
  }))
  const best = Math.max(-1, ...shown.map(({ status }) => BEST.indexOf(status)))
  if (best > 0) return BEST[best] ?? ''
  if (shown.some(({ status, round }) => status === 'failed' && round >= one.round)) return 'failed'
  return one.own
}

/** Writes one fact down. */
function note(one: ModelNotification, type: string, message?: string, round = 0): void {
  const rank = RANK[type]
  if (rank !== undefined && message !== undefined) {
    const known = one.messages.get(message) ?? { rank: 0, round: 0 }
    one.messages.set(message, { rank: Math.max(known.rank, rank), round: Math.max(known.round, round) })
  }
  if (type === 'retried') {
    one.round += 1
    one.own = 'queued'
    one.failures.clear()
  }
  if (type === 'cancelled' || type === 'failed') one.own = type
  else if (type.startsWith('attempt_') && one.own === 'scheduled') one.own = 'queued'
  one.log.push(`${type} ${statusOf(one)}`)
  const event = EVENT_OF[type] ?? type
  if (SILENT.has(type)) return
  const before = event === 'failed' ? one.failures.has(event) : one.published.includes(event)
  if (before) return
  one.published.push(event)
  if (event === 'failed') one.failures.add(event)
}

/** Lets everything happen that is due until `until`, in its order. */
export function pass(model: Model, until: number): void {
  for (;;) {
    let first: ModelNotification | undefined
    for (const one of model.notifications) {
      if (one.dueAt === null || one.dueAt > until) continue
      if (first?.dueAt == null || one.dueAt < first.dueAt) first = one
    }
    if (first === undefined) break
    model.now = Math.max(model.now, first.dueAt ?? 0)
    attempt(model, first)
  }
  model.now = Math.max(model.now, until)
}

function end(one: ModelNotification, ...types: string[]): undefined {
  one.dueAt = null
  one.recovered = false
  for (const type of types) note(one, type)
}

function attempt(model: Model, one: ModelNotification): undefined {
  if (one.recovered) {
    note(one, 'attempt_ambiguous')
    if (one.attempts - one.earlier >= MAX_ATTEMPTS) return end(one, 'failed')
  }
  if (one.expiresAt !== null && one.expiresAt <= model.now) return end(one, 'failed')
  if (model.suppressed.has(one.to)) return end(one, 'failed')
  one.attempts += 1
  one.handOvers += 1
  const act = one.acts[Math.min(one.attempts, one.acts.length) - 1]
  if (act === 'reject') return end(one, 'failed')
  if (act === 'accept' || act === 'deliver') {
    const message = String(one.attempts)
    one.sent.add(message)
    note(one, 'sent', message, one.round)
    if (act === 'deliver') note(one, 'delivered', message, one.round)
    for (const report of one.early.filter((early) => early.message === message)) {
      note(one, report.type, message)
    }
    return end(one)
  }
  const failed = act === 'ambiguous' ? 'attempt_ambiguous' : 'attempt_failed'
  const delay = DELAYS_MS[one.attempts - one.earlier - 1]
  const late = delay !== undefined && one.expiresAt !== null && delay >= one.expiresAt - model.now
  if (delay === undefined || late) return end(one, failed, 'failed')
  note(one, failed)
  one.recovered = false
  one.dueAt = model.now + delay
}

export function accept(
  model: Model,
  about: {
    readonly to: string
    readonly acts: readonly Act[]
    readonly sendAt: number | null
    readonly expiresAt: number | null
  },
): ModelNotification {
  const later = about.sendAt !== null && about.sendAt > model.now
  const one: ModelNotification = {
    ...about,
    log: [later ? 'scheduled scheduled' : 'queued queued'],
    published: [],
    attempts: 0,
    handOvers: 0,
    dueAt: later ? about.sendAt : model.now,
    recovered: false,
    round: 0,
    earlier: 0,
    own: later ? 'scheduled' : 'queued',
    messages: new Map(),
    sent: new Set(),
    early: [],
    failures: new Set(),
  }
  model.notifications.push(one)
  return one
}

/** The process dies while the provider has the message: the lease ends, and another process goes on. */
export function cutShort(model: Model, one: ModelNotification): void {
  one.attempts += 1
  one.handOvers += 1
  one.recovered = true
  one.dueAt = model.now + LEASE_MS
}

/** True: it was cancelled. */
export function cancel(one: ModelNotification): boolean {
  // The attempt that was cut short holds it until its lease ends.
  if (one.dueAt === null || one.recovered) return false
  end(one, 'cancelled')
  return true
}

/** Why it keeps its time. Null: it has the new one. */
export function reschedule(model: Model, one: ModelNotification, sendAt: number | null): string | null {
  const dueAt = Math.max(sendAt ?? model.now, model.now)
  if (one.expiresAt !== null && one.expiresAt <= model.now) return 'not_reschedulable'
  if (one.expiresAt !== null && one.expiresAt <= dueAt) return 'invalid_parameter'
  if (statusOf(one) !== 'scheduled' || one.attempts > 0) return 'not_reschedulable'
  one.dueAt = dueAt
  note(one, 'rescheduled')
  return null
}

/** True: it was taken up again. */
export function retry(model: Model, one: ModelNotification): boolean {
  if (statusOf(one) !== 'failed' || one.dueAt !== null) return false
  if (one.expiresAt !== null && one.expiresAt <= model.now) return false
  note(one, 'retried')
  one.earlier = one.attempts
  one.dueAt = model.now
  return true
}

/** @param named it carries our own id, so that it needs no hand-over to be known */
export function report(
  model: Model,
  one: ModelNotification,
  about: { readonly type: Report; readonly message: string; readonly key: string; readonly named: boolean },
): void {
  if (model.receipts.has(about.key)) return
  model.receipts.add(about.key)
  if (about.named || one.sent.has(about.message)) note(one, about.type, about.message)
  else one.early.push(about)
}
