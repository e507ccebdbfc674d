import Mustache from 'mustache'
import type { ChannelName } from '../channel.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames, MOST_NAMES } from '../listed-names.ts'
import type { BodyFormat } from '../notification.ts'
import { escapeFor, type Landing, landingOf } from './escape.ts'
import { boundOf, type Extent, extentOf, type Levels, levelsOf, type Work } from './extent.ts'
import { formatOf } from './format.ts'
import { parseSource, type Token } from './parse.ts'

/** Longest source of a body and longest rendered text, in characters. */
export const MAX_BODY_LENGTH: number = 512 * 1024
/** Longest subject, source and rendered, in characters. */
export const MAX_SUBJECT_LENGTH = 998

/** Of one token, and of all that a compiled template has whatever its text is; in bytes, measured. */
const TOKEN_SIZE = 120
const OWN_SIZE = 2_000

type Variables = Readonly<Record<string, unknown>>

/** What {@link compileTemplate} needs of a template version. */
export interface TemplateSource {
  readonly channel: ChannelName
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat | null
}

/** Text ready for a channel. */
export interface RenderedText {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
}

/** What a send gives in place of a template's own. */
interface Instead {
  readonly subject?: string | undefined
  /** Of a mail. */
  readonly format?: BodyFormat | undefined
}

/** A template version, parsed once. */
export interface CompiledTemplate {
  readonly channel: ChannelName
  /** About as many bytes as it takes of memory. */
  readonly size: number
  /**
   * Checks that every placeholder of what is sent has a value, and that the text does not become too large.
   *
   * @throws NotifierError `invalid_template_variable`, naming the first ten variables that are absent or no text;
   *   `message_too_large`
   */
  assertVariables(variables: Variables, instead?: Instead, spent?: Work): void
  /**
   * Renders; placeholders without a value become empty. Never expands what a value contains.
   *
   * @param spent gets what it took added, also where it is refused
   */
  render(variables: Variables, instead?: Instead, spent?: Work): RenderedText
}

/**
 * Parses a template (mustache: `{{name}}`, `{{{unescaped}}}`, sections, comments; no partials). What it says was judged
 * when it was written.
 *
 * @throws NotifierError `invalid_parameter` when the source is not well-formed.
 */
export function compileTemplate(source: TemplateSource): CompiledTemplate {
  const { channel } = source
  const own = formatOf(channel, source.format, source.body)
  const body = parseSource(source.body, 'body')
  const subject = source.subject === null ? null : parseSource(source.subject, 'subject')
  const landing = landingOf(channel, own, body)
  const ofBody = requiredOf(body)
  const levels = [body, ...(subject === null ? [] : [subject])].map(levelsOf)
  const ofBoth = subject === null || !SENDS_SUBJECT[channel] ? ofBody : requiredOf(body, subject)

  function render(variables: Variables, instead: Instead = {}, spent = nothing()): RenderedText {
    const format = formatOf(channel, instead.format ?? own, source.body)
    const written =
      instead.subject ??
      (subject === null ? null : writer.write(subject, source.subject ?? '', variables, 'text', spent))
    return {
      subject: written === null ? null : toHeader(written),
      body: writer.write(body, source.body, variables, channel === 'email' ? format : landing, spent),
      format,
    }
  }

  return {
    channel,
    size: OWN_SIZE + sizeOf(source.body, levels[0]) + sizeOf(source.subject ?? '', levels[1]),
    assertVariables(variables, instead = {}, spent = nothing()) {
      const names = instead.subject === undefined ? ofBoth : ofBody
      spent.pieces += names.length
      const missing = names.filter((name) => !isText(lookUp(variables, name)))
      if (missing.length > 0) throw missingVariables(missing, variables)
      // To render costs more than all else that is checked, and is done anyway when it is sent.
      const extent = extentOf(variables)
      if (levels.some((each) => mayBeTooLarge(each, extent))) render(variables, instead, spent)
    },
    render,
  }
}

function sizeOf(source: string, levels: Levels = []): number {
  return 2 * source.length + TOKEN_SIZE * levels.reduce((sum, { pieces }) => sum + pieces, 0)
}

/** Where the subject of a message goes out with it: what is not sent needs no values. */
const SENDS_SUBJECT: Readonly<Record<ChannelName, boolean>> = {
  email: true,
  push: true,
  webhook: true,
  sms: false,
  slack: false,
}

/** A subject on one line: CR, LF and other controls become spaces. */
export function toHeader(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, MAX_SUBJECT_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, '')
}

