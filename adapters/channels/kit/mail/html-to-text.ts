import { attributeOf, htmlTokens } from '../../../../src/domain/html-tokens.ts'
import { createStepCounter, ITEM_CHARACTERS, type Steps } from '../../../../src/domain/steps.ts'
import { decodeAttribute, decodeEntities } from './html-entities.ts'

/** Elements with a blank line before and after. */
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

// Includes the characters that mails use to pad their preview line.
const BLANKS = /(?:[\s\u200b\u2060]|\u034f)+/

/**
 * Converts an HTML mail to plain text: paragraphs, lists, table cells, link addresses and alternative texts of images.
 * Made for mails, where tables are layout, not data.
 */
export function* htmlToText(html: string): Steps<string> {
  const isStepFull = createStepCounter()
  const text = new TextBuilder()
  const lists: number[] = []
  let link: Link | null = null
  for (const token of htmlTokens(html)) {
    if (isStepFull(token.kind === 'text' ? ITEM_CHARACTERS + token.text.length : ITEM_CHARACTERS)) yield
    if (token.kind === 'text') {
      text.write(decodeEntities(token.text))
      continue
    }
    const { name } = token
    // Links cannot nest: a second one ends the first.
    if (name === 'a') {
      endLink(text, link)
      link = null
    }
    text.separate(name)
    if (token.kind === 'close') close(text, name, lists)
    else if (name === 'a') {
      link = { href: address(token.attributes), shown: '' }
      text.link = link
    } else open(text, name, token.attributes, lists)
  }
  endLink(text, link)
  return yield* trimmedLines(text.toString())
}

interface Link {
  readonly href: string
  /** Text of the link so far, as long as it could still equal the address. */
  shown: string
}

/** Trims the ends of lines. */
function* trimmedLines(text: string): Steps<string> {
  const isStepFull = createStepCounter()
  let result = ''
  for (let from = 0; from < text.length; ) {
    const found = text.indexOf('\n', from)
    const to = found === -1 ? text.length : found
    result += `${text.slice(from, to).trimEnd()}\n`
    from = to + 1
    if (isStepFull(ITEM_CHARACTERS)) yield
  }
  return result.trim()
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
      text.write(decodeAttribute(attributeOf(attributes, 'alt').slice(0, MAX_ALT_LENGTH)))
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

function endLink(text: TextBuilder, link: Link | null): void {
  text.link = null
  if (link === null || link.href === '') return
  const shown = link.shown.trim()
  if (shown === '') text.write(link.href)
  else if (shown !== link.href) text.write(` (${link.href})`)
}

function bullet(lists: number[]): string {
  const number = lists.at(-1) ?? 0
  if (number === 0) return '- '
  lists[lists.length - 1] = number + 1
  return `${number}. `
}

/** Parts that are joined at one time. */
const MOST_PARTS = 1_000
/** An alternative text that is longer is ignored. */
const MAX_ALT_LENGTH = 1_000

/** Collects words. White space and line breaks count only between words. */
class TextBuilder {
  verbatim = false
  /** The open link. */
  link: Link | null = null
  #flat: string[] = []
  #parts: string[] = []
  #began = false
  #breaks = 0
  #space = false
  #bulleted = false

  /** Applies the break of an opening or closing tag. */
  separate(name: string): void {
    if (LISTS.has(name)) this.#bulleted = false
    if (name === 'br') this.#breaks += 1
    // The item's text starts beside its bullet.
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

  toString(): string {
    return this.#flat.join('') + this.#parts.join('')
  }

  #add(word: string): void {
    if (this.#began && this.#breaks > 0) this.#push('\n'.repeat(Math.min(this.#breaks, 2)))
    else if (this.#began && this.#space) this.#push(' ')
    this.#breaks = 0
    this.#space = false
    this.#bulleted = false
    this.#began = true
    this.#push(word)
  }

  #push(part: string): void {
    const { link } = this
    // White space around the text does not count, and a break has at most two characters.
    if (link !== null && link.shown.length <= link.href.length + 2) link.shown += part
    this.#parts.push(part)
    if (this.#parts.length < MOST_PARTS) return
    this.#flat.push(this.#parts.join(''))
    this.#parts = []
  }
}
