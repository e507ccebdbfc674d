import type { LintFault } from '../../core/channels/lint.ts'
import { shortName } from '../../core/input/listed-names.ts'
import type { ParsedTexts } from '../../core/text/compile.ts'
import {
  EXPECTED_VALUE,
  fitsArgument,
  LANGUAGE_NAMES,
  type MessageArgument,
  messageKey,
} from '../../core/text/language.ts'
import { isLinkName } from '../../core/text/links.ts'
import { childrenOf, type Token } from '../../core/text/parse.ts'
import type { TemplateRule } from './rules.ts'
import { type Found, find, inside, outermost, type Scope } from './scope.ts'

type Parsed = Pick<ParsedTexts, 'messages' | 'isLocalized'>

/** A tag of a text with its scope. */
interface ScopedTag {
  readonly token: Token
  readonly scope: Scope
}

type Fault = Omit<LintFault, 'field'>

/**
 * Finds the values that texts need and examples lack.
 *
 * @param used receives the names of the examples that the texts use
 */
export function variableFaults(
  texts: readonly (readonly [field: string, tokens: readonly Token[]])[],
  parsed: Parsed,
  examples: Readonly<Record<string, unknown>>,
  used: Set<string>,
): readonly LintFault[] {
  const faults = new Map<string, LintFault>()
  for (const [field, tokens] of texts) {
    for (const scoped of tagsIn(tokens, outermost(examples), used)) {
      for (const fault of faultsOf(scoped, parsed, used)) {
        const key = `${field}\n${fault.rule}\n${fault.message}`
        if (!faults.has(key)) faults.set(key, { ...fault, field })
      }
    }
  }
  return [...faults.values()]
}

/** The tags of a text, in order, with those of its sections and partials. */
function* tagsIn(level: readonly Token[], scope: Scope, used: Set<string>): Generator<ScopedTag> {
  for (const token of level) {
    const [type, name] = token
    const isSection = type === '#' || type === '^'
    yield { token, scope }
    if (type === '>') yield* tagsIn(childrenOf(token), scope, used)
    if (isSection) yield* tagsIn(childrenOf(token), inside(scope, type, marked(name, scope, used)), used)
  }
}

/** What a name refers to. Marks it as used. */
function marked(name: string, scope: Scope, used: Set<string>): Found {
  const found = find(name, scope)
  if (found.isOutermost) used.add(name.split('.', 1)[0] ?? name)
  return found
}

function faultsOf(scoped: ScopedTag, { messages, isLocalized }: Parsed, used: Set<string>): readonly Fault[] {
  const { token, scope } = scoped
  const [type, name] = token
  if (type === '#' || type === '^') return sectionFaults(token, find(name, scope))
  if (type !== 'name' && type !== '&') return []
  const key = messageKey(token)
  const needed: readonly MessageArgument[] =
    key === null ? [{ name, type: 'text', required: true }] : (messages.get(key)?.args ?? [])
  return needed.flatMap((argument) => {
    const found = marked(argument.name, scope, used)
    const isOwn = isLinkName(argument.name) || (isLocalized && isLanguageName(argument.name, found))
    return isOwn || found.isUnknown || !argument.required ? [] : valueFaults(scoped, argument, found)
  })
}

function isLanguageName(name: string, { values }: Found): boolean {
  return values.length === 0 && LANGUAGE_NAMES.includes(name)
}

function sectionFaults(token: Token, { values, isUnknown }: Found): readonly Fault[] {
  if (values.length > 0 || isUnknown) return []
  const tag = tagOf(token)
  return [
    {
      rule: 'undeclared_variable' satisfies TemplateRule,
      message: `The example values have nothing for the section "${shortName(token[1])}". Correct the name, or give it an example, such as false.`,
      excerpt: tag,
    },
  ]
}

function valueFaults(
  { token, scope }: ScopedTag,
  { name, type }: MessageArgument,
  { values }: Found,
): readonly Fault[] {
  const tag = tagOf(token)
  const what = messageKey(token) === null ? tag : `"${name}" of the message ${tag}`
  if (scope.outer === null)
    return fitsArgument(values[0], type)
      ? []
      : [
          {
            rule: 'missing_variable' satisfies TemplateRule,
            message: `A send needs ${what}, which must be ${EXPECTED_VALUE[type]}. Correct the name, or give it an example.`,
            excerpt: tag,
          },
        ]
  return values.length > 0
    ? []
    : [
        {
          rule: 'undeclared_variable' satisfies TemplateRule,
          message: `The example values have nothing for ${what}. Correct the name, or give it an example.`,
          excerpt: tag,
        },
      ]
}

/** A tag as it is usually written. */
function tagOf([type, name]: Token): string {
  if (type === '&') return `{{{${name}}}}`
  return `{{${type === 'name' ? '' : type}${name}}}`
}
