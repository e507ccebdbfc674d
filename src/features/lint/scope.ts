import { lookUp } from '../../core/text/write.ts'

/** Maximum number of examined items of a list: the others are similar. */
const MOST_ITEMS = 20

/** The example values inside a section. */
export interface Scope {
  /** One for each item of its list. */
  readonly values: readonly unknown[]
  /** Null: outside sections. */
  readonly outer: Scope | null
  /** True: the examples have nothing for the section, so any name may be in it. */
  readonly isUnknown: boolean
}

/** What a name refers to in a scope. */
export interface Found {
  /** Its values. Empty: none. */
  readonly values: readonly unknown[]
  /** True: nothing is known about the name. */
  readonly isUnknown: boolean
  /** The name belongs to the values outside sections. */
  readonly isOutermost: boolean
}

export function outermost(values: Readonly<Record<string, unknown>>): Scope {
  return { values: [values], outer: null, isUnknown: false }
}

/** The scope inside a section, or inside an inverted one. */
export function inside(scope: Scope, type: string, { values }: Found): Scope {
  if (type === '^') return { values: [], outer: scope, isUnknown: false }
  const items = values.flatMap((value) => (Array.isArray(value) ? value.slice(0, MOST_ITEMS) : [value]))
  const shown = items.filter(Boolean).slice(0, MOST_ITEMS)
  return { values: shown, outer: scope, isUnknown: shown.length === 0 }
}

/** Looks a name up as rendering does, in all items at once. */
export function find(name: string, from: Scope): Found {
  if (name === '.') return itemOf(from)
  const [first = name] = name.split('.', 1)
  let isUnknown = false
  for (let scope: Scope | null = from; scope !== null; scope = scope.outer) {
    const having = scope.values.filter((value) => hasOwn(value, first))
    if (having.length > 0) {
      const values = having.map((value) => lookUp(value, name)).filter((value) => value !== undefined)
      return { values, isUnknown: false, isOutermost: scope.outer === null }
    }
    isUnknown ||= scope.isUnknown
  }
  return { values: [], isUnknown, isOutermost: false }
}

/** The item of the nearest section that is not inverted. */
function itemOf({ values, isUnknown, outer }: Scope): Found {
  return values.length > 0 || isUnknown || outer === null
    ? { values, isUnknown, isOutermost: false }
    : itemOf(outer)
}

function hasOwn(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
}
