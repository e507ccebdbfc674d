import { shortName } from '../listed-names.ts'
import { type Field, nest, scan, type Token, wrongText } from './parse.ts'

/** Deepest nesting of sections. */
const MAX_DEPTH = 20

/** Names joined by dots, without what only a language with filters or helpers would have in a tag. */
const PATH = /^[^\s{}|()"=.]+(?:\.[^\s{}|()"=.]+)*$/

/** Longest name: it is taken apart at its dots each time that it is looked up, which a list does very often. */
const MAX_NAME = 200

/** The helpers of Handlebars that a section stands in for. `{{#with}}` alone is a section of that name. */
const HELPER = /^(?:(if|unless|each)(?:\s|$)|(with)\s)/
const ELSE = /^else(?:\s|$)/

const INSTEAD_OF_HELPER: Readonly<Record<string, string>> = {
  if: 'Write {{#name}}…{{/name}} for text that depends on a value',
  unless: 'Write {{^name}}…{{/name}} for text that appears without a value',
  each: 'Write {{#items}}…{{/items}} to repeat text for each item, and {{.}} for the item itself',
  with: 'Write {{#name}}…{{/name}} to look names up in a value',
}

/**
 * Judges the text of a new or changed template. Text that is stored already is rendered, whatever it says.
 *
 * @throws NotifierError `invalid_parameter` when the source is not well-formed, nests too deep, or has a tag that no
 *   value could serve
 */
export function assertTemplateText(written: { readonly [Name in Field]?: string | null | undefined }): void {
  for (const field of ['body', 'html', 'text', 'subject'] as const) {
    const source = written[field]
    if (source != null) judge(source, field)
  }
}

/** Tags come before their nesting: `{{#if a}}…{{/if}}` is the wrong language, not a section left open. */
function judge(source: string, field: Field): void {
  const tokens = scan(source, field)
  const open: string[] = []
  for (const token of tokens) {
    const [type] = token
    const fault = tagFault(token, open)
    if (fault !== null) throw wrongText(field, fault)
    if (type === '#' || type === '^') open.push(type)
    if (type === '/') open.pop()
  }
  nest(tokens, field)
}

function tagFault([type, name, start]: Token, open: readonly string[]): string | null {
  const shown = shortName(name)
  switch (type) {
    case '>':
      return `has the partial "{{>${shown}}}" at ${start}. Carillon has no partials: write the text itself`
    case '#':
    case '^':
      if (open.length >= MAX_DEPTH) return `nests sections deeper than ${MAX_DEPTH}`
      return helperFault(type, name, start) ?? (name === '.' ? null : nameFault(name, start))
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

function helperFault(type: string, name: string, start: number): string | null {
  const [, block, scope] = HELPER.exec(name) ?? []
  const instead = INSTEAD_OF_HELPER[block ?? scope ?? '']
  if (instead === undefined) return null
  return `has "{{${type}${shortName(name)}}}" at ${start}. Carillon has no helpers. ${instead}`
}

function valueFault(name: string, start: number, open: readonly string[]): string | null {
  if (name !== '.') return nameFault(name, start)
  return open.includes('#')
    ? null
    : `has the tag "." at ${start}, which stands for the item of a section, outside of one`
}

function nameFault(name: string, start: number): string | null {
  if (name.length > MAX_NAME) return `has a name of more than ${MAX_NAME} characters in the tag at ${start}`
  if (PATH.test(name)) return null
  return `has the tag "${shortName(name)}" at ${start}, which is no name: mustache has no filters or helpers`
}
