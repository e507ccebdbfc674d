import type { ChannelKind, RenderedText } from '../channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames, MOST_NAMES } from '../listed-names.ts'
import type { BodyFormat } from '../notification.ts'
import { finish, type Steps } from '../steps.ts'
import { createAssembly, withoutFlavour } from './assemble.ts'
import { beginningOf } from './escape.ts'
import { boundOf, type Extent, extentOf, type Levels, levelsOf, type Work } from './extent.ts'
import { formatOf } from './format.ts'
import { childrenOf, type Token } from './parse.ts'
import type { SharedSources } from './shared-text.ts'
import { isText, lookUp, MAX_BODY_LENGTH, MAX_PIECES, writeText } from './write.ts'

/** Maximum length of a subject, source and rendered, in characters. */
export const MAX_SUBJECT_LENGTH = 998

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
  readonly subject?: string | undefined
  /** For mails. */
  readonly format?: BodyFormat | undefined
}

/** A variable of a template. */
export interface Placeholder {
  readonly name: string
  /** True: a send must have text, a number or a boolean for it. False: it opens a section. */
  readonly required: boolean
}

/** A parsed template version. */
export interface CompiledTemplate {
  /** Number of tags and texts. */
  readonly pieces: number
  /** Approximate memory in bytes. */
  readonly size: number
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
  /** Like {@link render}, in steps. */
  renderSteps(variables: Variables, instead?: Instead, spent?: Work): Steps<RenderedText>
}

/**
 * Parses a template (mustache: `{{name}}`, `{{{unescaped}}}`, sections, comments, partials) in its layout. Its text was
 * checked when it was stored. The subject has no layout.
 *
 * @param shared default: neither layout nor partials
 * @throws NotifierError `invalid_parameter` for a malformed source; `invalid_template` for a missing partial, a cycle,
 *   or too much text
 */
export function compileTemplate(
  kind: ChannelKind,
  source: TemplateSource,
  shared: SharedSources = NO_SHARED,
): CompiledTemplate {
  const own = formatOf(kind, source.format, source.body)
  const assembly = createAssembly(shared)
  if (shared.layout !== null && shared.layout[own] === null)
    throw withoutFlavour('layout', own, { field: 'layout' })
  const body = assembly.layOut(source.body, 'body', own)
  const subject = source.subject === null ? null : assembly.expand(source.subject, 'subject', 'text')
  const alternative = source.text == null ? null : assembly.layOut(source.text, 'text', 'text')
  const bodies = alternative === null ? [body] : [body, alternative]
  const beginning = beginningOf(body)
  const ofBody = requiredOf(...bodies)
  const levels = [...bodies, ...(subject === null ? [] : [subject])].map(levelsOf)
  const pieces = levels.flat().reduce((sum, level) => sum + level.pieces, 0)
  const ofBoth = subject === null || kind.subject === undefined ? ofBody : requiredOf(...bodies, subject)

  function* renderSteps(variables: Variables, instead: Instead = {}, spent = nothing()): Steps<RenderedText> {
    const format = formatOf(kind, instead.format ?? own, source.body)
    const written =
      instead.subject ?? (subject === null ? null : yield* writeText(subject, variables, asItIs, spent))
    const landing = { format, beginning }
    const escapeValue = (value: string): string => kind.escape?.(value, landing) ?? value
    return {
      subject: written === null ? null : toHeader(written),
      // If an HTML template is sent as text, its text alternative is used.
      body: yield* writeText(format === 'html' ? body : (alternative ?? body), variables, escapeValue, spent),
      format,
      ...(format === 'html' && alternative !== null
        ? { text: yield* writeText(alternative, variables, asItIs, spent) }
        : {}),
    }
  }

  const render: CompiledTemplate['render'] = (...how) => finish(renderSteps(...how))

  return {
    pieces,
    size: OWN_SIZE + 2 * assembly.characters + TOKEN_SIZE * assembly.tokens,
    placeholders() {
      const sources = subject === null || kind.subject === undefined ? bodies : [subject, ...bodies]
      const tokens = sources.flatMap((source) => [...outside(source)])
      const names = new Set(tokens.flatMap(([type, name]) => (type === 'text' || type === '!' ? [] : [name])))
      const required = new Set(ofBoth)
      return [...names].map((name) => ({ name, required: required.has(name) }))
    },
    assertVariables(variables, instead = {}, spent = nothing()) {
      const names = instead.subject === undefined ? ofBoth : ofBody
      spent.pieces += names.length
      const missing = names.filter((name) => !isText(lookUp(variables, name)))
      if (missing.length > 0) throw missingVariables(missing, variables)
      // Rendering is the most expensive check, and happens again at the delivery.
      const extent = extentOf(variables)
      if (levels.some((each) => mayBeTooLarge(each, extent))) render(variables, instead, spent)
    },
    render,
    renderSteps,
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

/** The variables outside sections, without duplicates; a section makes the ones inside optional. */
function requiredOf(...sources: readonly (readonly Token[])[]): readonly string[] {
  const names = new Set<string>()
  for (const source of sources) {
    for (const [type, name] of outside(source)) if (type === 'name' || type === '&') names.add(name)
  }
  return [...names]
}

/** The tokens outside sections, with those of partials in place of each. */
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

function mayBeTooLarge(levels: Levels, extent: Extent): boolean {
  const { characters, pieces } = boundOf(levels, extent)
  return characters > MAX_BODY_LENGTH || pieces > MAX_PIECES
}
