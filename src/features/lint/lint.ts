import type { ChannelKind, LintedText, RenderedText } from '../../core/channels/channel-kind.ts'
import type { LintFault } from '../../core/channels/lint.ts'
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { Bounds } from '../../core/input/bounds.ts'
import {
  createStepCounter,
  finish,
  ITEM_CHARACTERS,
  STEP_CHARACTERS,
  type Steps,
} from '../../core/loop/steps.ts'
import { type CompiledTemplate, compileSteps, type ParsedTexts, toHeader } from '../../core/text/compile.ts'
import type { Work } from '../../core/text/extent.ts'
import { formatOf } from '../../core/text/format.ts'
import { EXAMPLE_LINKS } from '../../core/text/links.ts'
import { childrenOf, type Token } from '../../core/text/parse.ts'
import type { Template } from '../../core/text/template.ts'
import { keyOf, MAX_FINDINGS } from './findings.ts'
import { htmlFaults } from './html-faults.ts'
import type { TemplateRule } from './rules.ts'
import { variableFaults } from './variable-faults.ts'

const PLAIN_HTTP = /\bhttp:\/\/[^\s<>"']{1,200}/gi

/** Finds faults in plain text. */
function* textFaults(text: string, field: string): Generator<LintFault> {
  for (const [excerpt] of text.matchAll(PLAIN_HTTP))
    yield {
      rule: 'plain_http_link',
      field,
      excerpt,
      message:
        'A link begins with "http:", so that others can read and change what it leads to. Write https.',
    }
}

/** What a lint knows about the messages of a template. */
export interface LintExamples {
  /** Undefined: values are not checked. */
  readonly variables: Readonly<Record<string, unknown>> | undefined
  /** As stored. Undefined: none are given. */
  readonly parts: unknown
  readonly timeZone: string | undefined
}

/** A template in one locale, with all that it is made of. */
export type LintedTemplate = Pick<Template, 'subject' | 'body' | 'format' | 'text' | 'made'>

/** What is wrong with a template in one locale. */
export interface Linted {
  readonly faults: readonly LintFault[]
  /** False: it cannot be put together, so most rules were not checked. */
  readonly isReadable: boolean
  /** What finding them cost, in tags that a text expands. */
  readonly work: number
}

/** Maximum cost of a text whose compilation failed: it may have read its messages before. */
const WORK_OF_UNREADABLE = 25_000
/** Checking this many characters costs as much as expanding a tag. */
const TAG = 8

/**
 * Finds the faults of a template in one locale.
 *
 * @param used receives the names of the examples that the texts use
 */
export function* lintSteps(
  kind: ChannelKind,
  template: LintedTemplate,
  examples: LintExamples,
  used: Set<string>,
  bounds: Bounds,
): Steps<Linted> {
  const length = template.body.length + (template.text?.length ?? 0)
  const compiled = yield* compile(kind, template, bounds)
  if ('faults' in compiled)
    return {
      ...compiled,
      isReadable: false,
      work: workOf({ pieces: WORK_OF_UNREADABLE, characters: length }),
    }
  const spent = { pieces: compiled.cost, characters: length }
  const { variables, parts } = examples
  const { parsed } = compiled
  const faults: LintFault[] =
    variables === undefined ? [] : [...variableFaults(textsOf(kind, parsed), parsed, variables, used)]
  yield
  const isSendable = variables !== undefined && !faults.some(({ rule }) => rule === 'missing_variable')
  const sent = isSendable ? rendered(compiled, variables, examples, faults, spent) : null
  yield
  const text = { ...sourcesOf(kind, template, parsed, bounds), parts, isMeasured: sent === null }
  const source = yield* checked(kind, text, spent)
  faults.push(...source)
  if (sent !== null) faults.push(...(yield* sentFaults(kind, sent, parts, spent, unlike(source))))
  return { faults, isReadable: true, work: workOf(spent) }
}

function workOf({ pieces, characters }: Work): number {
  return pieces + Math.ceil(characters / TAG)
}

function* compile(
  kind: ChannelKind,
  template: LintedTemplate,
  bounds: Bounds,
): Steps<CompiledTemplate | Pick<Linted, 'faults'>> {
  const { made } = template
  try {
    return yield* compileSteps(kind, template, made?.sources, made?.language, bounds)
  } catch (error) {
    return { faults: faultsOfError(error) }
  }
}

/** The texts that are sent. */
function textsOf(kind: ChannelKind, { subject, body, text }: ParsedTexts): [string, readonly Token[]][] {
  return [
    ['subject', kind.subject === undefined || subject === null ? [] : subject],
    ['body', body],
    ['text', text ?? []],
  ]
}

/** The text of an example. Null: it cannot be rendered. */
function rendered(
  compiled: CompiledTemplate,
  variables: Readonly<Record<string, unknown>>,
  { timeZone }: LintExamples,
  faults: LintFault[],
  spent: Work,
): RenderedText | null {
  const values = compiled.given.links.size === 0 ? variables : { ...variables, ...EXAMPLE_LINKS }
  try {
    return compiled.render(values, { timeZone }, spent)
  } catch (error) {
    faults.push(...faultsOfError(error))
    return null
  }
}

/** Finds the faults of a text as it is sent. */
export function* lintText(
  kind: ChannelKind,
  text: RenderedText,
  parts: unknown,
): Steps<Pick<Linted, 'faults' | 'work'>> {
  const spent = { pieces: 0, characters: text.body.length + (text.text?.length ?? 0) }
  const faults = yield* sentFaults(kind, text, parts, spent)
  return { faults, work: workOf(spent) }
}

/** The different faults of a message that was sent, by the rules for every channel and those of its own. */
export function sentMessageFaults(
  kind: ChannelKind,
  text: RenderedText,
  parts: unknown,
): readonly LintFault[] {
  return finish(checked(kind, { ...text, parts, isMeasured: true }, { pieces: 0, characters: 0 }))
}

/** @param counts whether a fault is one */
function* sentFaults(
  kind: ChannelKind,
  text: RenderedText,
  parts: unknown,
  spent: Work,
  counts: (fault: LintFault) => boolean = () => true,
): Steps<readonly LintFault[]> {
  const found = yield* checked(kind, { ...text, parts, isMeasured: true }, spent, counts)
  return [...refusals(kind, text, parts).filter(counts), ...found]
}

/** What a send with the examples refuses. */
function refusals(kind: ChannelKind, text: RenderedText, parts: unknown): readonly LintFault[] {
  const { subject, body } = text
  if (kind.isBlank?.({ subject, body, parts }) === true) {
    const message =
      'With the example values the message is blank, and a send refuses it. Write a text that does not depend on them.'
    return [{ rule: 'blank_message', message, field: 'body' }]
  }
  try {
    kind.assertText?.(text, parts)
    return []
  } catch (error) {
    return faultsOfError(error)
  }
}

/** The text with all sections, and tags instead of values. */
function sourcesOf(
  kind: ChannelKind,
  template: LintedTemplate,
  { subject, body, text }: ParsedTexts,
  { textBytes }: Bounds,
): RenderedText {
  const format = formatOf(kind, template.format, template.body)
  return {
    subject: subject === null ? null : toHeader(sourceText(subject, textBytes)),
    body: sourceText(body, textBytes),
    format,
    ...(text === null ? {} : { text: sourceText(text, textBytes) }),
  }
}

/** A fault costs as much as this many characters: it is compared with others. */
const COST_OF_FAULT = 8 * ITEM_CHARACTERS

/**
 * The different faults of a text. Stops after one more than the maximum of findings, which shows that there are more.
 */
function* checked(
  kind: ChannelKind,
  text: LintedText,
  spent: Work,
  counts: (fault: LintFault) => boolean = () => true,
): Steps<readonly LintFault[]> {
  const isStepFull = createStepCounter()
  const seen = new Set<string>()
  const faults: LintFault[] = []
  for (const found of faultsIn(kind, text)) {
    if (found === undefined || isStepFull(COST_OF_FAULT)) {
      spent.characters += STEP_CHARACTERS
      yield
    }
    if (found === undefined) continue
    const key = keyOf(found)
    if (seen.has(key)) continue
    seen.add(key)
    if (counts(found)) faults.push(found)
    if (faults.length > MAX_FINDINGS) break
  }
  return faults
}

function* faultsIn(kind: ChannelKind, text: LintedText): Generator<LintFault | undefined> {
  const { body, format, text: alternative = '' } = text
  yield* format === 'html' ? htmlFaults(body, 'body') : textFaults(body, 'body')
  yield* textFaults(alternative, 'text')
  yield* kind.lint?.find(text) ?? []
}

/** Whether a fault of an example is no fault of the source, where tags stand instead of its values. */
function unlike(source: readonly LintFault[]): (fault: LintFault) => boolean {
  const known = new Map<string, Set<string>>()
  for (const { rule, field, excerpt = '' } of source) {
    const key = `${rule} ${field}`
    const beginnings = known.get(key) ?? new Set()
    if (beginnings.size < MAX_FINDINGS) beginnings.add(excerpt.split('{{', 1)[0] ?? '')
    known.set(key, beginnings)
  }
  return ({ rule, field, excerpt = '' }) =>
    ![...(known.get(`${rule} ${field}`) ?? [])].some((beginning) => excerpt.startsWith(beginning))
}

/** The rules behind errors that a send would have. */
const RULE_OF_CODE: { readonly [Code in ErrorCode]?: TemplateRule } = {
  invalid_template: 'invalid_template',
  template_error: 'invalid_template',
  invalid_parameter: 'invalid_syntax',
  message_too_large: 'message_too_large',
  invalid_template_variable: 'missing_variable',
}

/** The faults behind an error of a template. @throws the error, if it is none */
export function faultsOfError(error: unknown): readonly LintFault[] {
  if (!isNotifierError(error)) throw error
  const { code, message, details, cause } = error
  if (code === 'missing_translation') return missingMessages(details?.keys)
  const rule = RULE_OF_CODE[code]
  if (rule === undefined) throw error
  const field = typeof details?.field === 'string' ? details.field : 'body'
  return [{ rule, message, field, ...(code === 'template_error' && cause !== undefined ? { cause } : {}) }]
}

function missingMessages(keys: unknown): readonly LintFault[] {
  if (!Array.isArray(keys)) return []
  return keys.map((key) => ({
    rule: 'missing_message',
    message: `No locale has the message "${key}", so a send is refused. Add it to a catalogue.`,
    field: 'body',
    excerpt: `{{@${key}}}`,
  }))
}

/**
 * A text with every section once, regardless of the values, and its tags instead of values.
 *
 * @param most maximum number of characters
 */
function sourceText(tokens: readonly Token[], most: number): string {
  let text = ''

  function write(level: readonly Token[]): void {
    for (const token of level) {
      if (text.length >= most) return
      const [type, name] = token
      if (type === 'text') text += name
      else if (type === 'name') text += `{{${name}}}`
      else if (type === '&') text += `{{{${name}}}}`
      else write(childrenOf(token))
    }
  }

  write(tokens)
  return text.slice(0, most)
}
