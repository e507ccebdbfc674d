import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import type { NotificationContent } from '../notification/notification.ts'
import type { AcceptReads } from '../ports/storage/accept.ts'
import { type CodeTemplates, inCode } from '../text/code-templates.ts'
import type { Work } from '../text/extent.ts'
import { findTemplates } from '../text/find-templates.ts'
import { needsTexts, sharedSize } from '../text/library.ts'
import type { Template } from '../text/template.ts'
import type { BatchCategories } from './batch-categories.ts'
import type { ParsedSend } from './input.ts'
import { type AcceptServices, channelHint } from './prepare.ts'

/** The messages of a batch that were parsed. */
export type BatchInputs = readonly (readonly [index: number, input: ParsedSend])[]

/** Group of messages without a template. */
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

function groupedByTemplate(inputs: BatchInputs): Map<string, [number, ParsedSend][]> {
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
export async function* byTemplate(
  inputs: BatchInputs,
  organizationId: string,
  reads: AcceptReads,
  services: AcceptServices & {
    readonly inBatch: BatchCategories
    localeFor(input: ParsedSend): string | undefined
  },
  spent: Spent,
): AsyncGenerator<readonly [index: number, input: ParsedSend, template: Found]> {
  const naming = groupedByTemplate(inputs)
  const { registry, inBatch } = services
  const warmed = new Set<string>()
  async function warm(channel: string | undefined): Promise<void> {
    if (channel === undefined || warmed.has(channel)) return
    warmed.add(channel)
    await registry.warm(channel, organizationId)
  }
  for await (const [name, template] of templatesOf(
    [...naming.keys()],
    organizationId,
    reads,
    services,
    spent,
  )) {
    const named = naming.get(name) ?? []
    const inLocale = await templateIn(template, reads, services, spent)
    await inBatch.prepare([template?.category])
    const channels = new Set(named.flatMap(([, input]) => input.channels ?? channelHint(input, template)))
    await Promise.all([...channels].map(warm))
    for (const [index, input] of named) {
      const known = inLocale(services.localeFor(input))
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
  { compiled, library }: AcceptServices,
  spent: Spent,
): Promise<InLocale> {
  async function prepared(whole: Found): Promise<Found> {
    if (whole === null || isNotifierError(whole) || isSpent(spent)) return whole
    const ready = await compiled.prepare(whole)
    spent.pieces += ready?.cost ?? 0
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
  { code, texts }: AcceptServices,
  spent: Spent,
): AsyncGenerator<readonly [name: string, template: Template | null]> {
  for (let at = 0; at < names.length; at += READ_AT_ONCE) {
    const some = names.slice(at, at + READ_AT_ONCE)
    const references = some.filter((name) => name !== NONE && inCode(code, name) === null)
    const nothing = references.length === 0 || isSpent(spent)
    const found = nothing
      ? []
      : await findTemplates(
          records,
          texts,
          references.map((reference) => ({ organizationId, reference })),
        )
    for (const name of some) {
      const template = inCode(code, name)?.of(organizationId) ?? found[references.indexOf(name)] ?? null
      spent.read += template === null ? 0 : template.body.length + (template.text?.length ?? 0)
      yield [name, template]
    }
  }
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

/** A template, or why it cannot be used. Null: none. */
export type Found = Template | NotifierError | null

async function attempted(template: Promise<Template>): Promise<Found> {
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

/** Characters of a text from code: the messages of a group share them. */
export function heldBy(content: NotificationContent): number {
  return 'body' in content && content.template !== undefined
    ? content.body.length + (content.text?.length ?? 0)
    : 0
}

export function batchTooLarge(): NotifierError {
  return new NotifierError('message_too_large', {
    message:
      `The templates of this batch have more than ${MAX_READ} characters, expand more than ${MAX_EXPANDED} tags, or write ` +
      `more than ${MAX_HELD} characters in code: send this notification in another batch.`,
    details: { field: 'notifications' },
  })
}
