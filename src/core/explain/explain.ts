import { askedAbout } from '../accept/apply-verdicts.ts'
import type { Examinations } from '../accept/examination.ts'
import type { SendInput } from '../accept/input.ts'
import type { Group } from '../accept/prepare.ts'
import type { ProviderRegistry } from '../channels/provider-registry.ts'
import type { ProviderHealth } from '../delivery/model.ts'
import { isNotifierError, type NotifierError } from '../errors/notifier-error.ts'
import type { Asked, NamedJudge, Verdict } from '../gate/verdict.ts'
import type { Notifications } from '../notification/api.ts'
import type { CategorySource } from '../notification/category-source.ts'
import type { NotificationRecord, TimelineRecord, WaitingRecord } from '../notification/model.ts'
import type { NewNotification } from '../notification/notification.ts'
import { pausedOf } from '../notification/waiting.ts'
import type { Clock } from '../ports/clock.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import type { Explanations, NotificationExplanations } from './api.ts'
import type { ExplainedGate, Explanation } from './model.ts'

/** Dependencies of explanations. */
export interface ExplainServices {
  readonly storage: Pick<Storage, 'records'>
  readonly notifications: PerTenant<Pick<Notifications, 'get'>>
  readonly accept: Examinations
  /** In the order in which they are asked. */
  readonly judges: readonly NamedJudge[]
  readonly categories: Pick<CategorySource, 'ofStored'>
  readonly registry: Pick<ProviderRegistry, 'kinds' | 'of' | 'warm'>
  readonly clock: Pick<Clock, 'now'>
  providers(): readonly ProviderHealth[]
}

const PASSED = { result: 'passed', until: null, code: null, decidedBy: null, message: null } as const
const NOW = { basis: 'now', at: null } as const
const NO_ADDRESS: ExplainedGate = {
  gate: 'address',
  ...NOW,
  ...PASSED,
  result: 'skipped',
  code: 'no_address',
  message: 'The recipient has no address on this channel.',
}

export function createExplain(services: ExplainServices): {
  readonly message: PerTenant<Explanations>
  readonly notification: PerTenant<NotificationExplanations>
} {
  const { storage, notifications, accept, judges, categories, registry, clock } = services

  /**
   * What each judge says now about messages, each for its time. All in one question, as the gate asks: judges share look-ups and
   * the turns of the event loop among the messages of a question.
   */
  async function judged(asked: readonly Asked[]): Promise<readonly ExplainedGate[][]> {
    if (asked.length === 0) return []
    const context = { records: storage.records, inside: false }
    const answers = await Promise.all(
      judges.map(async ({ name, judge }): Promise<(one: Asked, at: number) => ExplainedGate> => {
        try {
          const verdicts = await judge(asked, context)
          return ({ at: time }, at) => {
            const verdict = verdicts[at]
            return verdict === undefined ? unknown(name, null) : ofVerdict(name, verdict, time)
          }
        } catch (error) {
          return () => unknown(name, error)
        }
      }),
    )
    return asked.map((one, at) => answers.map((answer) => answer(one, at)))
  }

  async function askedOf(
    organizationId: string,
    one: Pick<NewNotification, 'channel' | 'to' | 'recipient' | 'metadata' | 'category' | 'sendAt'>,
  ): Promise<Asked> {
    const category = await categories.ofStored(organizationId, one.category ?? null)
    return askedAbout(organizationId, registry.kinds.of(one.channel), one, category, clock.now())
  }

  /** Whether each of a group may go to its address, if it has one. */
  async function ofAddresses(organizationId: string, group: Group): Promise<readonly ExplainedGate[][]> {
    const [{ to }] = group
    if (to === '') return [[NO_ADDRESS]]
    return judged(await Promise.all(group.map((one) => askedOf(organizationId, one))))
  }

  async function ofProviders(organizationId: string, channel: string): Promise<ExplainedGate> {
    await registry.warm(channel, organizationId)
    const paused = pausedOf({ channel, organizationId }, services)
    return paused === null
      ? { gate: 'providers', ...NOW, ...PASSED }
      : { ...waiting('providers', paused), ...NOW }
  }

  async function ofMessage(
    organizationId: string,
    one: NewNotification,
    limited: NotifierError | null,
    judged: readonly ExplainedGate[],
  ): Promise<Explanation> {
    const { channel, to, sendAt, expiresAt } = one
    const now = clock.now()
    const before: ExplainedGate[] = [
      { gate: 'message', ...NOW, ...PASSED },
      limited === null ? { gate: 'limits', ...NOW, ...PASSED } : refused('limits', limited),
      ...judged,
      ...ofSchedule(sendAt, now, NOW),
    ]
    const providers = await ofProviders(organizationId, channel)
    const gates = [...before, ...ofExpiry(expiresAt, [...before, providers], now), providers]
    return explanation({ id: null, status: null, channel, to: to === '' ? null : to }, gates)
  }

  /** The gates before the first attempt: those that decided as recorded, the others as they would now. */
  async function beforeAttempts(
    organizationId: string,
    record: NotificationRecord,
  ): Promise<ExplainedGate[]> {
    const { timeline, to, createdAt, status } = record
    const accepted = { basis: 'recorded', at: createdAt } as const
    const before: ExplainedGate[] = [
      { gate: 'message', ...accepted, ...PASSED },
      { gate: 'limits', ...accepted, ...PASSED },
    ]
    if (to === '') return before
    const handedOver = timeline.find(({ attempt }) => attempt !== null)
    const decided = timeline.findLast(
      ({ event, attempt }) => (event === 'skipped' || event === 'failed') && attempt === null,
    )
    const delayed = timeline.findLast(({ event }) => event === 'delayed')
    const planned = { ...record, sendAt: timeOf(record.sendAt) }
    const [now = []] = await judged([await askedOf(organizationId, planned)])
    const at = decided === undefined ? -1 : now.findIndex(({ gate }) => hasDecided(gate, decided, now))
    const judges = now.map((gate, index): ExplainedGate => {
      if (decided !== undefined && index === at) return recorded(gate.gate, decided)
      if (status !== 'queued' && status !== 'scheduled') {
        const passedAt = handedOver?.timestamp ?? createdAt
        return { gate: gate.gate, basis: 'recorded', at: passedAt, ...PASSED }
      }
      if (gate.result === 'waits' && delayed !== undefined)
        return { ...gate, basis: 'recorded', at: delayed.timestamp }
      return gate
    })
    return [...before, ...judges]
  }

  return {
    message: {
      async explain(organizationId, message, options) {
        try {
          const { group, limited } = await accept.examine(organizationId, message, options)
          const addresses = await ofAddresses(organizationId, group)
          return await Promise.all(
            group.map((one, at) => ofMessage(organizationId, one, limited, addresses[at] ?? [])),
          )
        } catch (error) {
          if (!isNotifierError(error) || !isAboutMessage(error)) throw error
          return [explanation({ id: null, status: null, ...namedIn(message) }, [refused('message', error)])]
        }
      },
    },
    notification: {
      async explain(organizationId, id) {
        const record = await notifications.get(organizationId, id)
        const { channel, to, status, sendAt, expiresAt, waiting: waits, createdAt } = record
        const isOpen = status === 'queued' || status === 'scheduled'
        const judged = await beforeAttempts(organizationId, record)
        const now = clock.now()
        const before = [...judged, ...ofSchedule(timeOf(sendAt), now, { basis: 'recorded', at: createdAt })]
        const after = [
          ...(isOpen ? [await ofProviders(organizationId, channel)] : []),
          ...ofAttempts(record, waits),
        ]
        const expiry = isOpen ? ofExpiry(timeOf(expiresAt), [...before, ...after], now) : []
        const gates = [...before, ...expiry, ...after, ...ofEnd(record, judged)]
        return explanation({ id, status, channel, to: to === '' ? null : to }, gates)
      },
    },
  }
}

