import { attributeOf, attributeSpan, type HtmlToken, UNREAD } from '../../../../src/core/text/html-tokens.ts'
import { isBlock } from './html-blocks.ts'
import { decodeAttribute } from './html-entities.ts'

/** Elements without content (HTML, "void elements"). */
const VOID: ReadonlySet<string> = new Set(
  'area base br col embed hr img input link meta source track wbr'.split(' '),
)

const CELLS: ReadonlySet<string> = new Set(['td', 'th', 'tr'])
const TERMS: ReadonlySet<string> = new Set(['dt', 'dd'])

/** Elements that may lack an end tag, with the elements that end them (HTML, "optional tags"). */
const ENDED_BY: Readonly<Record<string, (name: string) => boolean>> = {
  p: isBlock,
  li: (name) => name === 'li',
  dt: (name) => TERMS.has(name),
  dd: (name) => TERMS.has(name),
  tr: (name) => name === 'tr',
  td: (name) => CELLS.has(name),
  th: (name) => CELLS.has(name),
}

function endsBefore(open: string, name: string): boolean {
  return Object.hasOwn(ENDED_BY, open) && ENDED_BY[open]?.(name) === true
}

/**
 * Tells of each token, in their order, whether it belongs to an element that readers do not see.
 *
 * @param began called at the start of such an element
 */
export function createHiddenElements(began: (name: string) => void): (token: HtmlToken) => boolean {
  /** The hidden element, and the open ones in it. */
  const open: string[] = []
  const counts = new Map<string, number>()

  function begin(name: string): void {
    if (VOID.has(name) || UNREAD.has(name)) return
    open.push(name)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }

  function endTo(name: string): void {
    for (let last = open.pop(); last !== undefined; last = open.pop()) {
      counts.set(last, (counts.get(last) ?? 0) - 1)
      if (last === name) return
    }
  }

  function begins({ name, attributes }: HtmlToken & { readonly kind: 'open' }): boolean {
    if (!isHidden(attributes)) return false
    begin(name)
    if (open.length > 0) began(name)
    return true
  }

  function opens(token: HtmlToken & { readonly kind: 'open' }): boolean {
    const { name } = token
    for (let last = open.at(-1); last !== undefined && endsBefore(last, name); last = open.at(-1)) endTo(last)
    if (open.length === 0) return begins(token)
    begin(name)
    return true
  }

  function closes(name: string): boolean {
    const isOpen = (counts.get(name) ?? 0) > 0
    if (isOpen) endTo(name)
    // The end of an element around it ends it, too; that of formatting such as </b> is misplaced.
    if (isOpen || !(isBlock(name) || CELLS.has(name))) return true
    open.length = 0
    counts.clear()
    return false
  }

  return (token) => {
    if (open.length === 0) return token.kind === 'open' && begins(token)
    if (token.kind === 'text') return true
    return token.kind === 'open' ? opens(token) : closes(token.name)
  }
}

const MAX_STYLE_LENGTH = 4_000

/**
 * By the attribute `hidden` or its style. `mso-hide` hides from Outlook alone, `aria-hidden` from screen readers alone.
 */
function isHidden(attributes: string): boolean {
  if (!/hidden|none|collapse/i.test(attributes)) return false
  if (attributeSpan(attributes, 'hidden') !== null) return true
  const style = decodeAttribute(attributeOf(attributes, 'style').slice(0, MAX_STYLE_LENGTH))
  return declared(style, 'display') === 'none' || /^(?:hidden|collapse)$/.test(declared(style, 'visibility'))
}

/** The value of a property, in lower case. Empty: it has none. */
function declared(style: string, property: string): string {
  let found = ''
  let isImportant = false
  for (const declaration of style
    .replace(/\/\*.*?(?:\*\/|$)/gs, '')
    .toLowerCase()
    .split(';')) {
    const [name = '', value = ''] = declaration.split(':', 2)
    if (name.trim() !== property) continue
    const [plain = '', important] = value.split('!', 2)
    if (isImportant && important === undefined) continue
    isImportant = important !== undefined
    found = plain.trim()
  }
  return found
}
