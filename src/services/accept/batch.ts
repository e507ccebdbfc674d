import { setImmediate as nextTurn } from 'node:timers/promises'
import { isNotifierError, NotifierError } from '../../domain/errors/notifier-error.ts'
import type { ParsedSend, SendInput, SendSchema } from '../../domain/input/send.ts'
import type { NewNotification } from '../../domain/notification.ts'
import type { Work } from '../../domain/template/extent.ts'
import type { Template } from '../../domain/template/template.ts'
import { MAX_BODY_LENGTH, MAX_PIECES } from '../../domain/template/write.ts'
import type { Clock } from '../../ports/clock.ts'
import type { AcceptReads, IdempotencyRecord } from '../../ports/storage/accept.ts'
import { fingerprint } from '../fingerprint.ts'
import { verdicts } from '../preferences/verdicts.ts'
import { notResolvable } from '../recipients/addressed.ts'
import { localeOf } from '../recipients/language.ts'
import type { ResolvedPerson } from '../recipients/people.ts'
import { needsTexts, sharedSize } from '../shared-texts/library.ts'
import { findTemplates } from '../templates/find-templates.ts'
import { type BatchCategories, createBatchCategories } from './batch-categories.ts'
import { heeding } from './heeding.ts'
import { assertLimits, isLimited } from './organization-limits.ts'
import { parseSend } from './parse-send.ts'
import { channelHint, type Group, type Preparation, prepareSend } from './prepare.ts'
import type { BatchItem, BatchResult, ItemError } from './records.ts'
import type { UnitOfWork } from './unit-of-work.ts'

/** Most notifications in one batch. */
const MAX_BATCH = 10_000

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
}

/**
 * The record of a batch: items with their own errors, the ids and states of stored items, and the errors of items over
 * a limit. In order: first the admitted, then those over the monthly quota, then those over the hourly limit.
 */
export interface BatchRecord {
  readonly size: number
  readonly errors: readonly (readonly [index: number, error: ItemError])[]
  readonly items: readonly RecordedItem[]
  readonly overHour?: ItemError
  readonly overMonth: ItemError
}

/** A notification; those of a group follow each other. */
export type RecordedItem = readonly [id: string, status: 'queued' | 'scheduled', groupId?: string]

export function itemOf({ id, groupId }: NewNotification, status: 'queued' | 'scheduled'): RecordedItem {
  return groupId == null ? [id, status] : [id, status, groupId]
}

/** The notifications of the message that begins at a position. */
function groupAt(items: readonly RecordedItem[], at: number): readonly RecordedItem[] {
  const groupId = items[at]?.[2]
  let end = at + 1
  while (groupId !== undefined && items[end]?.[2] === groupId) end += 1
  return items.slice(at, end)
}

/** The answer to a repeated batch. */
export function batchResult(record: IdempotencyRecord): BatchResult {
  return toBatchResult(JSON.parse(record.result) as BatchRecord, record.admitted, record.createdAt, true)
}

/** The answer to a batch whose first `admitted` notifications were stored. */
export function toBatchResult(
  record: BatchRecord,
  admitted: number,
  createdAt: number,
  replayed: boolean,
): BatchResult {
  const { size, overMonth, overHour = overMonth } = record
  const errors = new Map(record.errors)
  const items: BatchItem[] = []
  let next = 0
  let accepted = 0
  for (let index = 0; index < size; index += 1) {
    const error = errors.get(index)
    if (error !== undefined) {
      items.push({ index, error })
      continue
    }
    const group = groupAt(record.items, next)
    const [first] = group
    if (next < admitted && first !== undefined) {
      accepted += 1
      const [id, status, groupId] = first
      const ids = group.map(([each]) => each)
      items.push({ index, id, status, ...(groupId === undefined ? {} : { groupId, ids }) })
    } else items.push({ index, error: next < record.items.length ? overMonth : overHour })
    next += Math.max(1, group.length)
  }
  return {
    accepted,
    rejected: size - accepted,
    items,
    createdAt: new Date(createdAt).toISOString(),
    replayed,
  }
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
  const kindOf = ({ channel }: NewNotification) => how.registry.kinds.of(channel)
  const errors = [...refused]
  const spent: Spent = { pieces: 0, characters: 0, read: 0 }
  const prepared: [number, Group][] = []
  const people = await peopleOf(inputs, organizationId, how)
  // Without a resolver each message is refused when it is judged.
  const localeFor = (input: ParsedSend) => localeOf(input, how.people === null ? null : people(input))
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
        const named = input.category ?? template?.category ?? null
        const category = named === null ? null : categories.of(named)
        prepared.push([index, prepareSend(organizationId, input, person, template, category, how, spent)])
      }),
  )
  prepared.sort(([one], [other]) => one - other)
  // Those without an address will be skipped.
  const going = prepared.flatMap(([, group]) => group.filter(({ to }) => to !== ''))
  const asked = going.map((one) => ({
    organizationId,
    kind: kindOf(one),
    to: one.to,
    recipient: one.recipient ?? null,
    category: categories.of(one.category ?? null),
  }))
  const judged = await verdicts(asked, reads.records, await how.consent.inUse.of(organizationId, inside))
  const verdictOn = new Map(going.map((one, position) => [one, judged[position]]))
  const limited = going.some((one) => isLimited(kindOf(one), one))
  const limits = limited ? await how.limitsOf(organizationId) : null
  const notifications: NewNotification[] = []
  for (const [index, group] of prepared) {
    attempt(index, errors, () => {
      for (const one of group) if (limits !== null && one.to !== '') assertLimits(kindOf(one), one, limits)
      const found = group.map((one) => verdictOn.get(one))
      notifications.push(...heeding(group, found))
    })
  }
  return { notifications, errors }
}

/**
 * The people of a batch, all looked up before the first is judged: if the resolver fails, nothing is stored.
 *
 * @throws NotifierError `service_unavailable`
 */
async function peopleOf(
  inputs: ParsedBatch['inputs'],
  organizationId: string,
  { people }: Preparation,
): Promise<(input: ParsedSend) => ResolvedPerson | null> {
  const ids = inputs.flatMap(([, { recipient }]) => recipient ?? [])
  const found = ids.length === 0 || people === null ? null : await people.many(organizationId, ids)
  return ({ recipient }) => {
    if (recipient === undefined) return null
    if (found === null) throw notResolvable()
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

/** The error of an item as answered and recorded. */
export function itemError({ code, message, details }: NotifierError): ItemError {
  return { code, message, ...(details === undefined ? {} : { details }) }
}
