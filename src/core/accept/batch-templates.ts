import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import type { AcceptReads } from '../ports/storage/accept.ts'
import { type CodeTemplates, inCode } from '../text/code-templates.ts'
import type { Work } from '../text/extent.ts'
import { findTemplates } from '../text/find-templates.ts'
import { needsTexts, sharedSize } from '../text/library.ts'
import type { Template } from '../text/template.ts'
import type { BatchCategories } from './batch-categories.ts'
import type { ParsedSend } from './input.ts'
import { type AcceptServices, channelHint, type Group } from './prepare.ts'

/** The messages of a batch that were parsed. */
export type BatchInputs = readonly (readonly [index: number, input: ParsedSend])[]

/** Key of messages without a template. */
const NONE = ''
/** Templates read at once: each may have half a mebibyte. */
const READ_AT_ONCE = 16
/** Maximum size of a batch's expanded templates. Beyond it, further messages with a template are refused. */
const MAX_EXPANDED = 5_000_000
/** Writing this many characters costs as much as a tag. */
const TAG = 64
/** Finding the texts of a template in one more locale costs as much as expanding this many. */
const PIECES_OF_A_LOCALE = 5_000
/** Maximum number of characters of a batch's templates. */
const MAX_READ = 50 * 1024 * 1024

/**
 * Maximum number of characters that templates in code write for a batch: all are held until the commit. Beyond it, further
 * messages with a template are refused.
 */
const MAX_HELD = 64 * 1024 * 1024
/** Messages of a batch for which templates in code may take their whole timeout. */
const MOST_UNANSWERED = 3

/** Work spent on a batch so far. */
export interface Spent extends Work {
  /** Characters of its templates. */
  read: number
  /** Characters that its templates in code have written. */
  held: number
  notifications: number
  /** Messages whose templates in code did not answer in time. */
  unanswered: number
}

/** Messages that name the same templates. */
interface Naming {
  readonly names: readonly string[]
  /** The channels of the names. Undefined: messages on one channel, with one name or none. */
  readonly channels: readonly string[] | undefined
  readonly inputs: [number, ParsedSend][]
}

function groupedByTemplates(inputs: BatchInputs): readonly Naming[] {
  const alone = new Map<string, Naming>()
  const several = new Map<string, Naming>()
  for (const [index, input] of inputs) {
    const { template } = input
    const byChannel = typeof template === 'object'
    const key = byChannel ? JSON.stringify(template) : (template ?? NONE)
    const kind = byChannel ? several : alone
    const others = kind.get(key)
    if (others !== undefined) {
      others.inputs.push([index, input])
      continue
    }
    const channels = byChannel ? Object.keys(template) : undefined
    kind.set(key, { names: namesIn(input), channels, inputs: [[index, input]] })
  }
  return [...alone.values(), ...several.values()]
}

/** A message with its template on each channel. */
type WithTemplates = readonly [index: number, input: ParsedSend, templateOn: FoundOn]

/** Messages with their templates, those of a template together, once their channels' providers are loaded. */
export async function* byTemplate(
  inputs: BatchInputs,
  organizationId: string,
  reads: AcceptReads,
  services: AcceptServices & {
    readonly inBatch: BatchCategories
    localeFor(input: ParsedSend): string | undefined
  },
  spent: Spent,
): AsyncGenerator<Iterable<WithTemplates | Promise<WithTemplates>>> {
  const { registry, inBatch } = services
  const warmed = new Set<string>()
  async function warm(channel: string | undefined): Promise<void> {
    if (channel === undefined || warmed.has(channel)) return
    warmed.add(channel)
    await registry.warm(channel, organizationId)
  }
  for await (const group of templatesOf(inputs, organizationId, reads, services, spent)) {
    const { names, templates } = group
    const used = names.flatMap((name) => templates.get(name) ?? [])
    await inBatch.prepare(used.map(({ template }) => template?.category))
    const hint = used[0]?.template ?? null
    const warming = new Set(group.inputs.flatMap(([, input]) => input.channels ?? channelHint(input, hint)))
    await Promise.all([...warming].map(warm))
    yield withTemplates(group, used, services.localeFor)
  }
}

function* withTemplates(
  { channels, inputs }: Naming,
  used: readonly BatchTemplate[],
  localeFor: (input: ParsedSend) => string | undefined,
): Generator<WithTemplates | Promise<WithTemplates>> {
  if (used.length === 0) {
    for (const [index, input] of inputs) yield [index, input, NO_TEMPLATE]
    return
  }
  const on = (found: readonly Found[]): FoundOn =>
    channels === undefined
      ? () => found[0] ?? null
      : (channel) => found[channels.indexOf(channel ?? '')] ?? null
  for (const [index, input] of inputs) {
    const found = used.map(({ inLocale }) => inLocale(localeFor(input)))
    yield found.some(isPending)
      ? Promise.all(found).then((whole) => [index, input, on(whole)] as const)
      : [index, input, on(found as readonly Found[])]
  }
}

/** Of a message that names none. */
export const NO_TEMPLATE = (): null => null

/** The template on a channel. Undefined as the channel: that of a message on one. */
export type FoundOn = (channel: string | undefined) => Found

type InLocale = (locale: string | undefined) => Found | Promise<Found>

const isPending = (found: Found | Promise<Found>): found is Promise<Found> => found instanceof Promise

