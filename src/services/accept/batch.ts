import { setImmediate as nextTurn } from 'node:timers/promises'
import { isNotifierError, NotifierError } from '../../domain/errors/notifier-error.ts'
import type { ParsedSend, SendInput, SendSchema } from '../../domain/input/send.ts'
import type { NewNotification } from '../../domain/notification.ts'
import type { Verdict } from '../../domain/preferences/precedence.ts'
import type { Work } from '../../domain/template/extent.ts'
import type { Template } from '../../domain/template/template.ts'
import { MAX_BODY_LENGTH, MAX_PIECES } from '../../domain/template/write.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'
import { fingerprint } from '../fingerprint.ts'
import { verdicts } from '../preferences/verdicts.ts'
import { notResolvable } from '../recipients/addressed.ts'
import { localeOf } from '../recipients/language.ts'
import type { FoundPerson } from '../recipients/people.ts'
import { needsTexts, sharedSize } from '../shared-texts/library.ts'
import { findTemplates } from '../templates/find-templates.ts'
import { type BatchCategories, createBatchCategories } from './batch-categories.ts'
import { itemError } from './batch-record.ts'
import { heeding } from './heeding.ts'
import { isLimited, withinLimits } from './organization-limits.ts'
import { parseSend } from './parse-send.ts'
import { channelHint, type Group, type Preparation, prepareSend } from './prepare.ts'
import type { ItemError } from './records.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Most messages in one batch. */
const MAX_BATCH = 10_000
/** Most notifications of a batch, whose commit some storages make at once. Beyond it, further messages are refused. */
const MAX_NOTIFICATIONS = 20_000

/** Messages judged per slice, so that other requests do not wait for a whole batch. */
const JUDGED_PER_SLICE = 500
/** Longest slice: a large text is rendered to measure it. */
const SLICE_MS = 20

/** Group of messages without a template. */
const NONE = ''
/** Templates read at once: each may have half a mebibyte. */
const READ_AT_ONCE = 16
/** Maximum size of a batch's expanded templates. Beyond it, further messages with a template are refused. */
const MAX_EXPANDED = 100 * MAX_PIECES
/** Writing this many characters costs as much as a tag. */
const CHARACTERS_OF_A_TAG = 64
/** Compiling a tag costs as much as expanding this many. */
const EXPANDED_OF_COMPILED = 4
/** Finding the texts of a template in one more locale costs as much as expanding this many. */
const PIECES_OF_A_LOCALE = 5_000
/** Maximum number of characters of a batch's templates. */
const MAX_READ = 100 * MAX_BODY_LENGTH

/** Work spent on a batch so far. */
interface Spent extends Work {
  /** Characters of its templates. */
  read: number
  notifications: number
}

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
  readonly inputs: readonly (readonly [index: number, input: ParsedSend])[]
  readonly errors: readonly [index: number, error: ItemError][]
  /**
   * Identifies the batch: a fingerprint of each parsed message, or of the raw one if it is invalid. Empty without an
   * idempotency key.
   */
  readonly request: readonly string[]
}

export interface BatchReading {
  readonly schema: SendSchema
  readonly organizationId: string
  readonly strict: boolean
  /** It has an idempotency key. */
  readonly keyed: boolean
}

export async function parseBatch(
  messages: readonly SendInput[],
  { schema, organizationId, strict, keyed }: BatchReading,
  clock: Clock,
): Promise<ParsedBatch> {
  const inputs: [number, ParsedSend][] = []
  const errors: [number, ItemError][] = []
  const request: string[] = []
  await inSlices(messages.entries(), clock, ([index, message]) => {
    let understood: unknown = message
    attempt(index, errors, () => {
      const input = parseSend(schema, message, organizationId, strict)
      understood = input
      inputs.push([index, input])
    })
    if (keyed) request.push(fingerprint(understood))
  })
  return { size: messages.length, inputs, errors, request }
}

/**
 * Judges each message on its own, grouped by template, so that each template is read and compiled once. Looks up
 * suppressed recipients together.
 */