/** False: the message has the wrong form, there is no organization, or the service is away. */
function isAboutMessage({ status, code }: NotifierError): boolean {
  return status !== 400 && status < 500 && code !== 'not_found'
}

const ENDED: ReadonlySet<string> = new Set(['failed', 'skipped', 'cancelled'])

function explanation(
  about: Pick<Explanation, 'id' | 'status' | 'channel' | 'to'>,
  gates: readonly ExplainedGate[],
): Explanation {
  const { status } = about
  const isOpen = status === null || status === 'queued' || status === 'scheduled'
  const stops = gates.filter(({ result }) => result !== 'passed')
  // Of what ended, the last decides, unless it went.
  const last = status !== null && ENDED.has(status) ? stops.at(-1) : undefined
  const decides = isOpen ? strongest(stops) : last
  return { ...about, decidedBy: decides?.gate ?? null, gates }
}

/** As the gate decides: the first that is no wait, else the latest wait. Undefined: none stops it. */
function strongest(stops: readonly ExplainedGate[]): ExplainedGate | undefined {
  return stops.find(({ result }) => result !== 'waits') ?? latest(stops)
}

/** The one that waits longest. Undefined: there is none. */
function latest(waits: readonly ExplainedGate[]): ExplainedGate | undefined {
  return waits.reduce<ExplainedGate | undefined>(
    (one, other) => ((other.until ?? '') > (one?.until ?? '') ? other : (one ?? other)),
    undefined,
  )
}

/** @param at the time for which it was asked */
function ofVerdict(gate: string, verdict: Verdict, at: number): ExplainedGate {
  switch (verdict.kind) {
    case 'go':
      return { gate, ...NOW, ...PASSED }
    case 'refuse':
      return refused(gate, verdict.error)
    case 'skip': {
      const { decidedBy, message } = verdict
      return { gate, ...NOW, ...PASSED, result: 'skipped', code: 'opted_out', decidedBy, message }
    }
    case 'wait':
      if (verdict.until <= at) return { gate, ...NOW, ...PASSED }
      return {
        gate,
        ...NOW,
        ...PASSED,
        result: 'waits',
        until: isoOf(verdict.until),
        message: verdict.reason,
      }
  }
}

