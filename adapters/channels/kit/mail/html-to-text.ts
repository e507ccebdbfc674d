import { createStepCounter, ITEM_CHARACTERS, type Steps } from '../../../../src/core/loop/steps.ts'
import { attributeOf, type HtmlToken, htmlTokens } from '../../../../src/core/text/html-tokens.ts'
import { createHiddenElements } from './hidden-elements.ts'
import { LINES, PARAGRAPHS } from './html-blocks.ts'
import { decodeAttribute, decodeEntities } from './html-entities.ts'

const LISTS: ReadonlySet<string> = new Set(['ul', 'ol', 'li'])

const BLANKS = /[\s\p{Cc}]+/u
/**
 * Invisible characters at the end of a piece of text. In a word they join and divide letters (Persian, emoji) or set the
 * direction; among blanks they pad the preview line of a mail.
 */
const INVISIBLE_END = /(?:[\u00ad\u061c\u200b\u200c\u200e\u200f\u2060\ufeff]|\u034f|\u200d)+$/

/**
 * Converts an HTML mail to plain text: paragraphs, lists, table cells, link addresses and alternative texts of images,
 * without hidden elements. Made for mails, where tables are layout, not data. The work is done in slices.
 *
 * @example
 * const text = await context.runInSlices(htmlToText('<p>Your order <b>ord_123</b> is on its way.</p>'))
 */
export function* htmlToText(html: string): Steps<string> {
  const isStepFull = createStepCounter()
  const text = new TextBuilder()
  const isHidden = createHiddenElements((name) => text.separate(name))
  const lists: number[] = []
  for (const token of htmlTokens(html)) {
    if (isStepFull(token.kind === 'text' ? ITEM_CHARACTERS + token.text.length : ITEM_CHARACTERS)) yield
    if (isHidden(token)) continue
    if (token.kind === 'text') text.write(decodeEntities(token.text))
    else writeTag(text, token, lists)
  }
  endLink(text)
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

function writeTag(text: TextBuilder, token: Exclude<HtmlToken, { kind: 'text' }>, lists: number[]): void {
  const { name } = token
  // Links cannot nest: a second one ends the first.
  if (name === 'a') endLink(text)
  text.separate(name)
  if (token.kind === 'close') close(text, name, lists)
  else if (name === 'a') text.link = { href: address(token.attributes), shown: '' }
  else open(text, name, token.attributes, lists)
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

function endLink(text: TextBuilder): void {
  const { link } = text
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
  /** Invisible characters after the last word. */
  #end = ''

  /** Applies the break of an opening or closing tag. */
  separate(name: string): void {
    if (LISTS.has(name)) this.#bulleted = false
    if (name === 'br') this.#breaks += 1
    // The item's text starts next to its bullet.
    else if (this.#bulleted) return
    else if (PARAGRAPHS.has(name)) this.#breaks = Math.max(this.#breaks, 2)
    else if (LINES.has(name)) this.#breaks = Math.max(this.#breaks, 1)
    else if (name === 'td' || name === 'th') this.#space = true
    else return
    this.#endWord()
  }

  write(text: string): void {
    if (this.verbatim) {
      this.#add(text.replace(/\r\n?/g, '\n'))
      return
    }
    const words = text.split(BLANKS)
    for (const [index, word] of words.entries()) {
      if (index > 0) {
        this.#endWord()
        this.#space = true
      }
      const [end = ''] = INVISIBLE_END.exec(word) ?? []
      if (end.length < word.length) this.#add(word.slice(0, word.length - end.length))
      this.#end += end
    }
  }

  writeBullet(text: string): void {
    this.write(text)
    this.#bulleted = true
  }

  toString(): string {
    this.#endWord()
    return this.#flat.join('') + this.#parts.join('')
  }

  /** Keeps the marks at the end of a word that set the direction of signs there, and no padding. */
  #endWord(): void {
    const isInWord = this.#began && !this.#space && this.#breaks === 0
    if (isInWord && /^(?:[\u061c\u200e\u200f]|\u200d)+$/.test(this.#end)) this.#push(this.#end)
    this.#end = ''
  }

  #add(word: string): void {
    if (this.#began && this.#breaks > 0) this.#push('\n'.repeat(Math.min(this.#breaks, 2)))
    else if (this.#began && this.#space) this.#push(' ')
    this.#breaks = 0
    this.#space = false
    this.#bulleted = false
    this.#began = true
    this.#push(this.#end + word)
    this.#end = ''
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
