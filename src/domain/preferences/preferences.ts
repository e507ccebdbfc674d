import type { Category } from './category.ts'
import { ALL, type Cells, cellOf, NO_CELLS } from './cells.ts'

/** What a person, or an organization for its people, wants to get. What has no cell is undecided. */
export interface Preferences {
  readonly channels: Cells
  /** By id of the category, then by channel. */
  readonly categories: Readonly<Record<string, Cells>>
}

export const NO_PREFERENCES: Preferences = Object.freeze({
  channels: NO_CELLS,
  categories: Object.freeze({}),
})

/** Cells to change: null clears one. */
export type CellChanges = Readonly<Record<string, boolean | null>>

/** Changes of single cells. Everything that is not named stays. */
export interface PreferenceChanges {
  readonly channels: CellChanges
  /** A list of cells merges. `clear` first removes all cells of the category. */
  readonly categories: ReadonlyMap<string, { readonly clear: boolean; readonly cells: CellChanges }>
}

/** The cell of a category, also one stored under a former id: a newer id outranks an older one. */
export function categoryCell(
  { categories }: Preferences,
  { id, formerIds }: Pick<Category, 'id' | 'formerIds'>,
  channel: string,
): boolean | undefined {
  const own = cellOf(ownCells(categories, id), channel)
  if (own !== undefined || formerIds.length === 0) return own
  for (const former of formerIds) {
    const cell = cellOf(ownCells(categories, former), channel)
    if (cell !== undefined) return cell
  }
  return undefined
}

function ownCells(categories: Preferences['categories'], id: string): Cells | undefined {
  return Object.hasOwn(categories, id) ? categories[id] : undefined
}

/** Stores cells under the current ids of their categories. */
export function withCurrentIds(preferences: Preferences, currentId: (id: string) => string): Preferences {
  const moved = Object.keys(preferences.categories).some((id) => currentId(id) !== id)
  if (!moved) return preferences
  const known = new Map<string, Cells>()
  for (const [id, cells] of Object.entries(preferences.categories)) {
    const current = currentId(id)
    const before = known.get(current) ?? NO_CELLS
    known.set(current, current === id ? { ...before, ...cells } : { ...cells, ...before })
  }
  return { ...preferences, categories: Object.fromEntries(known) }
}

/** Applies changes cell by cell. */
export function changePreferences(before: Preferences, changes: PreferenceChanges): Preferences {
  const categories = new Map(Object.entries(before.categories))
  for (const [id, { clear, cells }] of changes.categories) {
    const after = changeCells(clear ? NO_CELLS : (categories.get(id) ?? NO_CELLS), cells)
    if (Object.keys(after).length === 0) categories.delete(id)
    else categories.set(id, after)
  }
  return {
    channels: changeCells(before.channels, changes.channels),
    categories: Object.fromEntries(categories),
  }
}

function changeCells(before: Cells, changes: CellChanges): Cells {
  const after = new Map<string, boolean>(Object.entries(before))
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) after.delete(key)
    else after.set(key, value)
  }
  return Object.fromEntries(after)
}
/** Turns a category off on one channel. */
export function withoutCategory(before: Preferences, id: string, channel: string): Preferences {
  return changePreferences(before, {
    channels: {},
    categories: new Map([[id, { clear: false, cells: { [channel]: false } }]]),
  })
}

/**
 * Turns everything off that people can turn off.
 *
 * @param channel on this channel only; `*`: on all
 */
export function withoutAll({ channels, categories }: Preferences, channel: string): Preferences {
  if (channel === ALL) return { channels: { [ALL]: false }, categories: {} }
  const off = Object.entries(categories).map(([id, cells]): [string, Cells] => [
    id,
    // An "on" for the category would outrank the channel.
    cellOf(cells, channel) === true || cellOf(cells, ALL) === true ? { ...cells, [channel]: false } : cells,
  ])
  return { channels: { ...channels, [channel]: false }, categories: Object.fromEntries(off) }
}
