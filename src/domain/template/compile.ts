import Mustache from 'mustache'
import type { ChannelName } from '../channel.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { BodyFormat } from '../notification.ts'
import { escapeFor, type Landing, landingOf } from './escape.ts'
import { parseSource, type Token } from './parse.ts'

/** Longest source of a body and longest rendered text, in characters. */
export const MAX_BODY_LENGTH: number = 512 * 1024
/** Longest subject, source and rendered, in characters. */
export const MAX_SUBJECT_LENGTH = 998

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

/** A template version, parsed once. */
export interface CompiledTemplate {
  readonly channel: ChannelName
  readonly format: BodyFormat
  /**
   * Checks that every placeholder has a value.
   *
   * @throws NotifierError `invalid_template_variable`, naming every variable that is absent or no text.
   */
  assertVariables(variables: Variables): void
  /** Renders; placeholders without a value become empty. Never expands what a value contains. */
  render(variables: Variables): RenderedText
}

/**
 * Parses a template (mustache: `{{name}}`, `{{{unescaped}}}`, sections, comments; no partials). What it says was judged
 * when it was written.
 *
 * @throws NotifierError `invalid_parameter` when the source is not well-formed.
 */
export function compileTemplate(source: TemplateSource): CompiledTemplate {
  const format = source.format ?? detectFormat(source.channel, source.body)
  const body = parseSource(source.body, 'body')
  const subject = source.subject === null ? null : parseSource(source.subject, 'subject')
  const bodyLanding = landingOf(source.channel, format, body)
  const required = new Set<string>()
  for (const tokens of subject === null ? [body] : [body, subject]) collectRequired(tokens, required)
  const names = [...required]

  return {
    channel: source.channel,
    format,
    assertVariables(variables) {
      const missing = names.filter((name) => !isText(lookUp(variables, name)))
      if (missing.length > 0) throw missingVariables(missing)
    },
    render(variables) {
      return {
        subject:
          subject === null ? null : toHeader(writer.write(subject, source.subject ?? '', variables, 'text')),
        body: writer.write(body, source.body, variables, bodyLanding),
        format,
      }
    },
  }
}

/** The format of an e-mail body that states none: a document or a closing tag in the source makes it HTML. */
export function detectFormat(channel: ChannelName, source: string): BodyFormat {
  return channel === 'email' && /<!doctype html|<html[\s>]|<\/[a-z][a-z0-9]*\s*>/i.test(source)
    ? 'html'
    : 'text'
}

/** A subject on one line: CR, LF and other controls become spaces (DESIGN.md §4 "Rendering"). */
export function toHeader(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, MAX_SUBJECT_LENGTH)
    .replace(/[\uD800-\uDBFF]$/, '')
}

function missingVariables(missing: readonly string[]): NotifierError {
  const list = missing.map((name) => `"${name}"`).join(', ')
  return new NotifierError('invalid_template_variable', {
    message: `The template needs ${missing.length === 1 ? 'the variable' : 'the variables'} ${list} as text, number or boolean.`,
    details: { field: 'variables', missing },
  })
}

/** Names outside of sections; a section makes the names inside it optional (DESIGN.md §4 "Rendering"). */
function collectRequired(tokens: readonly Token[], into: Set<string>): void {
  for (const token of tokens) if (token[0] === 'name' || token[0] === '&') into.add(token[1])
}

function isText(value: unknown): boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

/** Own properties only, along the dots. */
function lookUp(scope: unknown, path: string): unknown {
  if (path === '.') return scope
  let value = scope
  for (const key of path.split('.')) {
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

/** Most sections that one text may expand: nested lists multiply, and one text must not stop the whole process. */
const MAX_SECTIONS = 100_000

/** mustache's writer, bounded; writes values that are text and nothing for others. */
class BoundedWriter extends Mustache.Writer {
  private sections = 0
  private characters = 0

  write(tokens: Token[], source: string, variables: Variables, landing: Landing): string {
    this.sections = MAX_SECTIONS
    this.characters = MAX_BODY_LENGTH
    return this.renderTokens(tokens as string[][], new OwnContext(variables), undefined, source, {
      escape: escapeFor(landing),
    })
  }

  override renderTokens(...how: Parameters<Mustache.Writer['renderTokens']>): string {
    this.sections -= 1
    if (this.sections < 0) throw tooLarge(`expands more than ${MAX_SECTIONS} sections`)
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

function tooLarge(what: string): NotifierError {
  return new NotifierError('message_too_large', { message: `The rendered text ${what}.` })
}

const writer = new BoundedWriter()
