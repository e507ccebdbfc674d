import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import type { Verdict } from '../gate/verdict.ts'
import type { Bounds } from '../input/bounds.ts'
import type { RunInSlices } from '../loop/processor.ts'
import { once } from '../loop/steps.ts'
import type { Category } from '../notification/category.ts'
import type { NewNotification } from '../notification/notification.ts'
import { notResolvable } from '../people/addressed.ts'
import type { FoundPerson, ResolvedPerson } from '../people/finder.ts'
import { localeOf } from '../people/language.ts'
import { isUnanswered } from '../text/code-templates.ts'
import type { Template } from '../text/template.ts'
import { senderCheck } from './allowed-sender.ts'
import { applyVerdicts, askedAbout } from './apply-verdicts.ts'
import { type BatchCategories, createBatchCategories } from './batch-categories.ts'
import {
  assertAnswering,
  type BatchInputs,
  batchTooLarge,
  byTemplate,
  type FoundOn,
  heldBy,
  isSpent,
  namesIn,
  type Spent,
} from './batch-templates.ts'
import { fingerprint } from './fingerprint.ts'
import { isSingle, type ParsedSend, type SendInput, type SendSchema } from './input.ts'
import { createItemErrors, type ItemErrors } from './item-errors.ts'
import type { Lookups } from './lookups.ts'
import { createMultiplied } from './multiplied.ts'
import { parseSend } from './parse-send.ts'
import { type AcceptServices, channelHint, type Group } from './prepare.ts'
import { prepareMessage } from './prepare-channels.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Most messages in one batch. */
const MAX_BATCH = 10_000
/** Most notifications of a batch, whose commit some storages make at once. Beyond it, further messages are refused. */
const MAX_NOTIFICATIONS = 20_000

/** @throws NotifierError `invalid_parameter` (422) */
export function assertBatch(messages: unknown): asserts messages is readonly unknown[] {
  if (Array.isArray(messages) && messages.length >= 1 && messages.length <= MAX_BATCH) return
  throw new NotifierError('invalid_parameter', {
    status: 422,
    message: `"notifications" must be an array of 1 to ${MAX_BATCH} notifications.`,
    details: { field: 'notifications', ...(Array.isArray(messages) ? { received: messages.length } : {}) },
  })
}

/** A batch whose messages were parsed one by one. */
export interface ParsedBatch {
  readonly size: number
  readonly inputs: BatchInputs
  readonly errors: ItemErrors
  /**
   * Identifies the batch: a fingerprint of each parsed message, or of the raw one if it is invalid. Empty without an
   * idempotency key.
   */
  readonly request: readonly string[]
}

export interface BatchReading {
  readonly schema: SendSchema
  readonly bounds: Bounds
  readonly organizationId: string
  readonly strict: boolean
  /** It has an idempotency key. */
  readonly keyed: boolean
}

export async function parseBatch(
  messages: readonly SendInput[],
  { schema, bounds, organizationId, strict, keyed }: BatchReading,
  share: RunInSlices,
): Promise<ParsedBatch> {
  const inputs: [number, ParsedSend][] = []
  const errors = createItemErrors()
  const request: string[] = []
  await inShare(messages.entries(), share, ([index, message]) => {
    let understood: unknown = message
    attempt(index, errors, () => {
      const input = parseSend(schema, message, organizationId, strict, bounds)
      understood = input
      inputs.push([index, input])
    })
    if (keyed) request.push(fingerprint(understood))
  })
  return { size: messages.length, inputs, errors, request }
}

/**
 * Validates each message separately, grouped by template, so that each template is read and compiled once. The gate
 * is asked about all together.
 */
export async function validateBatch(
  { inputs, errors: refused }: ParsedBatch,
  organizationId: string,
  { lookups, inside }: Pick<UnitOfWork, 'lookups' | 'inside'>,
  services: AcceptServices,
): Promise<{
  readonly notifications: NewNotification[]
  readonly errors: ItemErrors
  readonly prepared: readonly Prepared[]
}> {
  const errors = refused.copy()
  const spent: Spent = { pieces: 0, characters: 0, read: 0, notifications: 0, held: 0, unanswered: 0 }
  const prepared: [number, Group][] = []
  const multiplied = createMultiplied()
  function keep(index: number, group: Group): void {
    multiplied.add(group)
    spent.held += heldBy(group)
    prepared.push([index, group])
  }
  const people = await peopleOf(inputs, organizationId, services)
  const localeFor = (input: ParsedSend) => {
    const person = people(input)
    return localeOf(input, isNotifierError(person) ? null : person)
  }
  const categories = createBatchCategories(services.categories, organizationId)
  await categories.prepare(inputs.map(([, { category }]) => category))
  function prepare(input: ParsedSend, foundOn: FoundOn): Group | Promise<Group> {
    if (input.template !== undefined && isSpent(spent)) throw batchTooLarge()
    function templateOn(channel: string | undefined): Template | null {
      const found = foundOn(channel)
      if (isNotifierError(found)) throw found
      return found
    }
    const one = isSingle(input) ? templateOn(undefined) : null
    for (const name of namesIn(input)) assertAnswering(services.code, name, spent)
    const person = people(input)
    if (isNotifierError(person)) throw person
    spend(spent, notificationsOf(input, one, person))
    function categoryOf(template: Template | null): Category | null {
      const named = input.category ?? template?.category ?? null
      return named === null ? null : categories.of(named, input.category === undefined ? template : null)
    }
    return prepareMessage(organizationId, input, person, { templateOn, categoryOf }, services, spent)
  }
  function unwritten(error: unknown): never {
    if (isNotifierError(error) && isUnanswered(error)) spent.unanswered += 1
    throw error
  }
  const share = services.processor.share(organizationId)
  const finding = { ...services, inBatch: categories, localeFor }
  for await (const messages of byTemplate(inputs, organizationId, lookups.reads, finding, spent)) {
    await inShare(messages, share, ([index, input, template]) =>
      attempt(index, errors, () => {
        const group = prepare(input, template)
        return group instanceof Promise
          ? group.then((written) => keep(index, written), unwritten)
          : keep(index, group)
      }),
    )
  }
  prepared.sort(([one], [other]) => one - other)
  const allowed = await withAllowedSenders(prepared, organizationId, inside, errors, services)
  const verdictOn = await verdictsOn(allowed, organizationId, categories, lookups, services)
  const notifications: NewNotification[] = []
  await inShare(allowed, services.processor.share(organizationId), ([index, group]) =>
    attempt(index, errors, () => {
      notifications.push(...applyVerdicts(group, group.map(verdictOn), services))
    }),
  )
  return { notifications, errors, prepared }
}

