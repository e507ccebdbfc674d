import { attributeOf, htmlTokens } from '../../../src/domain/html-tokens.ts'
import { decodeAttribute, decodeEntities } from './html-entities.ts'

/** Elements with an empty line before and after. */
const PARAGRAPHS: ReadonlySet<string> = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre hr figure'.split(' '),
)
/** Elements on a line of their own. */
const LINES: ReadonlySet<string> = new Set(
  'div tr li dt dd section article header footer main nav aside address form fieldset caption center body'.split(
    ' ',
  ),
)
const LISTS: ReadonlySet<string> = new Set(['ul', 'ol', 'li'])

// Also the characters that mails pad their preview line with.
const BLANKS = /(?:[\s\u200b\u2060]|\u034f)+/

/**
 * The plain text of an HTML mail: paragraphs, lists, table cells, the addresses of links and the alternative
 * texts of images. Made for mails, where tables are layout; not for laying out data.
 */
export function htmlToText(html: string): string {
  const text = new TextBuilder()
  const lists: number[] = []
  let link: Link | null = null
  for (const token of htmlTokens(html)) {
    if (token.kind === 'text') {
      text.write(decodeEntities(token.text))
      continue
    }
    const { name } = token
    // Links do not nest: a second one ends the first.
    if (name === 'a') link = endLink(text, link)
    text.separate(name)
    if (token.kind === 'close') close(text, name, lists)
    else if (name === 'a') link = { href: address(token.attributes), from: text.mark() }
    else open(text, name, token.attributes, lists)
  }
  endLink(text, link)
  return text.toString()
}

interface Link {
  readonly href: string
  readonly from: number
}

function open(text: TextBuilder, name: string, attributes: string, lists: number[]): void {
  switch (name) {
    case 'pre':
      text.verbatim = true
      break
    case 'ul':
    case 'ol':
      lists.push(name === 'ol' ? 1 : 0)
      break
    case 'li':
      text.writeBullet(bullet(lists))
      break
    case 'img':
      text.write(decodeAttribute(attributeOf(attributes, 'alt')))
      break
    case 'hr':
      text.write('---')
      text.separate(name)
      break
  }
}

function close(text: TextBuilder, name: string, lists: number[]): void {
  if (name === 'pre') text.verbatim = false
  if (name === 'ul' || name === 'ol') lists.pop()
}

function address(attributes: string): string {
  const href = decodeAttribute(attributeOf(attributes, 'href')).trim()
  return /^(?:https?:\/\/|mailto:|tel:)\S+$/i.test(href) ? href.replace(/^(?:mailto|tel):/i, '') : ''
}

function endLink(text: TextBuilder, link: Link | null): null {
  if (link !== null && link.href !== '') {
    const shown = text.since(link.from)
    if (shown === '') text.write(link.href)
    else if (shown !== link.href) text.write(` (${link.href})`)
  }
  return null
}

function bullet(lists: number[]): string {
  const number = lists.at(-1) ?? 0
  if (number === 0) return '- '
  lists[lists.length - 1] = number + 1
  return `${number}. `
}

/** Collects words; white space and line breaks count only between words. */
class TextBuilder {
  verbatim = false
  #parts: string[] = []
  #breaks = 0
  #space = false
  #bulleted = false

  /** The break that a tag makes, whether it opens or closes. */
  separate(name: string): void {
    if (LISTS.has(name)) this.#bulleted = false
    if (name === 'br') this.#breaks += 1
    // What a bullet is for begins beside it.
    else if (this.#bulleted) return
    else if (PARAGRAPHS.has(name)) this.#breaks = Math.max(this.#breaks, 2)
    else if (LINES.has(name)) this.#breaks = Math.max(this.#breaks, 1)
    else if (name === 'td' || name === 'th') this.#space = true
  }

  write(text: string): void {
    if (this.verbatim) {
      this.#add(text.replace(/\r\n?/g, '\n'))
      return
    }
    const words = text.split(BLANKS)
    for (const [index, word] of words.entries()) {
      if (index > 0) this.#space = true
      if (word !== '') this.#add(word)
    }
  }

  writeBullet(text: string): void {
    this.write(text)
    this.#bulleted = true
  }

  mark(): number {
    return this.#parts.length
  }

  since(mark: number): string {
    return this.#parts.slice(mark).join('').trim()
  }

  toString(): string {
    const lines = this.#parts.join('').split('\n')
    return lines
      .map((line) => line.trimEnd())
      .join('\n')
      .trim()
  }

  #add(word: string): void {
    if (this.#parts.length > 0 && this.#breaks > 0) this.#parts.push('\n'.repeat(Math.min(this.#breaks, 2)))
    else if (this.#parts.length > 0 && this.#space) this.#parts.push(' ')
    this.#breaks = 0
    this.#space = false
    this.#bulleted = false
    this.#parts.push(word)
  }
}
