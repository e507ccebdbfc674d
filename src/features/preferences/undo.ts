import { isDeepStrictEqual } from 'node:util'
import type { Preferences } from './model.ts'
import { datedCells, flatCells } from './model.ts'

/** A cell as it was and is: on or off, null for none, with the time of the choice, null if unknown. */
export type CellState = readonly [on: boolean | null, at: number | null]

/** A cell that a change has changed, by its name. */
export type ChangedCell = readonly [name: string, before: CellState, after: CellState]

function stateOf(preferences: Preferences, name: string): CellState {
  const on = flatCells(preferences).get(name)
  return on === undefined ? [null, null] : [on, preferences.chosenAt?.[name] ?? null]
}

/** The cells that differ, with their times. */
export function changesBetween(before: Preferences, after: Preferences): readonly ChangedCell[] {
  const names = new Set([...flatCells(before).keys(), ...flatCells(after).keys()])
  return [...names]
    .map((name): ChangedCell => [name, stateOf(before, name), stateOf(after, name)])
    .filter(([, was, is]) => !isDeepStrictEqual(was, is))
}

/** The preferences with the cells as they were before. A cell that has changed again stays. */
export function undone(preferences: Preferences, changes: readonly ChangedCell[]): Preferences {
  const cells = new Map([...flatCells(preferences).keys()].map((name) => [name, stateOf(preferences, name)]))
  for (const [name, before, after] of changes) {
    if (!isDeepStrictEqual(stateOf(preferences, name), after)) continue
    if (before[0] === null) cells.delete(name)
    else cells.set(name, before)
  }
  return datedCells(preferences, cells)
}

/** Whether the cells are as they were before the changes. */
export function isUndone(preferences: Preferences, changes: readonly ChangedCell[]): boolean {
  return changes.every(([name, before]) => isDeepStrictEqual(stateOf(preferences, name), before))
}
