import type { ChannelKind, RenderedText } from '../channels/channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { type Bounds, counted, DEFAULT_BOUNDS } from '../input/bounds.ts'
import { listedNames, MOST_NAMES } from '../input/listed-names.ts'
import { finish, type Steps } from '../loop/steps.ts'
import type { BodyFormat } from '../notification/notification.ts'
import { isOrganizationName } from '../tenancy/branding.ts'
import { createAssembly, invalidTemplate, withoutFlavour } from './assemble.ts'
import { beginningOf } from './escape.ts'
import { boundOf, extentOf, type Levels, levelsOf, type Work } from './extent.ts'
import { formatOf } from './format.ts'
import {
  type CatalogueMessage,
  costOfReading,
  EXPECTED_VALUE,
  fitsArgument,
  LANGUAGE_NAMES,
  type Language,
  type MessageArgument,
  messageKey,
  messagesIn,
} from './language.ts'
import { type GivenNames, givenNamesIn, isLinkName } from './links.ts'
import { childrenOf, type Token } from './parse.ts'
import type { SharedSources } from './shared-text.ts'
import { type Budget, lookUp, writeText } from './write.ts'

/** Maximum length of a subject, source and rendered, in characters. */
export const MAX_SUBJECT_LENGTH = 998

/** Compiling a tag counts as much as expanding this many. */
const EXPANDED_OF_COMPILED = 4

/** Memory per token, and of an empty compiled template; in bytes, measured. */
const TOKEN_SIZE = 120
const OWN_SIZE = 2_000

type Variables = Readonly<Record<string, unknown>>

/** The fields of a template version for {@link compileTemplate}. */
export interface TemplateSource {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat | null
  /** The text alternative of HTML. */
  readonly text?: string | null | undefined
}

const NO_SHARED: SharedSources = { layout: null, partials: new Map() }

/** Replacements by a send. */
interface Instead {
  /** Of dates in messages. Default: UTC. */
  readonly timeZone?: string | undefined
  readonly subject?: string | undefined
  /** For mails. */
  readonly format?: BodyFormat | undefined
}

/** A variable of a template. */
export interface Placeholder {
  readonly name: string
  /** True: a send without a value of the type is refused. False: it opens a section, or a message may do without it. */
  readonly required: boolean
  /** `text` is a text, a number or a boolean, `date` one in ISO 8601, `section` any JSON. */
  readonly type: PlaceholderType
}

type PlaceholderType = MessageArgument['type'] | 'section'

/** The tokens of a template with its layout and partials. */
export interface ParsedTexts {
  /** Null: none. */
  readonly subject: readonly Token[] | null
  readonly body: readonly Token[]
  /** The text alternative of HTML. Null: none. */
  readonly text: readonly Token[] | null
  /** Its messages by key. */
  readonly messages: ReadonlyMap<string, CatalogueMessage>
  /** True: it has a language, and so the names of one. */
  readonly isLocalized: boolean
}

/** A parsed template version. */
export interface CompiledTemplate {
  readonly parsed: ParsedTexts
  /** What compiling it cost, in tags that a text expands. */
  readonly cost: number
  /** Approximate memory in bytes. */
  readonly size: number
  /** The names in the text that are no variables of a send. */
  readonly given: GivenNames
  /** The variables outside sections and those that open sections, in order, without duplicates. */
  placeholders(): readonly Placeholder[]
  /**
   * Checks that every placeholder has a value and that the text does not become too large.
   *
   * @throws NotifierError `invalid_template_variable`, which names the first ten missing or invalid variables;
   *   `message_too_large`
   */
  assertVariables(variables: Variables, instead?: Instead, spent?: Work): void
  /**
   * Renders the text. Placeholders without a value are empty. Values are never expanded.
   *
   * @param spent receives the cost, also of a refused text
   */
  render(variables: Variables, instead?: Instead, spent?: Work): RenderedText
}

/**
 * Parses a template (mustache: `{{name}}`, `{{{unescaped}}}`, sections, comments, partials) in its layout. Its text was
 * checked when it was stored. The subject has no layout.
 *
 * @param shared default: neither layout nor partials
 * @param language default: none, so that it has no messages
 * @param bounds of the text, and of what it may render
 * @throws NotifierError `invalid_parameter` for a malformed source; `invalid_template` for a missing partial, a cycle,
 *   or too much text; `missing_translation` for messages that no locale has
 */
export function compileTemplate(
  kind: ChannelKind,
  source: TemplateSource,
  shared: SharedSources = NO_SHARED,
  language: Language | null = null,
  bounds: Bounds = DEFAULT_BOUNDS,
): CompiledTemplate {
  return finish(compileSteps(kind, source, shared, language, bounds))
}