/** Puts a template together and compiles it, once for each locale. */
function templateIn(
  template: Template | null,
  { records }: AcceptReads,
  { compiled, library }: AcceptServices,
  spent: Spent,
): InLocale {
  async function prepared(whole: Found): Promise<Found> {
    if (whole === null || isNotifierError(whole) || isSpent(spent)) return whole
    const ready = await compiled.prepare(whole)
    spent.pieces += ready?.cost ?? 0
    return whole
  }
  if (template === null) return () => null
  let isCounted = false
  function count({ body, text }: Template): void {
    if (!isCounted) spent.read += body.length + (text?.length ?? 0)
    isCounted = true
  }
  if (!needsTexts(template)) {
    let once: Found | undefined
    return () => {
      count(template)
      return once ?? prepared(template).then((whole) => (once = whole))
    }
  }
  const known = new Map<string | undefined, Found>()
  async function complete(whole: Template, locale: string | undefined): Promise<Found> {
    count(whole)
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

interface BatchTemplate {
  readonly template: Template | null
  readonly inLocale: InLocale
}

/**
 * Messages with their templates by name. Reads a few templates at a time, keeps each for as long as messages need it, and
 * reads none after the batch has reached its limit.
 */
async function* templatesOf(
  inputs: BatchInputs,
  organizationId: string,
  reads: AcceptReads,
  services: AcceptServices,
  spent: Spent,
): AsyncGenerator<Naming & { readonly templates: ReadonlyMap<string, BatchTemplate> }> {
  const groups = groupedByTemplates(inputs)
  const left = new Map<string, number>()
  for (const name of groups.flatMap(({ names }) => names)) left.set(name, (left.get(name) ?? 0) + 1)
  const templates = new Map<string, BatchTemplate>()
  for (let at = 0; at < groups.length; ) {
    const some = groups.slice(at, at + readAtOnce(groups, at))
    at += some.length
    const names = new Set(some.flatMap((group) => group.names).filter((name) => !templates.has(name)))
    for (const [name, template] of await findAll([...names], organizationId, reads, services, spent))
      templates.set(name, { template, inLocale: templateIn(template, reads, services, spent) })
    for (const group of some) {
      yield { ...group, templates }
      for (const name of group.names) {
        const more = (left.get(name) ?? 0) - 1
        left.set(name, more)
        if (more <= 0) templates.delete(name)
      }
    }
  }
}

/** How many groups from a position on name few enough templates to read these at once; at least one. */
function readAtOnce(groups: readonly Naming[], from: number): number {
  let count = 0
  let names = 0
  for (let at = from; at < groups.length; at += 1) {
    names += groups[at]?.names.length ?? 0
    if (count > 0 && names > READ_AT_ONCE) break
    count += 1
  }
  return count
}

async function findAll(
  names: readonly string[],
  organizationId: string,
  { records }: AcceptReads,
  { code, texts }: AcceptServices,
  spent: Spent,
): Promise<readonly (readonly [name: string, template: Template | null])[]> {
  const references = names.filter((name) => inCode(code, name) === null)
  const wanted = references.map((reference) => ({ organizationId, reference }))
  const found = wanted.length === 0 || isSpent(spent) ? [] : await findTemplates(records, texts, wanted)
  return names.map((name) => [
    name,
    inCode(code, name)?.of(organizationId) ?? found[references.indexOf(name)] ?? null,
  ])
}

/**
 * Refuses further messages of templates in code after several that did not answer: messages are written one after another,
 * and each would take the whole timeout.
 *
 * @throws NotifierError `template_error`
 */
export function assertAnswering(code: CodeTemplates, name: string | undefined, spent: Spent): void {
  if (spent.unanswered < MOST_UNANSWERED || code.find(name) === null) return
  throw new NotifierError('template_error', {
    message: `Templates in code did not answer for ${MOST_UNANSWERED} messages of this batch, so no more are written for it. Send this notification in another batch.`,
    details: { field: 'template', template: name },
  })
}

/** The templates that a message names. */
export function namesIn({ template }: ParsedSend): readonly string[] {
  if (template === undefined) return []
  return typeof template === 'string' ? [template] : Object.values(template)
}

/** A template, or why it cannot be used. Null: none. */
type Found = Template | NotifierError | null

/** Keeps why a template cannot be used for those that need it. */
export async function attempted(template: Promise<Template | null>): Promise<Found> {
  try {
    return await template
  } catch (error) {
    if (isNotifierError(error) && error.code === 'invalid_template') return error
    throw error
  }
}

export function isSpent({ pieces, characters, read, held }: Spent): boolean {
  return pieces + characters / TAG > MAX_EXPANDED || read > MAX_READ || held > MAX_HELD
}

/** Characters of texts from code, which the messages of a channel share. */
export function heldBy(group: Group): number {
  const texts = group.length === 1 ? group : new Map(group.map((one) => [one.channel, one])).values()
  let held = 0
  for (const { content } of texts)
    if ('body' in content && content.template !== undefined)
      held += content.body.length + (content.text?.length ?? 0)
  return held
}

export function batchTooLarge(): NotifierError {
  return new NotifierError('message_too_large', {
    message:
      `The templates of this batch have more than ${MAX_READ} characters, expand more than ${MAX_EXPANDED} tags, or write ` +
      `more than ${MAX_HELD} characters in code: send this notification in another batch.`,
    details: { field: 'notifications' },
  })
}
