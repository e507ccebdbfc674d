import type { Bounds } from '../input/bounds.ts'
import { shortName } from '../input/listed-names.ts'
import { MESSAGE_KEY } from './language.ts'
import { assertNested, type SourceName, type Token, tagsIn, wrongText } from './parse.ts'
import { MAX_PARTIALS, SHARED_NAME } from './shared-text.ts'

/** Maximum nesting of sections. */
export const MAX_DEPTH = 20

/** Names joined by dots, without the syntax of filters or helpers in other languages. */
const PATH = /^[^\s{}|()"=.]+(?:\.[^\s{}|()"=.]+)*$/

/** Maximum length of a name: each lookup splits it at its dots, and lists do that often. */
const MAX_NAME = 200

/** Handlebars helpers that sections replace. A bare `{{#with}}` is a section of that name. */
const HELPER = /^(?:(if|unless|each)(?:\s|$)|(with)\s)/
const ELSE = /^else(?:\s|$)/

const INSTEAD_OF_HELPER: Readonly<Record<string, string>> = {
  if: 'Write {{#name}}…{{/name}} for text that depends on a value',
  unless: 'Write {{^name}}…{{/name}} for text that appears without a value',
  each: 'Write {{#items}}…{{/items}} to repeat text for each item, and {{.}} for the item itself',
  with: 'Write {{#name}}…{{/name}} to look names up in a value',
}

/**
 * Checks the text of a new or changed template. Stored text is rendered unconditionally.
 *
 * @param place of the fields in the details of errors, such as `locales.de.`
 * @throws NotifierError `invalid_parameter` for a malformed source, too deep nesting, or a tag that no value can fill
 */
export function assertTemplateText(
  written: { readonly [Name in (typeof FIELDS)[number]]?: string | null | undefined },
  { tags }: Pick<Bounds, 'tags'>,
  owner = 'template',
  place?: string,
): void {
  for (const field of FIELDS) {
    const source = written[field]
    if (source != null) assertSource(source, { field, owner, place }, tags)
  }
}

const FIELDS = ['body', 'html', 'text', 'subject'] as const

/** Tags are checked before nesting: `{{#if a}}…{{/if}}` is the wrong language, not an unclosed section. */
function assertSource(source: string, sourceName: SourceName, most: number): void {
  const tags = tagsIn(source, sourceName, most)
  const open: string[] = []
  const partials = new Set<string>()
  for (const tag of tags) {
    const [type, name] = tag
    const fault = tagFault(tag, open)
    if (fault !== null) throw wrongText(sourceName, fault)
    if (type === '>') partials.add(name)
    if (type === '#' || type === '^') open.push(type)
    if (type === '/') open.pop()
  }
  if (partials.size > MAX_PARTIALS) throw wrongText(sourceName, `names more than ${MAX_PARTIALS} partials`)
  assertNested(tags, sourceName)
}

function tagFault([type, name, start]: Token, open: readonly string[]): string | null {
  const shown = shortName(name)
  switch (type) {
    case '>':
      return SHARED_NAME.test(name) && name.length <= 100
        ? null
        : `has the partial "{{>${shown}}}" at ${start}, which is not a name: lower-case words joined by hyphens`
    case '#':
    case '^':
      return sectionFault(type, name, start, open.length)
    case 'name':
      if (name.startsWith('<'))
        return `has the parent "{{${shown}}}" at ${start}. Carillon has no inheritance: write the text itself`
      if (name.startsWith('$'))
        return (
          `has the block "{{${shown}}}" at ${start}. Carillon has no inheritance: ` +
          'write a value as {{name}}, and text that depends on it as {{#name}}…{{/name}}'
        )
      if (ELSE.test(name))
        return `has "{{${shown}}}" at ${start}. Carillon has no helpers: write {{^name}}…{{/name}} after the section`
      return valueFault(name, start, open)
    case '&':
      return valueFault(name, start, open)
    default:
      return null
  }
}

function sectionFault(type: string, name: string, start: number, depth: number): string | null {
  if (depth >= MAX_DEPTH) return `nests sections deeper than ${MAX_DEPTH}`
  const shown = shortName(name)
  if (name.startsWith('@'))
    return `opens a section with the message "${shown}" at ${start}. A message is a text: write {{${shown}}}`
  return helperFault(type, name, start) ?? (name === '.' ? null : nameFault(name, start))
}

function helperFault(type: string, name: string, start: number): string | null {
  const [, block, scope] = HELPER.exec(name) ?? []
  const instead = INSTEAD_OF_HELPER[block ?? scope ?? '']
  if (instead === undefined) return null
  return `has "{{${type}${shortName(name)}}}" at ${start}. Carillon has no helpers. ${instead}`
}

function valueFault(name: string, start: number, open: readonly string[]): string | null {
  if (name.startsWith('@')) return keyFault(name.slice(1), start)
  if (name !== '.') return nameFault(name, start)
  return open.includes('#') ? null : `has the tag "." at ${start}, the item of a section, outside a section`
}

function keyFault(key: string, start: number): string | null {
  if (key.length <= MAX_NAME && MESSAGE_KEY.test(key)) return null
  return `has the message "@${shortName(key)}" at ${start}, whose key is not names joined by dots`
}

function nameFault(name: string, start: number): string | null {
  if (name.length > MAX_NAME) return `has a name of more than ${MAX_NAME} characters in the tag at ${start}`
  if (PATH.test(name)) return null
  return `has the tag "${shortName(name)}" at ${start}, which is not a name: mustache has no filters or helpers`
}