function refused(gate: string, { code, message }: NotifierError): ExplainedGate {
  return { gate, ...NOW, ...PASSED, result: 'refused', code, message }
}

function unknown(gate: string, error: unknown): ExplainedGate {
  const message = isNotifierError(error) ? error.message : 'It could not be found out.'
  return { gate, ...NOW, ...PASSED, result: 'unknown', code: 'service_unavailable', message }
}

function waiting(gate: string, { until, code, message, reason }: WaitingRecord): ExplainedGate {
  return { gate, ...NOW, ...PASSED, result: 'waits', until, code, message: message ?? reason }
}

/** The entry of a history in which a gate ended the message. */
function recorded(gate: string, { event, timestamp, error, message }: TimelineRecord): ExplainedGate {
  return {
    gate,
    basis: 'recorded',
    at: timestamp,
    ...PASSED,
    result: event === 'skipped' ? 'skipped' : 'refused',
    code: error?.code ?? null,
    decidedBy: error?.decidedBy ?? null,
    message: error?.message ?? message,
  }
}

/** Whether a judge ended a message: by the name in its reason, or because it would say the same now. */
function hasDecided(gate: string, { error }: TimelineRecord, now: readonly ExplainedGate[]): boolean {
  if (error === null) return false
  const { code, decidedBy = '' } = error
  const named = now.find((one) => decidedBy.startsWith(`${one.gate}.`) || code.startsWith(`${one.gate}.`))
  if (named !== undefined) return named.gate === gate
  return gate === CODES[code]
}

/** The built-in judges by the codes of what they end. */
const CODES: Readonly<Record<string, string>> = {
  region_not_permitted: 'regions',
  blocked_recipient: 'suppressions',
  unsubscribed: 'suppressions',
  opted_out: 'preferences',
}

function ofSchedule(
  sendAt: number | null,
  now: number,
  basis: Pick<ExplainedGate, 'basis' | 'at'>,
): ExplainedGate[] {
  if (sendAt === null) return []
  if (sendAt <= now) return [{ gate: 'schedule', ...basis, ...PASSED }]
  return [{ gate: 'schedule', ...basis, ...PASSED, result: 'waits', until: isoOf(sendAt) }]
}

/** Whether it expires before the last of other gates lets it go. */
function ofExpiry(expiresAt: number | null, others: readonly ExplainedGate[], now: number): ExplainedGate[] {
  if (expiresAt === null) return []
  const last = latest(others.filter(({ result }) => result === 'waits'))
  const until = Math.max(now, timeOf(last?.until ?? null) ?? 0)
  if (expiresAt > until) return []
  const end = until > now ? `"${last?.gate}" lets it go at ${isoOf(until)}` : 'it may go'
  const message = `It expires at ${isoOf(expiresAt)}, before ${end}.`
  return [{ gate: 'expiry', ...NOW, ...PASSED, result: 'failed', code: 'expired', message }]
}

/** What ended it, unless one of these gates did. */
function ofEnd({ timeline, status }: NotificationRecord, gates: readonly ExplainedGate[]): ExplainedGate[] {
  if (!ENDED.has(status) || gates.some(({ result }) => result !== 'passed')) return []
  const end = timeline.findLast(({ event }) => ENDS.has(event))
  if (end === undefined) return []
  const code = end.error?.code ?? ''
  const gate = recorded(GATES[code] ?? 'delivery', end)
  return [{ ...gate, result: gate.result === 'skipped' ? 'skipped' : 'failed' }]
}

const ENDS: ReadonlySet<string> = new Set(['failed', 'skipped', 'cancelled', 'bounced', 'undelivered'])

/** The gates of what ends a message outside the judges and the providers, by code. */
const GATES: Readonly<Record<string, string>> = {
  expired: 'expiry',
  no_address: 'address',
  template_error: 'message',
  message_too_large: 'message',
}

/** The hand-overs to providers, and what it waits for after the last one. */
function ofAttempts({ timeline }: NotificationRecord, waits: WaitingRecord | null): ExplainedGate[] {
  const attempts = timeline.flatMap(({ event, timestamp, error, message }): ExplainedGate[] => {
    const at = { gate: 'attempt', basis: 'recorded', at: timestamp } as const
    if (event === 'sent') return [{ ...at, ...PASSED }]
    if (event !== 'attempt_failed' && event !== 'attempt_ambiguous') return []
    return [
      { ...at, ...PASSED, result: 'failed', code: error?.code ?? null, message: error?.message ?? message },
    ]
  })
  const last = attempts.at(-1)
  if (waits?.reason !== 'retry' || last === undefined) return attempts
  return [...attempts.slice(0, -1), { ...last, result: 'waits', until: waits.until }]
}

function namedIn(message: SendInput): Pick<Explanation, 'channel' | 'to'> {
  const { channel, to } = (message ?? {}) as { readonly channel?: unknown; readonly to?: unknown }
  return {
    channel: typeof channel === 'string' ? channel : null,
    to: typeof to === 'string' ? to : null,
  }
}

const isoOf = (time: number): string => new Date(time).toISOString()
const timeOf = (iso: string | null): number | null => (iso === null ? null : Date.parse(iso))
