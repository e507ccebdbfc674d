import { isNotifierError, type NotifierError } from '../errors/notifier-error.ts'
import type { Verdict } from '../gate/verdict.ts'
import type { Shortfall } from '../limits/limit-error.ts'
import type { Reservation, SendLimits } from '../limits/send-limits.ts'
import { exampleUrls } from '../links/links.ts'
import type { Notifications } from '../notification/api.ts'
import type { Category } from '../notification/category.ts'
import type { NewNotification } from '../notification/notification.ts'
import type { Observer } from '../observe/observer.ts'
import { personOf } from '../people/addressed.ts'
import type { ResolvedPerson } from '../people/finder.ts'
import { localeOf } from '../people/language.ts'
import type {
  AcceptReads,
  AcceptRequest,
  IdempotencyKey,
  IdempotencyRecord,
} from '../ports/storage/accept.ts'
import type { RecordWrite } from '../ports/storage/records.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { Span } from '../ports/telemetry.ts'
import { organizationKind, unknownOrganization } from '../tenancy/organization.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import type { OrganizationFinder } from '../tenancy/plan-of.ts'
import { byId, owned, parseOptions } from '../tenancy/scope.ts'
import { inCode } from '../text/code-templates.ts'
import { needsTexts } from '../text/library.ts'
import { renderContent, shown } from '../text/render.ts'
import type { Template } from '../text/template.ts'
import { admittedOf, countedOf, hourlyUnits } from './admit.ts'
import { senderCheck } from './allowed-sender.ts'
import { createAnswered } from './answered.ts'
import type { Sends } from './api.ts'
import { applyVerdicts, askedAbout, delayOf } from './apply-verdicts.ts'
import { assertBatch, type ParsedBatch, type Prepared, parseBatch, validateBatch } from './batch.ts'
import { type BatchRecord, itemOf, recordedBatch, replayedBatch, toBatchResult } from './batch-record.ts'
import { attempted, NO_TEMPLATE } from './batch-templates.ts'
import { type Complete, completed, completedBatch } from './complete.ts'
import type { Examinations } from './examination.ts'
import { fingerprint } from './fingerprint.ts'
import { assertIdempotencyKey, assertSameRequest, type IdempotentUse, recordFor } from './idempotency.ts'
import { isSingle, type ParsedSend, templateOn } from './input.ts'
import { itemError } from './item-errors.ts'
import type { Lookups } from './lookups.ts'
import type { BatchResult, SentNotification } from './model.ts'
import { withinCopies } from './multiplied.ts'
import { aboutBatch, aboutSent, recordRefused, traced } from './observed.ts'
import type { SendOptions } from './options.ts'
import { examineOptions, resendOptions, sendOptions, validateOptions } from './options.ts'
import { parseSend } from './parse-send.ts'
import { type AcceptServices, categoryFor, channelHint, type Group, prepareResend } from './prepare.ts'
import { type Named, prepareMessage } from './prepare-channels.ts'
import { sentByOf, type TellRefused, tellRefused, tellRefusedItems } from './refused.ts'
import { createSingleFlight } from './single-flight.ts'
import { createIso } from './times.ts'
import { createUnitsOfWork, RefusedRecord, type Stored, type UnitOfWork } from './unit-of-work.ts'
import type { SendsWithRecords } from './with-records.ts'

/** The record of a single send: the answer without its time, which the record has itself. */
type SendResult = Pick<SentNotification, 'id' | 'status' | 'channel' | 'to' | 'groupId' | 'ids'>

/** A call before its messages are validated. */
interface Call {
  readonly unit: UnitOfWork
  readonly organizationId: string
  readonly use: IdempotentUse | null
  /** What its messages would make, for the list of refusals. */
  prepared: readonly Prepared[]
}

/**
 * The accept side of the service: validates messages, then stores them in commits that concurrent callers share.
 *
 * @param services `complete`: default: nothing completes messages; `refused`: default: nothing is told of refusals
 * @param accepted called after a commit with each lane that has new work
 */
