import { NotifierError } from '../errors/notifier-error.ts'
import { type Bounds, counted } from '../input/bounds.ts'
import { MAX_DEPTH } from './assert-text.ts'
import { childrenOf, parseSource, type Token } from './parse.ts'
import { MAX_PARTIALS, type SharedSource, type SharedSources, SLOT } from './shared-text.ts'

/** Which source of a layout or partial a text takes. */
export type Flavour = keyof SharedSource

/** How many texts of the longest length are parsed for one template: a partial counts once for each indentation. */
const MOST_PARSED = 4

/** Puts the texts of a template together. */
export interface Assembly {
  /** The tokens of a source with its partials. @throws NotifierError `invalid_template`, `invalid_parameter` */
  expand(source: string, field: string, flavour: Flavour): readonly Token[]
  /** The tokens of a body or text, in the layout if that has a source of the flavour. */
  layOut(source: string, field: string, flavour: Flavour): readonly Token[]
  /** Characters parsed so far. */
  readonly characters: number
  /** Tokens parsed so far. */
  readonly tokens: number
}

/** The parsed text of a partial, and what it costs. */
interface Expanded {
  readonly tokens: readonly Token[]
  /** Tags with those of its partials. */
  readonly tags: number
  /** Nested sections and partials. */
  readonly depth: number
}

/** Partials are shared, not copied: those that name others exponentially are refused by their count alone. */
export function createAssembly(
  { layout, partials }: SharedSources,
  bounds: Pick<Bounds, 'tags' | 'textBytes'>,
): Assembly {
  const mostCharacters = MOST_PARSED * bounds.textBytes
  const known = new Map<string, Expanded>()
  /** The partials around the current one. */
  const open: string[] = []
  let characters = 0
  let tokens = 0

  function parse(source: string, field: string, owner: string): Token[] {
    characters += source.length
    if (characters > mostCharacters) {
      throw invalidTemplate(
        `has more than ${counted(mostCharacters)} characters with its layout and partials`,
      )
    }
    return parseSource(source, { field, owner }, bounds.tags)
  }

  /** Gives each partial its tokens. */
  function fill(level: readonly Token[], flavour: Flavour, around: number): Expanded {
    let tags = 0
    let depth = 0
    tokens += level.length
    for (const token of level) {
      const [type] = token
      if (type !== 'text') tags += type === '#' || type === '^' ? 2 : 1
      const inside = insideOf(token, flavour, around + 1)
      if (inside === null) continue
      tags += inside.tags
      depth = Math.max(depth, inside.depth + 1)
    }
    assertTags(tags)
    if (around + depth > MAX_DEPTH)
      throw invalidTemplate(`nests sections and partials deeper than ${MAX_DEPTH}`)
    return { tokens: level, tags, depth }
  }

  function assertTags(tags: number): void {
    if (tags > bounds.tags)
      throw invalidTemplate(
        `has more than ${counted(bounds.tags)} tags with its layout and partials, which is the option "bounds.tags" of the service`,
      )
  }

  function insideOf(token: Token, flavour: Flavour, around: number): Expanded | null {
    const [type, name, , , , indentation = ''] = token
    if (type === '#' || type === '^') return fill(childrenOf(token), flavour, around)
    if (type !== '>') return null
    const partial = partialOf(name, indentation, flavour, around)
    token[4] = partial.tokens
    return partial
  }

  function partialOf(name: string, indentation: string, flavour: Flavour, around: number): Expanded {
    if (open.includes(name)) throw invalidTemplate(cycleOf([...open.slice(open.indexOf(name)), name]))
    const key = `${flavour}\n${name}\n${indentation}`
    const before = known.get(key)
    if (before !== undefined) {
      if (around + before.depth > MAX_DEPTH)
        throw invalidTemplate(`nests sections and partials deeper than ${MAX_DEPTH}`)
      return before
    }
    const source = partials.get(name)
    if (source === undefined) throw missingPartial(name)
    const text = source[flavour]
    if (text === null) throw withoutFlavour(`partial "${name}"`, flavour, { partial: name })
    open.push(name)
    const expanded = fill(parse(indented(text, indentation), flavour, `partial "${name}"`), flavour, around)
    open.pop()
    known.set(key, expanded)
    return expanded
  }

  const expand: Assembly['expand'] = (source, field, flavour) =>
    fill(parse(source, field, 'template'), flavour, 0).tokens

  return {
    get characters() {
      return characters
    },
    get tokens() {
      return tokens
    },
    expand,
    layOut(source, field, flavour) {
      const content = fill(parse(source, field, 'template'), flavour, 0)
      const frame = layout?.[flavour] ?? null
      if (frame === null) return content.tokens
      const level = parse(frame, flavour, 'layout')
      const { tags } = fill(level, flavour, 0)
      assertTags(tags + content.tags)
      return level.map((token) => (isSlot(token) ? slotWith(token, content.tokens) : token))
    },
  }
}

