import type { ChannelKind, RenderedText } from '../channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames, MOST_NAMES } from '../listed-names.ts'
import type { BodyFormat } from '../notification.ts'
import { finish, type Steps } from '../steps.ts'
import { beginningOf } from './escape.ts'
import { boundOf, type Extent, extentOf, type Levels, levelsOf, type Work } from './extent.ts'
import { formatOf } from './format.ts'
import { parseSource, type Token } from './parse.ts'
import { isText, lookUp, MAX_BODY_LENGTH, MAX_PIECES, writeText } from './write.ts'

/** Longest subject, source and rendered, in characters. */
export const MAX_SUBJECT_LENGTH = 998

/** Of one token, and of all that a compiled template has whatever its text is; in bytes, measured. */
const TOKEN_SIZE = 120
const OWN_SIZE = 2_000

type Variables = Readonly<Record<string, unknown>>

/** What {@link compileTemplate} needs of a template version. */
export interface TemplateSource {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat | null
  /** The text alternative of HTML. */
  readonly text?: string | null | undefined
}

/** What a send gives in place of a template's own. */
interface Instead {
  readonly subject?: string | undefined
  /** Of a mail. */
  readonly format?: BodyFormat | undefined
}

/** A name that a template looks up. */
export interface Placeholder {
  readonly name: string
  /** True: a send without a text, number or boolean for it is refused. False: it opens a section. */
  readonly required: boolean
}

/** A template version, parsed once. */
export interface CompiledTemplate {
  /** Its tags, and the texts between them. */
  readonly pieces: number
  /** About as many bytes as it takes of memory. */
  readonly size: number
  /** The names outside of sections and those of the sections, in order, each once. */
  placeholders(): readonly Placeholder[]
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
  /** As {@link render}, in steps. */
  renderSteps(variables: Variables, instead?: Instead, spent?: Work): Steps<RenderedText>
}

/**
 * Parses a template (mustache: `{{name}}`, `{{{unescaped}}}`, sections, comments; no partials). What it says was judged
 * when it was written.
 *
 * @throws NotifierError `invalid_parameter` when the source is not well-formed.
 */
export function compileTemplate(kind: ChannelKind, source: TemplateSource): CompiledTemplate {
  const own = formatOf(kind, source.format, source.body)
  const body = parseSource(source.body, 'body')
  const subject = source.subject === null ? null : parseSource(source.subject, 'subject')
  const alternative = source.text == null ? null : parseSource(source.text, 'text')
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
      // Where a template of HTML is sent as text, it is the text that was written for that.
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
    size:
      OWN_SIZE +
      2 * (source.body.length + (source.text?.length ?? 0) + (source.subject?.length ?? 0)) +
      TOKEN_SIZE * pieces,
    placeholders() {
      const tokens = [...(subject === null || kind.subject === undefined ? [] : subject), ...bodies.flat()]
      const names = new Set(tokens.flatMap(([type, name]) => (type === 'text' || type === '!' ? [] : [name])))
      const required = new Set(ofBoth)
      return [...names].map((name) => ({ name, required: required.has(name) }))
    },
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

/** Names outside of sections, each once; a section makes the names inside it optional. */
function requiredOf(...sources: readonly Token[][]): readonly string[] {
  const names = new Set<string>()
  for (const [type, name] of sources.flat()) if (type === 'name' || type === '&') names.add(name)
  return [...names]
}

const asItIs = (value: string): string => value

function nothing(): Work {
  return { pieces: 0, characters: 0 }
}

function mayBeTooLarge(levels: Levels, extent: Extent): boolean {
  const { characters, pieces } = boundOf(levels, extent)
  return characters > MAX_BODY_LENGTH || pieces > MAX_PIECES
}