/** Like {@link compileTemplate}, with a step for the body, and for each message: a text may name all of a catalogue. */
export function* compileSteps(
  kind: ChannelKind,
  source: TemplateSource,
  shared: SharedSources = NO_SHARED,
  language: Language | null = null,
  bounds: Bounds = DEFAULT_BOUNDS,
): Steps<CompiledTemplate> {
  const own = formatOf(kind, source.format, source.body)
  const assembly = createAssembly(shared, bounds)
  if (shared.layout !== null && shared.layout[own] === null)
    throw withoutFlavour('layout', own, { field: 'layout' })
  const body = assembly.layOut(source.body, 'body', own)
  yield
  // By itself, as variants without a subject share it.
  const heading = createAssembly(shared, bounds)
  const subject = source.subject === null ? null : heading.expand(source.subject, 'subject', 'text')
  const alternative = source.text == null ? null : assembly.layOut(source.text, 'text', 'text')
  const bodies = alternative === null ? [body] : [body, alternative]
  const beginning = beginningOf(body)
  const sources = subject === null ? bodies : [...bodies, subject]
  const messages = yield* messagesIn(sources, language)
  assertFewFormats(messages)
  const ofBody = requiredOf(bodies, messages, language)
  const levels = sources.map((source) => levelsOf(source, messages))
  const needsRendering =
    [...messages.values()].some(({ args }) => args.length > 0) && isUncertain(sources, messages)
  const ofBodies = piecesOf(levels.slice(0, bodies.length))
  const pieces = piecesOf(levels)
  if (Math.max(ofBodies, pieces - ofBodies) > bounds.expandedTags)
    throw invalidTemplate(
      `has more than ${counted(bounds.expandedTags)} tags and texts with the parts of its messages, which is the option "bounds.expandedTags" of the service`,
    )
  const ofBoth =
    subject === null || kind.subject === undefined ? ofBody : requiredOf(sources, messages, language)

  function render(variables: Variables, instead: Instead = {}, spent = nothing()): RenderedText {
    const budget = { bounds, spent: nothing() }
    try {
      return written(variables, instead, budget)
    } finally {
      spent.pieces += budget.spent.pieces
      spent.characters += budget.spent.characters
    }
  }

  function written(variables: Variables, instead: Instead, budget: Budget): RenderedText {
    const format = formatOf(kind, instead.format ?? own, source.body)
    const speaking = language === null ? null : { language, messages, timeZone: instead.timeZone ?? 'UTC' }
    const title =
      instead.subject ?? (subject === null ? null : writeText(subject, variables, asItIs, budget, speaking))
    const landing = { format, beginning }
    const escapeValue = (value: string): string => kind.escape?.(value, landing) ?? value
    return {
      subject: title === null ? null : toHeader(title),
      // If an HTML template is sent as text, its text alternative is used.
      body: writeText(
        format === 'html' ? body : (alternative ?? body),
        variables,
        escapeValue,
        budget,
        speaking,
      ),
      format,
      ...(format === 'html' && alternative !== null
        ? { text: writeText(alternative, variables, asItIs, budget, speaking) }
        : {}),
    }
  }

  const inMessages = [...messages.values()].flatMap(({ args }) => args.map(({ name }) => name))
  const given = givenNamesIn(sources, inMessages)

  function assertVariables(variables: Variables, instead: Instead = {}, spent = nothing()): void {
    const needed = instead.subject === undefined ? ofBoth : ofBody
    spent.pieces += needed.length
    const missing = needed.filter(({ name, type }) => !fitsArgument(lookUp(variables, name), type))
    if (missing.length > 0) throw missingVariables(missing, variables)
    // Rendering is the most expensive check, and happens again at the delivery.
    const extent = extentOf(variables)
    const worst = levels.map((each) => boundOf(each, extent))
    if (
      needsRendering ||
      worst.some(({ bytes }) => bytes > bounds.textBytes) ||
      worst.reduce((sum, each) => sum + each.pieces, 0) > bounds.expandedTags
    )
      render(variables, instead, spent)
  }

  const read = [...messages.values()].reduce((sum, message) => sum + costOfReading(message), 0)

  return {
    parsed: { subject, body, text: alternative, messages, isLocalized: language !== null },
    cost: EXPANDED_OF_COMPILED * pieces + Math.ceil(read),
    given,
    size:
      OWN_SIZE +
      2 * (assembly.characters + heading.characters) +
      TOKEN_SIZE * (assembly.tokens + heading.tokens),
    placeholders() {
      const shown = subject === null || kind.subject === undefined ? bodies : [subject, ...bodies]
      const required = new Map(ofBoth.map(({ name, type }) => [name, type]))
      const types = new Map<string, PlaceholderType>()
      for (const { name, type } of shown.flatMap((source) => openNames(source, messages, language)))
        if (!isLinkName(name) && !isOrganizationName(name))
          types.set(name, narrower(types.get(name), required.get(name) ?? type))
      return [...types].map(([name, type]) => ({ name, required: required.has(name), type }))
    },
    assertVariables,
    render,
  }
}