function missingVariables(missing: readonly string[], variables: Variables): NotifierError {
  const list = listedNames(missing, (name) => kindOf(lookUp(variables, name)))
  return new NotifierError('invalid_template_variable', {
    message:
      missing.length === 1
        ? `The template needs the variable ${list}: it must be a text, a number or a boolean.`
        : `The template needs the variables ${list}: each must be a text, a number or a boolean.`,
    details: { field: 'variables', missing: missing.slice(0, MOST_NAMES) },
  })
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'absent'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`
}

/** Names outside of sections, each once; a section makes the names inside it optional. */
function requiredOf(...sources: readonly Token[][]): readonly string[] {
  const names = new Set<string>()
  for (const [type, name] of sources.flat()) if (type === 'name' || type === '&') names.add(name)
  return [...names]
}

function isText(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

/** Own properties only, along the dots, and no further than there are values: a name may have a hundred. */
function lookUp(scope: unknown, path: string): unknown {
  if (path === '.') return scope
  let value = scope
  for (let from = 0, dot = 0; dot !== -1; from = dot + 1) {
    dot = path.indexOf('.', from)
    const key = path.slice(from, dot === -1 ? undefined : dot)
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}

/** mustache's own look-up walks prototypes and calls functions; ours does neither. */
class OwnContext extends Mustache.Context {
  readonly scope: unknown
  readonly outer: OwnContext | undefined

  constructor(scope: unknown, outer?: OwnContext) {
    super(scope, outer)
    this.scope = scope
    this.outer = outer
  }

  override push(scope: unknown): OwnContext {
    return new OwnContext(scope, this)
  }

  override lookup(name: string): unknown {
    if (name === '.') return plain(this.scope)
    const first = name.split('.', 1)[0] ?? name
    for (let context: OwnContext | undefined = this; context !== undefined; context = context.outer) {
      const { scope } = context
      if (typeof scope === 'object' && scope !== null && Object.hasOwn(scope, first))
        return plain(lookUp(scope, name))
    }
    return undefined
  }
}

function plain(value: unknown): unknown {
  return typeof value === 'function' ? undefined : value
}

/**
 * Most pieces of one text: lists multiply, and one text must not stop the whole process. It is five for each of the values
 * that a message may have, and takes some 5 ms, or 30 where names go deep.
 */
export const MAX_PIECES = 50_000

/** mustache's writer, bounded; writes values that are text and nothing for others. */
class BoundedWriter extends Mustache.Writer {
  private pieces = 0
  private characters = 0

  write(tokens: Token[], source: string, variables: Variables, landing: Landing, spent: Work): string {
    this.pieces = MAX_PIECES
    this.characters = MAX_BODY_LENGTH
    try {
      return this.renderTokens(tokens as string[][], new OwnContext(variables), undefined, source, {
        escape: escapeFor(landing),
      })
    } finally {
      spent.pieces += MAX_PIECES - this.pieces
      spent.characters += MAX_BODY_LENGTH - this.characters
    }
  }

  override renderTokens(...how: Parameters<Mustache.Writer['renderTokens']>): string {
    const [tokens] = how
    this.pieces -= tokens.length + 1
    if (this.pieces < 0) throw tooLarge(`expands more than ${MAX_PIECES} tags`)
    return super.renderTokens(...how)
  }

  override unescapedValue(token: string[], context: Mustache.Context): string {
    const value = context.lookup(token[1] ?? '')
    return isText(value) ? this.take(String(value)) : ''
  }

  override escapedValue(token: string[], context: Mustache.Context, how?: Mustache.RenderOptions): string {
    const value = context.lookup(token[1] ?? '')
    return isText(value) ? this.take(String(how?.escape?.(value) ?? '')) : ''
  }

  override rawValue(token: string[]): string {
    return this.take(token[1] ?? '')
  }

  private take(text: string): string {
    this.characters -= text.length
    if (this.characters < 0)
      throw tooLarge(`has more than the ${MAX_BODY_LENGTH} characters that are allowed`)
    return text
  }
}

function nothing(): Work {
  return { pieces: 0, characters: 0 }
}

function mayBeTooLarge(levels: Levels, extent: Extent): boolean {
  const { characters, pieces } = boundOf(levels, extent)
  return characters > MAX_BODY_LENGTH || pieces > MAX_PIECES
}

function tooLarge(what: string): NotifierError {
  return new NotifierError('message_too_large', { message: `The rendered text ${what}.` })
}

const writer = new BoundedWriter()
