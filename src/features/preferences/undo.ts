import { type CellState, datedCells, flatCells, type Preferences } from './model.ts'

/** A cell that a change has changed, by its name. */
export type ChangedCell = readonly [name: string, before: CellState, after: CellState]

/** Most characters of a token that undoes: hundreds of cells are left to the preference page. */
export const MOST_UNDO = 3_000

const NO_CELL: CellState = [null, null]

function isSame([on, at]: CellState, [otherOn, otherAt]: CellState): boolean {
  return on === otherOn && at === otherAt
}

/** The cells that differ, with their times. */
export function changesBetween(before: Preferences, after: Preferences): readonly ChangedCell[] {
  const [were, are] = [flatCells(before), flatCells(after)]
  return [...new Set([...were.keys(), ...are.keys()])]
    .map((name): ChangedCell => [name, were.get(name) ?? NO_CELL, are.get(name) ?? NO_CELL])
    .filter(([, was, is]) => !isSame(was, is))
}

/** The preferences with the cells as they were before. A cell that has changed again stays. */
export function undone(preferences: Preferences, changes: readonly ChangedCell[]): Preferences {
  const cells = new Map(flatCells(preferences))
  for (const [name, before, after] of changes) {
    if (!isSame(cells.get(name) ?? NO_CELL, after)) continue
    if (before[0] === null) cells.delete(name)
    else cells.set(name, before)
  }
  return datedCells(preferences, cells)
}

/** Whether the cells are as they were before the changes. */
export function isUndone(preferences: Preferences, changes: readonly ChangedCell[]): boolean {
  const cells = flatCells(preferences)
  return changes.every(([name, before]) => isSame(cells.get(name) ?? NO_CELL, before))
}
