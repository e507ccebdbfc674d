import { type Cells, NO_CELLS } from './cells.ts'

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