export function createAccept(
  storage: Storage<unknown>,
  organizations: OrganizationFinder,
  limits: SendLimits,
  services: AcceptServices & {
    readonly complete?: Complete | undefined
    readonly refused?: TellRefused | undefined
  },
  accepted: (lane: string) => void,
  observer: Observer,
): PerTenant<Sends<unknown>> &
  PerTenant<Pick<Notifications<unknown>, 'resend'>> &
  SendsWithRecords &
  Examinations {
  const units = createUnitsOfWork(storage, services.texts, services.gate, accepted)
  const singleFlight = createSingleFlight(services.clock)
  const isoOf = createIso()
  const answered = createAnswered(services.registry.kinds)
  const { refused = () => {} } = services

  const kindOf = ({ channel }: NewNotification) => services.registry.kinds.of(channel)

  async function earlier({ lookups }: UnitOfWork, use: IdempotentUse): Promise<IdempotencyRecord | null> {
    const record = await lookups.record(use.key)
    if (record !== null) assertSameRequest(record, use)
    return record
  }

  /** Looks up what a message refers to: uploads, and a notification that it answers. Undefined: nothing. */
  function lookingUp(
    given: ParsedSend,
    organizationId: string,
    reads: AcceptReads,
  ): Promise<ParsedSend> | undefined {
    const completing = () => completed(given, organizationId, reads.records, services.complete)
    const answering = answered.inMessage(given, organizationId, reads)
    return answering === undefined ? completing() : answering.then(() => completing() ?? given)
  }

  async function prepare(unit: UnitOfWork, given: ParsedSend, organizationId: string): Promise<Group> {
    const { lookups } = unit
    const looking = lookingUp(given, organizationId, lookups.reads)
    const input = looking === undefined ? given : await looking
    const person =
      input.recipient === undefined ? null : await personOf(services.people, organizationId, input.recipient)
    const named =
      input.template === undefined ? NO_TEMPLATE : await templatesOf(lookups, input, person, organizationId)
    const warming = warmFor(input, named, organizationId)
    if (warming !== undefined) await warming
    const categoryOf: Named['categoryOf'] = (template) =>
      categoryFor(organizationId, input, template, services)
    const prepared = prepareMessage(
      organizationId,
      input,
      person,
      { templateOn: named, categoryOf },
      services,
    )
    const group = prepared instanceof Promise ? await prepared : prepared
    return withAllowedSender(unit, organizationId, withinCopies(group))
  }

  /** The templates that a message names, completed and compiled. */
  async function templatesOf(
    lookups: Lookups,
    input: ParsedSend,
    person: ResolvedPerson | null,
    organizationId: string,
  ): Promise<Named['templateOn']> {
    const ready = (reference: string | undefined) =>
      templateFor(lookups, reference, organizationId, localeOf(input, person))
    if (isSingle(input)) {
      const template = await ready(input.template)
      return () => template
    }
    const { channels = [] } = input
    const templates = await Promise.all(
      channels.map((channel) => attempted(ready(templateOn(input, channel)))),
    )
    return (channel) => {
      const found = templates[channels.indexOf(channel ?? '')] ?? null
      if (isNotifierError(found)) throw found
      return found
    }
  }

  /** A template in code goes first. */
  async function templateFor(
    lookups: Lookups,
    reference: string | undefined,
    organizationId: string,
    locale: string | undefined,
  ): Promise<Template | null> {
    if (reference === undefined) return null
    const entry = inCode(services.code, reference)
    let template =
      entry === null ? await lookups.template({ organizationId, reference }) : entry.of(organizationId)
    if (template === null) return null
    if (needsTexts(template)) template = await services.library.complete(template, lookups.records, locale)
    await services.compiled.prepare(template)
    return template
  }

  /** Loads an organization's own providers before the recipient is checked with them. */
  function warm(channel: string | undefined, organizationId: string): Promise<unknown> | undefined {
    return channel === undefined ? undefined : services.registry.warm(channel, organizationId)
  }

  function warmFor(
    input: ParsedSend,
    templateOf: Named['templateOn'],
    organizationId: string,
  ): Promise<unknown> | undefined {
    const { channels } = input
    if (channels === undefined) return warm(channelHint(input, templateOf(undefined)), organizationId)
    return Promise.all(channels.map((channel) => warm(channel, organizationId)))
  }

  /** @throws NotifierError `invalid_sender` */
  async function withAllowedSender(
    { inside }: UnitOfWork,
    organizationId: string,
    group: Group,
  ): Promise<Group> {
    const check = senderCheck(services.registry.kinds, group)
    check?.(await services.limitsOf(organizationId, inside?.records))
    return group
  }

  /**
   * The notifications as the gate lets them go: some are turned off, or wait.
   *
   * @throws NotifierError `region_not_permitted`, `blocked_recipient`, `unsubscribed`, or the code of a plug-in
   */
  async function wanted({ lookups }: UnitOfWork, organizationId: string, group: Group): Promise<Group> {
    const [first, ...others] = group
    if (first.to === '') return group
    const now = services.clock.now()
    // The templates of several channels may name several categories.
    function verdictOn(one: NewNotification): Promise<Verdict> {
      const judged = (category: Category) =>
        lookups.verdict(askedAbout(organizationId, kindOf(one), one, category, now))
      const named = services.categories.ofStored(organizationId, one.category ?? null)
      return named instanceof Promise ? named.then(judged) : judged(named)
    }
    const verdicts = others.length === 0 ? [await verdictOn(first)] : await Promise.all(group.map(verdictOn))
    return applyVerdicts(group, verdicts, services)
  }

  /**
   * Checks what one send would store as an accept does, by reads only.
   *
   * @throws NotifierError `service_unavailable`, `not_found`, `notification_quota_exceeded`
   */
  async function assertStorable(
    organizationId: string,
    group: Group,
    { quota }: Reservation['quota'],
  ): Promise<void> {
    await storage.check?.()
    // Not cached, because another process may have deleted it.
    const [organization] = await storage.records.get(organizationKind, [{ id: organizationId }])
    if (organization?.value.deleting !== null) throw unknownOrganization(organizationId)
    if (quota === undefined) return
    const used = await storage.quotaUsed(organizationId, quota.period)
    if (admittedOf({ notifications: group }, quota.limit - used) === 0)
      throw await limits.quotaError(organizationId)
  }

  /** The limit that refuses notifications. Null: none does. */
  async function limitOn(organizationId: string, group: Group): Promise<NotifierError | null> {
    const hour = await limits.peek(organizationId, hourly(group))
    if (hour.refusal !== null) return hour.refusal(shortfallOf(group, 0, hour))
    try {
      await assertStorable(organizationId, group, hour.quota)
      return null
    } catch (error) {
      if (isNotifierError(error) && error.code === 'notification_quota_exceeded') return error
      throw error
    }
  }

  /** Stores notifications that the hourly limit granted, and refunds what it granted beyond the stored ones. */
  async function store<Write extends RecordWrite>(
    unit: UnitOfWork<Write>,
    reservation: Reservation,
    request: AcceptRequest<Write>,
  ): Promise<Stored> {
    let stored = 0
    try {
      const answer = await unit.store({ ...request, ...reservation.quota })
      if (answer.kind === 'accepted') stored = countedOf(request.notifications, answer.admitted, hourlyUnits)
      return answer
    } finally {
      const unused = reservation.granted - stored
      if (unused > 0) await reservation.refund(unused)
    }
  }

  /**
   * Stores all notifications of a request, or nothing.
   *
   * @throws NotifierError `rate_limit_exceeded`, `notification_quota_exceeded`
   */
  async function storeWhole<Write extends RecordWrite>(
    unit: UnitOfWork<Write>,
    span: Span | null,
    request: AcceptRequest<Write>,
  ): Promise<Stored> {
    const { organizationId, notifications } = request
    const needed = hourly(notifications)
    const reservation = await limits.take(organizationId, needed)
    if (reservation.refusal !== null)
      throw await refunded(reservation, reservation.refusal({ needed, remaining: reservation.granted }))
    const answer = await store(unit, reservation, { ...request, notifications: traced(notifications, span) })
    if (answer.kind === 'accepted' && answer.admitted < notifications.length)
      throw await limits.quotaError(organizationId)
    return answer
  }

  async function acceptOnce(
    call: Call,
    span: Span | null,
    validate: () => Promise<Group>,
  ): Promise<SentNotification> {
    const { unit, organizationId, use } = call
    const record = use === null ? null : await earlier(unit, use)
    if (record !== null) return replayedSend(record, unit.lookups)
    const prepared = await validate()
    call.prepared = [[0, prepared]]
    const group = await wanted(unit, organizationId, prepared)
    const result = resultOf(group, services.clock.now())
    const answer = await storeWhole(unit, span, {
      organizationId,
      notifications: group,
      ...recordFor(use, result, recordedSend),
    })
    if (answer.kind === 'replayed') {
      if (use !== null) assertSameRequest(answer.record, use)
      return replayedSend(answer.record, unit.lookups)
    }
    return { ...result, createdAt: isoOf(answer.createdAt), replayed: false }
  }

  /** Checked again if an upload was removed meanwhile: then only the messages that name it are refused. */
  async function acceptBatch(call: Call, span: Span | null, parsed: ParsedBatch): Promise<BatchResult> {
    try {
      return await batchOnce(call, span, parsed)
    } catch (error) {
      if (!isNotifierError(error) || error.code !== 'unknown_attachment') throw error
      return batchOnce(call, span, parsed)
    }
  }

  /** The batch with what its messages name: uploads, and notifications that they answer. */
  async function lookedUp(
    parsed: ParsedBatch,
    organizationId: string,
    { lookups: { reads } }: UnitOfWork,
  ): Promise<ParsedBatch> {
    const answering = answered.inBatch(parsed, organizationId, reads)
    const answers = answering === undefined ? parsed : await answering
    const completing = completedBatch(answers, organizationId, reads.records, services.complete)
    return completing === undefined ? answers : completing
  }

  async function batchOnce(call: Call, span: Span | null, parsed: ParsedBatch): Promise<BatchResult> {
    const { unit, organizationId, use } = call
    const known = use === null ? null : await earlier(unit, use)
    if (known !== null) return replayedBatch(known, unit.lookups.state)
    const whole = await lookedUp(parsed, organizationId, unit)
    const validated = await validateBatch(whole, organizationId, unit, services)
    call.prepared = validated.prepared
    const all = validated.notifications
    const reservation = await limits.take(organizationId, hourly(all))
    const fitting = admittedOf({ notifications: all }, reservation.granted, hourlyUnits)
    const going = all.slice(0, fitting)
    const notifications = traced(going, span)
    const now = services.clock.now()
    const result: BatchRecord = {
      size: parsed.size,
      errors: validated.errors.all,
      items: notifications.map((notification) => itemOf(notification, statusOf(notification, now))),
      ...(reservation.refusal === null
        ? {}
        : { overHour: itemError(reservation.refusal(shortfallOf(all, fitting, reservation))) }),
      overMonth: itemError(await limits.quotaError(organizationId)),
    }
    // As if the monthly quota had refused everything: a repetition has no further effect.
    const record = recordFor(going.length === 0 ? null : use, result, recordedBatch)
    const answer = await store(unit, reservation, { organizationId, notifications, ...record })
    if (answer.kind === 'accepted') return toBatchResult(result, answer.admitted, answer.createdAt, false)
    if (use !== null) assertSameRequest(answer.record, use)
    return replayedBatch(answer.record, unit.lookups.state)
  }

  async function callOf(
    operation: IdempotencyKey['operation'],
    organizationId: string,
    { idempotencyKey }: SendOptions<unknown>,
    request: unknown,
    unit: UnitOfWork,
  ): Promise<Call> {
    await organizations.existing(organizationId, unit.inside)
    const use = idempotentUse(operation, organizationId, idempotencyKey, request)
    return { unit, organizationId, use, prepared: [] }
  }

  return {
    send: (organizationId, message, options) =>
      observer.span(
        { name: 'accept', operation: 'send' },
        async (span) => {
          const given = parseOptions(sendOptions, options)
          let seen: unknown = message
          let call: Call | undefined
          try {
            // Before the first await: the caller may reuse the object for the next message.
            const strict = given.strict !== false
            const input = parseSend(services.sendInput, message, organizationId, strict, services.bounds)
            seen = input
            const unit = await units.of(given.tx)
            const made = await callOf('send', organizationId, given, input, unit)
            call = made
            return await singleFlight.run(made.use, () =>
              acceptOnce(made, span, () => prepare(unit, input, organizationId)),
            )
          } catch (error) {
            tellRefused(refused, organizationId, seen, error, call?.prepared[0]?.[1], sentByOf(options))
            throw error
          }
        },
        aboutSent,
      ),

    resend: (organizationId, id, options) =>
      observer.span(
        { name: 'accept', operation: 'resend' },
        async (span) => {
          const given = parseOptions(resendOptions, options)
          const unit = await units.of(given.tx)
          const call = await callOf('resend', organizationId, given, { id }, unit)
          return singleFlight.run(call.use, () =>
            acceptOnce(call, span, async () => {
              const found = await byId(id, (known) => unit.lookups.reads.notifications.get(known))
              const original = owned(found, organizationId, 'notification_not_found')
              await warm(original.channel, organizationId)
              return withAllowedSender(unit, organizationId, [prepareResend(original, services)])
            }),
          )
        },
        aboutSent,
      ),

    async validate(organizationId, message, options) {
      const given = parseOptions(validateOptions, options)
      const input = parseSend(
        services.sendInput,
        message,
        organizationId,
        given.strict !== false,
        services.bounds,
      )
      const unit = units.shared
      const { use } = await callOf('send', organizationId, given, input, unit)
      if (use !== null) await earlier(unit, use)
      const prepared = await prepare(unit, input, organizationId)
      const [notification] = prepared
      const group = await wanted(unit, organizationId, prepared)
      const [judged] = group
      const limited = await limitOn(organizationId, group)
      if (limited !== null) throw limited
      const { channel, to, content } = notification
      const template = 'body' in content ? null : await services.compiled.load(content.template)
      const kind = kindOf(notification)
      return {
        channel,
        to,
        rendered: shown(kind, renderContent(kind, content, template, exampleUrls), content.parts),
        delayed: delayOf(judged),
      }
    },

    async examine(organizationId, message, options) {
      const strict = parseOptions(examineOptions, options).strict !== false
      const input = parseSend(services.sendInput, message, organizationId, strict, services.bounds)
      await organizations.existing(organizationId)
      const group = await prepare(units.shared, input, organizationId)
      return { group, limited: await limitOn(organizationId, group) }
    },

    sendBatch: (organizationId, messages, options) =>
      observer.span(
        { name: 'accept', operation: 'batch' },
        async (span) => {
          const given = parseOptions(sendOptions, options)
          assertBatch(messages)
          // A copy: the caller may empty the list meanwhile.
          const reading = {
            schema: services.sendInput,
            bounds: services.bounds,
            organizationId,
            strict: given.strict !== false,
            keyed: given.idempotencyKey !== undefined,
          }
          const list = [...messages]
          const parsed = await parseBatch(list, reading, services.processor.share(organizationId))
          const unit = await units.of(given.tx)
          const call = await callOf('batch', organizationId, given, parsed.request, unit)
          const result = await singleFlight.run(call.use, () => acceptBatch(call, span, parsed))
          if (result.replayed) return result
          recordRefused(observer, result)
          const from = { organizationId, sentBy: sentByOf(options) }
          tellRefusedItems(refused, from, list, call.prepared, result)
          return result
        },
        aboutBatch,
      ),

    withRecords: (organizationId, messages, records) =>
      observer.span(
        { name: 'accept', operation: 'due' },
        async (span) => {
          const unit = units.shared
          await organizations.existing(organizationId)
          const groups = messages.map(async (message) => {
            let prepared: Group | undefined
            try {
              const input = parseSend(services.sendInput, message, organizationId, true, services.bounds)
              prepared = await prepare(unit, input, organizationId)
              return await wanted(unit, organizationId, prepared)
            } catch (error) {
              tellRefused(refused, organizationId, message, error, prepared)
              throw error
            }
          })
          const notifications = (await Promise.all(groups)).flat()
          try {
            await storeWhole(unit, span, { organizationId, notifications, records })
            return notifications.map(({ id }) => id)
          } catch (error) {
            if (error instanceof RefusedRecord) return error.write
            throw error
          }
        },
        (answer) => ({ count: 'kind' in answer ? 0 : messages.length }),
      ),
  }
}