/** What a message would make, before the gate. */
export type Prepared = readonly [index: number, group: Group]

/** Without the messages of senders that the organization may not use. */
async function withAllowedSenders(
  prepared: readonly Prepared[],
  organizationId: string,
  inside: UnitOfWork['inside'],
  errors: ItemErrors,
  { registry, limitsOf }: AcceptServices,
): Promise<readonly Prepared[]> {
  const checks = prepared.map(([, group]) => senderCheck(registry.kinds, group))
  if (checks.every((check) => check === undefined)) return prepared
  const limits = await limitsOf(organizationId, inside?.records)
  const allowed: Prepared[] = []
  for (const [at, one] of prepared.entries()) {
    attempt(one[0], errors, () => {
      checks[at]?.(limits)
      allowed.push(one)
    })
  }
  return allowed
}

/** The verdicts on all notifications, asked for together. Undefined: it has no address, and will be skipped. */
async function verdictsOn(
  prepared: readonly Prepared[],
  organizationId: string,
  categories: BatchCategories,
  { verdicts }: Lookups,
  { registry, clock }: AcceptServices,
): Promise<(notification: NewNotification) => Verdict | undefined> {
  const now = clock.now()
  const going = prepared.flatMap(([, group]) => group.filter(({ to }) => to !== ''))
  const found = await verdicts(
    going.map((one) => {
      const category = categories.of(one.category ?? null)
      return askedAbout(organizationId, registry.kinds.of(one.channel), one, category, now)
    }),
  )
  const verdictOf = new Map(going.map((one, position) => [one, found[position]]))
  return (notification) => verdictOf.get(notification)
}

/** How many a message makes, by the addresses of its person. */
function notificationsOf(
  input: ParsedSend,
  template: Template | null,
  person: ResolvedPerson | null,
): number {
  const on = (channel: string) => person?.channels[channel]?.length ?? 0
  const { channels } = input
  if (channels !== undefined) return channels.reduce((count, channel) => count + on(channel), 0)
  return on(channelHint(input, template) ?? '')
}

/** Counts the notifications of a message. @throws NotifierError `message_too_large` */
function spend(spent: Spent, notifications: number): void {
  const count = Math.max(1, notifications)
  if (spent.notifications + count > MAX_NOTIFICATIONS) throw tooManyNotifications()
  spent.notifications += count
}

/**
 * The people of a batch, or why a message has none. All are looked up before the first is validated: if the resolver
 * fails, nothing is stored.
 *
 * @throws NotifierError `service_unavailable`
 */
async function peopleOf(
  inputs: BatchInputs,
  organizationId: string,
  { people }: AcceptServices,
): Promise<(input: ParsedSend) => FoundPerson | null> {
  const ids = inputs.flatMap(([, { recipient }]) => recipient ?? [])
  const found = ids.length === 0 || people === undefined ? null : await people.many(organizationId, ids)
  return ({ recipient }) => {
    if (recipient === undefined) return null
    if (found === null) return notResolvable()
    return found.get(recipient) ?? null
  }
}

function tooManyNotifications(): NotifierError {
  return new NotifierError('message_too_large', {
    message:
      `A batch makes at most ${MAX_NOTIFICATIONS} notifications, one for each address of a person: ` +
      'send this notification in another batch.',
    details: { field: 'notifications' },
  })
}

/** Runs `validate` for each item in the share of the batch's organization. Waits only for promises. */
async function inShare<Item>(
  items: Iterable<Item | Promise<Item>>,
  share: RunInSlices,
  validate: (item: Item) => void | Promise<void>,
): Promise<void> {
  for (const next of items) {
    const item = next instanceof Promise ? await next : next
    const validating = share(once(() => validate(item)))
    if (validating !== undefined) await validating
  }
}

/** Validates one item. An error of the item is its answer; others are thrown. */
function attempt(index: number, errors: ItemErrors, validate: () => undefined): void
function attempt(
  index: number,
  errors: ItemErrors,
  validate: () => void | Promise<void>,
): void | Promise<void>
function attempt(
  index: number,
  errors: ItemErrors,
  validate: () => void | Promise<void>,
): void | Promise<void> {
  function refuse(error: unknown): void {
    if (!isNotifierError(error)) throw error
    errors.add(index, error)
  }
  try {
    return validate()?.catch(refuse)
  } catch (error) {
    refuse(error)
  }
}