/**
 * Checks that each source of a layout has its slot once, outside sections.
 *
 * @throws NotifierError `invalid_template`
 */
export function assertSlots(layout: SharedSource): void {
  for (const flavour of ['html', 'text'] as const) {
    const source = layout[flavour]
    if (source === null) continue
    const tag = flavour === 'html' ? `{{{${SLOT}}}}` : `{{${SLOT}}}`
    const level = parseSource(source, { field: flavour, owner: 'layout' })
    const slots = level.filter(isSlot)
    const nested = level.some((token) => hasSlot(childrenOf(token)))
    const fault = slotFault(slots, nested, flavour, tag)
    if (fault !== null)
      throw new NotifierError('invalid_template', {
        message: `The layout's ${flavour} ${fault}.`,
        details: { field: flavour },
      })
  }
}

function slotFault(slots: readonly Token[], nested: boolean, flavour: Flavour, tag: string): string | null {
  if (nested) return `has its slot in a section. Write ${tag} once, outside sections`
  if (slots.length === 0) return `has no slot: write ${tag} where the text of a template belongs`
  if (slots.length > 1) return `has ${slots.length} slots. Write ${tag} once`
  return flavour === 'html' && slots[0]?.[0] === 'name'
    ? `has the slot {{${SLOT}}}, which would escape the template's HTML. Write ${tag}`
    : null
}

function isSlot([type, name]: Token): boolean {
  return name === SLOT && (type === 'name' || type === '&')
}

function hasSlot(level: readonly Token[]): boolean {
  return level.some((token) => isSlot(token) || hasSlot(childrenOf(token)))
}

function slotWith([, , start, end]: Token, content: readonly Token[]): Token {
  return ['>', SLOT, start, end, content]
}

/** By the rules of mustache: empty lines stay empty. */
function indented(source: string, indentation: string): string {
  if (indentation === '') return source
  return source
    .split('\n')
    .map((line) => (line === '' ? line : indentation + line))
    .join('\n')
}

function cycleOf(names: readonly string[]): string {
  const path = names.slice(0, MAX_PARTIALS).map((name) => `"${name}"`)
  return `has partials that contain themselves: ${path.join(' → ')}`
}

export function missingLayout(name: string): NotifierError {
  return new NotifierError('invalid_template', {
    message: `The layout "${name}" does not exist. Create it first, or set "layout" to null.`,
    details: { field: 'layout', layout: name },
  })
}

export function missingPartial(name: string): NotifierError {
  return new NotifierError('invalid_template', {
    message: `The partial "${name}" does not exist. Create it first, or remove {{> ${name}}}.`,
    details: { partial: name },
  })
}

export function withoutFlavour(
  what: string,
  flavour: Flavour,
  details: Readonly<Record<string, unknown>>,
): NotifierError {
  const where = flavour === 'html' ? 'HTML' : 'plain text'
  return new NotifierError('invalid_template', {
    message: `The ${what} has no "${flavour}", which ${where} needs. Add it, or do not use it there.`,
    details,
  })
}

/** @param fault continues "The template" */
export function invalidTemplate(fault: string): NotifierError {
  return new NotifierError('invalid_template', { message: `The template ${fault}.` })
}
