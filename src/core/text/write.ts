import { NotifierError } from '../errors/notifier-error.ts'
import { type Bounds, counted } from '../input/bounds.ts'
import { CHARACTERS_OF_A_PIECE, type Work } from './extent.ts'
import type { CatalogueMessage, Language } from './language.ts'
import { isLinkName } from './links.ts'
import { childrenOf, type Token } from './parse.ts'

/** The language of a text, and the time zone of its dates. */
interface Speaking {
  readonly language: Language
  readonly messages: ReadonlyMap<string, CatalogueMessage>
  readonly timeZone: string
}

/** The values inside a section: its own first, then those around it. */
export interface Scope {
  readonly values: unknown
  readonly outer: Scope | null
}

/** What the texts of a message may still cost, and have cost. */
export interface Budget {
  readonly bounds: Pick<Bounds, 'textBytes' | 'expandedTags'>
  readonly spent: Work
}

/**
 * Renders a parsed text as mustache does, with own properties only and without calling functions. Writes text, numbers
 * and booleans, and never expands values.
 *
 * @param budget shared by the texts of a message; receives the cost, also of a refused text
 * @throws NotifierError `message_too_large`
 */
export function writeText(
  tokens: readonly Token[],
  variables: unknown,
  escapeValue: (value: string) => string,
  budget: Budget,
  speaking: Speaking | null = null,
): string {
  const { bounds, spent } = budget
  let text = ''
  const around = speaking === null ? null : { values: speaking.language, outer: null }
  const outermost: Scope = { values: variables, outer: around }

  function write(level: readonly Token[], scope: Scope): void {
    spend(level.length + 1, budget)
    for (const token of level) {
      const [type, name] = token
      if (type === 'text') add(name)
      else if (type !== '!') tag(token, scope)
    }
  }

  /** Links are the message's own, so no value of a list hides one. */
  function valueIn(scope: Scope, name: string): unknown {
    return lookUpIn(isLinkName(name) ? outermost : scope, name)
  }

  function tag(token: Token, scope: Scope): void {
    const [type, name] = token
    if (type === '>') write(childrenOf(token), scope)
    else if (speaking !== null && name.startsWith('@')) message(token, scope, speaking)
    else valued(token, valueIn(scope, name), scope)
  }

  function valued(token: Token, value: unknown, scope: Scope): void {
    const [type] = token
    if (type === '#') section(token, value, scope)
    else if (type === '^') inverted(token, value, scope)
    else if ((type === 'name' || type === '&') && isText(value)) addValue(String(value), type === 'name')
  }

  function message([type, name]: Token, scope: Scope, { messages, timeZone }: Speaking): void {
    const found = messages.get(name.slice(1))
    if (found === undefined) return
    // Without escaping, a message may have markup, but its values are texts.
    const escapes = type === '&' ? escapeValue : asItIs
    addValue(
      writeMessage(found, (value) => valueIn(scope, value), escapes, timeZone, budget),
      type === 'name',
    )
  }

  function section(token: Token, value: unknown, scope: Scope): void {
    const inside = childrenOf(token)
    if (Array.isArray(value)) {
      for (const values of value) write(inside, { values, outer: scope })
    } else if (value) {
      write(inside, value === true ? scope : { values: value, outer: scope })
    }
  }

  function inverted(token: Token, value: unknown, scope: Scope): void {
    const isEmpty = Array.isArray(value) ? value.length === 0 : !value
    if (isEmpty) write(childrenOf(token), scope)
  }

  function addValue(value: string, escapes: boolean): void {
    assertLength(text.length + value.length)
    add(escapes ? escapeValue(value) : value)
  }

  function add(part: string): void {
    text += part
    assertLength(text.length)
  }

  function assertLength(bytes: number): void {
    if (bytes > bounds.textBytes)
      throw tooLarge(
        `has more than ${counted(bounds.textBytes)} bytes (option "bounds.textBytes" of the service)`,
      )
  }

  try {
    write(tokens, outermost)
    assertLength(Buffer.byteLength(text))
    return text
  } finally {
    spent.characters += text.length
  }
}

/** Counts work. @throws NotifierError `message_too_large` */
export function spend(work: number, { bounds, spent }: Budget): void {
  spent.pieces += work
  if (spent.pieces > bounds.expandedTags)
    throw tooLarge(
      `expands more than ${counted(bounds.expandedTags)} tags, with the parts of its messages (option "bounds.expandedTags" of the service)`,
    )
}

/** A message with its values. @throws NotifierError as `CatalogueMessage.format`, `message_too_large` */
export function writeMessage(
  message: CatalogueMessage,
  lookUpValue: (name: string) => unknown,
  escapeValue: (value: string) => string,
  timeZone: string,
  budget: Budget,
): string {
  spend(message.work, budget)
  let read = 0
  const written = message.format(
    lookUpValue,
    (value) => {
      read += value.length
      return escapeValue(value)
    },
    timeZone,
  )
  // Also values that the message reads without writing them.
  spend(Math.floor(read / CHARACTERS_OF_A_PIECE), budget)
  return written
}

const asItIs = (value: string): string => value

/** The nearest scope with the first name decides. */
export function lookUpIn(from: Scope, name: string): unknown {
  if (name === '.') return plain(from.values)
  const dot = name.indexOf('.')
  const first = dot === -1 ? name : name.slice(0, dot)
  for (let scope: Scope | null = from; scope !== null; scope = scope.outer) {
    const { values } = scope
    if (typeof values === 'object' && values !== null && Object.hasOwn(values, first)) {
      return plain(lookUp(values, name))
    }
  }
  return undefined
}

/** Follows own properties along the dots, only as far as there are values: a name may have a hundred. */
export function lookUp(scope: unknown, path: string): unknown {
  if (path === '.') return scope
  let value = scope
  for (let from = 0, dot = 0; dot !== -1; from = dot + 1) {
    dot = path.indexOf('.', from)
    const key = path.slice(from, dot === -1 ? undefined : dot)
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[key]
  }
  return value
}

function plain(value: unknown): unknown {
  return typeof value === 'function' ? undefined : value
}

function isText(value: unknown): value is string | number | boolean {
  return (
    typeof value === 'string' ||
    typeof value === 'boolean' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

function tooLarge(what: string): NotifierError {
  return new NotifierError('message_too_large', { message: `The rendered text ${what}.` })
}