export async function judgeBatch(
  { inputs, errors: refused }: ParsedBatch,
  organizationId: string,
  { lookups: { reads }, inside }: Pick<UnitOfWork, 'lookups' | 'inside'>,
  how: Preparation,
): Promise<{ readonly notifications: NewNotification[]; readonly errors: [number, ItemError][] }> {
  const errors = [...refused]
  const spent: Spent = { pieces: 0, characters: 0, read: 0, notifications: 0 }
  const prepared: [number, Group][] = []
  const people = await peopleOf(inputs, organizationId, how)
  const localeFor = (input: ParsedSend) => {
    const person = people(input)
    return localeOf(input, isNotifierError(person) ? null : person)
  }
  const categories = createBatchCategories(how.consent.categories, organizationId)
  await categories.prepare(inputs.map(([, { category }]) => category))
  await inSlices(
    byTemplate(inputs, organizationId, reads, { ...how, categories, localeFor }, spent),
    how.clock,
    ([index, input, template]) =>
      attempt(index, errors, () => {
        if (input.template !== undefined && isSpent(spent)) throw batchTooLarge()
        if (isNotifierError(template)) throw template
        const person = people(input)
        if (isNotifierError(person)) throw person
        spend(spent, person?.channels[channelHint(input, template) ?? '']?.length)
        const named = input.category ?? template?.category ?? null
        const category = named === null ? null : categories.of(named)
        prepared.push([index, prepareSend(organizationId, input, person, template, category, how, spent)])
      }),
  )
  prepared.sort(([one], [other]) => one - other)
  const permitted = await permittedOf(prepared, organizationId, errors, how)
  const verdictOn = await verdictsOn(permitted, organizationId, { reads, inside, categories }, how)
  const notifications: NewNotification[] = []
  for (const [index, group] of permitted) {
    attempt(index, errors, () => void notifications.push(...heeding(group, group.map(verdictOn))))
  }
  return { notifications, errors }
}

type Prepared = readonly [index: number, group: Group]

/** Without what the organization may not send. */
async function permittedOf(
  prepared: readonly Prepared[],
  organizationId: string,
  errors: [number, ItemError][],
  how: Preparation,
): Promise<readonly Prepared[]> {
  const kindOf = ({ channel }: NewNotification) => how.registry.kinds.of(channel)
  const isSubject = ([first]: Group) => first.to !== '' && isLimited(kindOf(first), first)
  if (!prepared.some(([, group]) => isSubject(group))) return prepared
  const limits = await how.limitsOf(organizationId)
  const permitted: Prepared[] = []
  for (const [index, group] of prepared) {
    attempt(index, errors, () => {
      const all = isSubject(group) ? withinLimits(kindOf(group[0]), group, limits, how) : group
      permitted.push([index, all])
    })
  }
  return permitted
}

/** The verdicts on all notifications, looked up together. Undefined: it has no address, and will be skipped. */
async function verdictsOn(
  prepared: readonly Prepared[],
  organizationId: string,
  {
    reads,
    inside,
    categories,
  }: Pick<UnitOfWork, 'inside'> & { reads: AcceptReads; categories: BatchCategories },
  { consent, registry }: Preparation,
): Promise<(notification: NewNotification) => Verdict | undefined> {
  const going = prepared.flatMap(([, group]) => group.filter(({ to }) => to !== ''))
  const asked = going.map(({ channel, to, recipient = null, category = null }) => ({
    organizationId,
    kind: registry.kinds.of(channel),
    to,
    recipient,
    category: categories.of(category),
  }))
  const judged = await verdicts(asked, reads.records, await consent.inUse.of(organizationId, inside))
  const verdictOf = new Map(going.map((one, position) => [one, judged[position]]))
  return (notification) => verdictOf.get(notification)
}

/** Counts the notifications of a message. @throws NotifierError `message_too_large` */
function spend(spent: Spent, notifications = 1): void {
  const count = Math.max(1, notifications)
  if (spent.notifications + count > MAX_NOTIFICATIONS) throw tooManyNotifications()
  spent.notifications += count
}

/**
 * The people of a batch, or why a message has none. All are looked up before the first is judged: if the resolver fails,
 * nothing is stored.
 *
 * @throws NotifierError `service_unavailable`
 */
async function peopleOf(
  inputs: ParsedBatch['inputs'],
  organizationId: string,
  { people }: Preparation,
): Promise<(input: ParsedSend) => FoundPerson | null> {
  const ids = inputs.flatMap(([, { recipient }]) => recipient ?? [])
  const found = ids.length === 0 || people === null ? null : await people.many(organizationId, ids)
  return ({ recipient }) => {
    if (recipient === undefined) return null
    if (found === null) return notResolvable()
    return found.get(recipient) ?? null
  }
}

function groupedByTemplate(inputs: ParsedBatch['inputs']): Map<string, [number, ParsedSend][]> {
  const naming = new Map<string, [number, ParsedSend][]>()
  for (const [index, input] of inputs) {
    const name = input.template ?? NONE
    const others = naming.get(name)
    if (others === undefined) naming.set(name, [[index, input]])
    else others.push([index, input])
  }
  return naming
}