/** A subject on one line: CR, LF and other controls become spaces. */
export function toHeader(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, MAX_SUBJECT_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, '')
}

function piecesOf(levels: readonly Levels[]): number {
  return levels.flat().reduce((sum, level) => sum + level.pieces, 0)
}

function missingVariables(missing: readonly Required[], variables: Variables): NotifierError {
  const names = missing.map(({ name }) => name)
  const list = listedNames(names, (name) => kindOf(lookUp(variables, name)))
  const types = new Set(missing.map(({ type }) => type))
  const hint = names.includes('organization.name')
    ? ' Name the organization with organizations.update(), or in the variables if they have an "organization".'
    : ''
  const right = types.size > 1 ? 'a value of its type' : EXPECTED_VALUE[missing[0]?.type ?? 'text']
  return new NotifierError('invalid_template_variable', {
    message:
      missing.length === 1
        ? `The template needs the variable ${list}: it must be ${right}.${hint}`
        : `The template needs the variables ${list}: each must be ${right}.${hint}`,
    details: { field: 'variables', missing: names.slice(0, MOST_NAMES) },
  })
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'absent'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

type Required = Pick<MessageArgument, 'name' | 'type'>

/** The variables outside sections, without duplicates; a section makes the ones inside optional. */
function requiredOf(
  sources: readonly (readonly Token[])[],
  messages: Messages,
  language: Language | null,
): readonly Required[] {
  const required = new Map<string, Required>()
  const seen = new Set<string>()
  for (const token of sources.flatMap((source) => [...outside(source)])) {
    if (seen.has(token[1])) continue
    if (token[0] === 'name' || token[0] === '&') seen.add(token[1])
    for (const each of neededBy(token, messages, language)) {
      if (isLinkName(each.name)) continue
      if (each.type !== 'text' || !required.has(each.name)) required.set(each.name, each)
    }
  }
  return [...required.values()]
}

type Messages = ReadonlyMap<string, CatalogueMessage>

/** Maximum number of different formats of numbers and dates: the first use of each takes up to 0.1 ms. */
const MOST_FORMATS = 100

function assertFewFormats(messages: Messages): void {
  const formats = new Set([...messages.values()].flatMap((message) => message.formats))
  if (formats.size > MOST_FORMATS)
    throw invalidTemplate(
      `has messages with more than ${MOST_FORMATS} different formats of numbers and dates`,
    )
}

function neededBy(token: Token, messages: Messages, language: Language | null): readonly Required[] {
  const [type, name] = token
  if (type !== 'name' && type !== '&') return []
  const key = messageKey(token)
  if (key !== null) return messages.get(key)?.args.filter(({ required }) => required) ?? []
  return language !== null && LANGUAGE_NAMES.includes(name) ? [] : [{ name, type: 'text' }]
}

type Named = Pick<Placeholder, 'name' | 'type'>

/** The variables outside sections, and those that open sections. */
function openNames(
  source: readonly Token[],
  messages: Messages,
  language: Language | null,
): readonly Named[] {
  return [...outside(source)].flatMap((token): readonly Named[] => {
    const [type, name] = token
    if (type === '#' || type === '^') return [{ name, type: 'section' }]
    const key = messageKey(token)
    return key === null ? neededBy(token, messages, language) : (messages.get(key)?.args ?? [])
  })
}

/** Of two types that a name is used with, the one whose values fit both. */
function narrower(one: PlaceholderType | undefined, other: PlaceholderType): PlaceholderType {
  if (one === undefined || one === 'section') return other
  return one === 'text' && other !== 'section' ? other : one
}

/** True: only rendering shows whether all values of the messages are there and fit. */
function isUncertain(sources: readonly (readonly Token[])[], messages: Messages): boolean {
  if ([...messages.values()].some(({ args }) => args.some(({ required }) => !required))) return true
  const outer = new Set(sources.flatMap((source) => [...outside(source)]))
  return sources.some((source) => hasInner(source, outer))
}

/** True: a message with values is inside a section. */
function hasInner(level: readonly Token[], outer: ReadonlySet<Token>): boolean {
  return level.some(
    (token) => (messageKey(token) !== null && !outer.has(token)) || hasInner(childrenOf(token), outer),
  )
}

/** The tokens outside sections, with those of partials instead of each. */
function* outside(level: readonly Token[]): Generator<Token> {
  for (const token of level) {
    if (token[0] === '>') yield* outside(childrenOf(token))
    else yield token
  }
}

const asItIs = (value: string): string => value

function nothing(): Work {
  return { pieces: 0, characters: 0 }
}
