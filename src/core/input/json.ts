import { HIGHEST_BOUNDS } from './bounds.ts'

/** Limits of an object from a caller: depth, number of values, and UTF-16 units of keys and texts. */
const MAX_DEPTH = 16
const MAX_VALUES = 10_000
const MAX_UNITS = HIGHEST_BOUNDS.variablesBytes
const TOO_LARGE = `must hold at most ${MAX_UNITS} characters of keys and texts`
/** Maximum length of a path in a message. */
const MAX_SHOWN = 100

const LONE_SURROGATE = /\p{Cs}/u

export function isWellFormed(value: string): boolean {
  return !LONE_SURROGATE.test(value)
}

/** True: an object with fields, not a list, and not one whose values JSON would lose. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !hidesItsValues(value)
}

/** True for a Map, a Set, a Date and other objects without own fields that are not plain. */
function hidesItsValues(value: object): boolean {
  return !isPlain(value) && Object.keys(value).length === 0
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of plain objects has none itself, also in another realm.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** The JSON form of an object, or the reason why there is none. */
export type JsonObject = { readonly value: Record<string, unknown> } | { readonly fault: string }

/**
 * An object as read back from the storage: a Date is text, undefined is absent. Limited in size and depth. A copy, so
 * that later changes by the caller have no effect.
 */
export function toJsonObject(given: Record<string, unknown>): JsonObject {
  const first = inspect(given)
  if (first.fault !== null) return { fault: first.fault }
  // For new names, JSON is ten times as fast as copying field by field.
  const value: unknown = JSON.parse(JSON.stringify(given) ?? 'null')
  if (first.isJson) return { value: value as Record<string, unknown> }
  if (!isFields(value)) return { fault: 'must be a plain object' }
  // A `toJSON` may have returned anything.
  const { fault } = inspect(value)
  return fault === null ? { value } : { fault }
}

interface Inspected {
  readonly fault: string | null
  /** False: JSON would change a value. */
  readonly isJson: boolean
}

function inspect(root: object): Inspected {
  let left = MAX_VALUES
  let units = MAX_UNITS
  let isJson = true
  const path: string[] = []
  const parents: object[] = []

  function visit(value: unknown): string | null {
    left -= 1
    if (left < 0) return `must have at most ${MAX_VALUES} values`
    if (path.length > MAX_DEPTH) return `must be at most ${MAX_DEPTH} levels deep: ${shown(path)} is deeper`
    switch (typeof value) {
      case 'string':
        return textFault(value, '')
      case 'number':
        return Number.isFinite(value) ? null : `must be JSON: ${shown(path)} is ${value}, not a finite number`
      case 'boolean':
        return null
      case 'undefined':
        isJson = false
        return null
      case 'object':
        return value === null ? null : visitObject(value)
      default:
        return `must be JSON: ${shown(path)} is a ${typeof value}`
    }
  }

  /** @param where start of the text's path */
  function textFault(text: string, where: string): string | null {
    units -= text.length
    if (units < 0) return TOO_LARGE
    return isWellFormed(text)
      ? null
      : `must be well-formed Unicode: ${where}${shown(path)} has a lone surrogate`
  }

  function visitObject(value: object): string | null {
    if (parents.includes(value)) return `must be JSON: ${shown(path)} is a circular reference`
    if ('toJSON' in value && typeof value.toJSON === 'function') {
      isJson = false
      return null
    }
    parents.push(value)
    const fault = Array.isArray(value) ? visitItems(value) : visitFields(value)
    parents.pop()
    return fault
  }

  function visitItems(items: readonly unknown[]): string | null {
    for (let index = 0; index < items.length; index += 1) {
      const fault = visitAt(String(index), items[index])
      if (fault !== null) return fault
    }
    return null
  }

  function visitFields(value: object): string | null {
    if (!isPlain(value)) {
      isJson = false
      if (hidesItsValues(value))
        return `must be JSON: ${shown(path)} is a ${value.constructor?.name || 'class'}, whose values JSON would lose`
    }
    for (const [key, field] of Object.entries(value)) {
      const fault = textFault(key, 'a name in ') ?? visitAt(key, field)
      if (fault !== null) return fault
    }
    return null
  }

  function visitAt(key: string, value: unknown): string | null {
    path.push(key)
    const fault = visit(value)
    path.pop()
    return fault
  }

  return { fault: visit(root), isJson }
}

/** A path of well-formed names. */
function shown(path: readonly string[]): string {
  if (path.length === 0) return 'it'
  const whole = path.join('.')
  if (whole.length <= MAX_SHOWN) return `"${whole}"`
  return `"${whole.slice(0, MAX_SHOWN).replace(/[\uD800-\uDBFF]$/, '')}…"`
}