/** What notifications count for against the hourly limit. */
function hourly(notifications: readonly NewNotification[]): number {
  return countedOf(notifications, notifications.length, hourlyUnits)
}

/** What the first notification or group that does not fit needs beyond the hourly limit. */
function shortfallOf(all: readonly NewNotification[], fitting: number, { granted }: Reservation): Shortfall {
  const groupId = all[fitting]?.groupId ?? null
  const first = all.filter((one, at) => at === fitting || (groupId !== null && one.groupId === groupId))
  return { needed: hourly(first), remaining: granted - countedOf(all, fitting, hourlyUnits) }
}

function idempotentUse(
  operation: IdempotencyKey['operation'],
  organizationId: string,
  key: string | undefined,
  request: unknown,
): IdempotentUse | null {
  if (key === undefined) return null
  assertIdempotencyKey(key)
  return { key: { organizationId, operation, key }, fingerprint: fingerprint(request) }
}

/** The recorded answer with the present state. If the notification was removed, the status remains as recorded. */
async function replayedSend(
  { result, createdAt }: IdempotencyRecord,
  { state }: Lookups,
): Promise<SentNotification> {
  const sent = JSON.parse(result) as Omit<SendResult, 'to'>
  return {
    ...sent,
    to: '',
    ...(await state(sent.id)),
    createdAt: new Date(createdAt).toISOString(),
    replayed: true,
  }
}

/** The stored form: it names no person, and a replay reads the present address. */
function recordedSend({ to: _, ...rest }: SendResult): Omit<SendResult, 'to'> {
  return rest
}

/** A group is admitted as a whole, or not at all. */
async function refunded({ granted, refund }: Reservation, refusal: NotifierError): Promise<NotifierError> {
  if (granted > 0) await refund(granted)
  return refusal
}

function resultOf(group: Group, now: number): SendResult {
  const [first] = group
  const { id, channel, to, groupId } = first
  const result = { id, status: statusOf(first, now), channel, to }
  return groupId == null ? result : { ...result, groupId, ids: group.map((one) => one.id) }
}

function statusOf({ sendAt }: NewNotification, now: number): 'queued' | 'scheduled' {
  return sendAt !== null && sendAt > now ? 'scheduled' : 'queued'
}