/** Messages with their templates, once their channels' providers are loaded. */
async function* byTemplate(
  inputs: ParsedBatch['inputs'],
  organizationId: string,
  reads: AcceptReads,
  how: Preparation & {
    readonly categories: BatchCategories
    localeFor(input: ParsedSend): string | undefined
  },
  spent: Spent,
): AsyncGenerator<readonly [index: number, input: ParsedSend, template: Found]> {
  const naming = groupedByTemplate(inputs)
  const { registry, categories } = how
  const warmed = new Set<string>()
  async function warm(channel: string | undefined): Promise<void> {
    if (channel === undefined || warmed.has(channel)) return
    warmed.add(channel)
    await registry.warm(channel, organizationId)
  }
  for await (const [name, template] of templatesOf([...naming.keys()], organizationId, reads, spent)) {
    const named = naming.get(name) ?? []
    const inLocale = await templateIn(template, reads, how, spent)
    await categories.prepare([template?.category])
    const channels = new Set(named.map(([, input]) => channelHint(input, template)))
    await Promise.all([...channels].map(warm))
    for (const [index, input] of named) {
      const known = inLocale(how.localeFor(input))
      yield [index, input, isPending(known) ? await known : known]
    }
  }
}

type InLocale = (locale: string | undefined) => Found | Promise<Found>

const isPending = (found: Found | Promise<Found>): found is Promise<Found> => found instanceof Promise

/** Puts a template together and compiles it, once for each locale. */
async function templateIn(
  template: Template | null,
  { records }: AcceptReads,
  { compiled, library }: Preparation,
  spent: Spent,
): Promise<InLocale> {
  async function prepared(whole: Found): Promise<Found> {
    if (whole === null || isNotifierError(whole) || isSpent(spent)) return whole
    const ready = await compiled.prepare(whole)
    spent.pieces += EXPANDED_OF_COMPILED * (ready?.pieces ?? 0)
    return whole
  }
  if (template === null || !needsTexts(template)) {
    const found = await prepared(template)
    return () => found
  }
  const known = new Map<string | undefined, Found>()
  async function complete(whole: Template, locale: string | undefined): Promise<Found> {
    if (isSpent(spent)) return whole
    spent.pieces += PIECES_OF_A_LOCALE
    const completed = await attempted(library.complete(whole, records, locale))
    spent.read += isNotifierError(completed) ? 0 : sharedSize(completed?.made)
    const found = await prepared(completed)
    known.set(locale, found)
    return found
  }
  return (locale) => known.get(locale) ?? complete(template, locale)
}

/** Reads templates by name, a few at a time, and none after the batch has reached its limit. */
async function* templatesOf(
  names: readonly string[],
  organizationId: string,
  { records }: AcceptReads,
  spent: Spent,
): AsyncGenerator<readonly [name: string, template: Template | null]> {
  for (let at = 0; at < names.length; at += READ_AT_ONCE) {
    const some = names.slice(at, at + READ_AT_ONCE)
    const references = some.filter((name) => name !== NONE)
    const nothing = references.length === 0 || isSpent(spent)
    const found = nothing
      ? []
      : await findTemplates(
          records,
          references.map((reference) => ({ organizationId, reference })),
        )
    for (const name of some) {
      const template = found[references.indexOf(name)] ?? null
      spent.read += template === null ? 0 : template.body.length + (template.text?.length ?? 0)
      yield [name, template]
    }
  }
}

/** A template, or why it cannot be used. Null: none. */
type Found = Template | NotifierError | null

async function attempted(template: Promise<Template>): Promise<Found> {
  try {
    return await template
  } catch (error) {
    if (isNotifierError(error) && error.code === 'invalid_template') return error
    throw error
  }
}

function isSpent({ pieces, characters, read }: Spent): boolean {
  return pieces + characters / CHARACTERS_OF_A_TAG > MAX_EXPANDED || read > MAX_READ
}

function batchTooLarge(): NotifierError {
  return new NotifierError('message_too_large', {
    message:
      `The templates of this batch have more than ${MAX_READ} characters, or expand more than ${MAX_EXPANDED} tags: ` +
      'send this notification in another batch.',
    details: { field: 'notifications' },
  })
}

function tooManyNotifications(): NotifierError {
  return new NotifierError('message_too_large', {
    message:
      `A batch makes at most ${MAX_NOTIFICATIONS} notifications, one for each address of a person: ` +
      'send this notification in another batch.',
    details: { field: 'notifications' },
  })
}

/** Runs `judge` for each item and yields to the event loop after a number of items or some time. */
async function inSlices<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  clock: Clock,
  judge: (item: Item) => void,
): Promise<void> {
  let judged = 0
  let began = clock.monotonic()
  for await (const item of items) {
    judge(item)
    judged += 1
    if (judged % JUDGED_PER_SLICE !== 0 && clock.monotonic() - began < SLICE_MS) continue
    await nextTurn()
    began = clock.monotonic()
  }
}

/** Judges one item. An error of the item is its answer; others are thrown. */
function attempt(index: number, errors: [number, ItemError][], judge: () => void): void {
  try {
    judge()
  } catch (error) {
    if (!isNotifierError(error)) throw error
    errors.push([index, itemError(error)])
  }
}
