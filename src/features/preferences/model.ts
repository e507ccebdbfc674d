import type { Category } from '../../core/notification/category.ts'
import { ALL, type Cells, cellFor, cellOf, NO_CELLS } from '../../core/notification/cells.ts'
import type { QuietHours } from '../../core/notification/quiet-hours.ts'

/** The preferences of a person, or of an organization for its people. Without a cell there is no choice. */
export interface Preferences {
  readonly channels: Cells
  /** By id of the category, then by channel. */
  readonly categories: Readonly<Record<string, Cells>>
  /** When messages wait. False: never. Absent: no choice. */
  readonly quietHours?: QuietHours | false | undefined
  /** When cells and quiet hours were chosen, in epoch milliseconds of the storage, by {@link cellName}. Absent: unknown. */
  readonly chosenAt?: Readonly<Record<string, number>> | undefined
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
  /** Null clears them. Undefined: they stay. */
  readonly quietHours?: QuietHours | false | null | undefined
}

/** The cell of a category, also one stored under a former id: a newer id outranks an older one. */
export function categoryCell(
  preferences: Preferences,
  category: Pick<Category, 'id' | 'formerIds'>,
  channel: string,
): boolean | undefined {
  const id = idOfCell(preferences, category, channel)
  return id === undefined ? undefined : cellOf(preferences.categories[id], channel)
}

/** The id of a category under which a cell is stored. */
function idOfCell(
  { categories }: Preferences,
  { id, formerIds }: Pick<Category, 'id' | 'formerIds'>,
  channel: string,
): string | undefined {
  const has = (name: string): boolean => cellOf(ownCells(categories, name), channel) !== undefined
  return has(id) ? id : formerIds.find(has)
}

/** When something was chosen, in epoch milliseconds. Null: unknown. Undefined: nothing was chosen. */
export type ChosenAt = number | null | undefined

/** When a category was last turned on or off for a channel: by its own cell, or else by that of all channels. */
export function categoryChosenAt(
  preferences: Preferences,
  category: Pick<Category, 'id' | 'formerIds'>,
  channel: string,
): ChosenAt {
  for (const key of [channel, ALL]) {
    const id = idOfCell(preferences, category, key)
    if (id !== undefined) return preferences.chosenAt?.[cellName(id, key)] ?? null
  }
  return undefined
}

/** When a channel was last turned on or off: by its own cell, or else by that of all channels. */
export function channelChosenAt({ channels, chosenAt }: Preferences, channel: string): ChosenAt {
  const key = [channel, ALL].find((name) => cellOf(channels, name) !== undefined)
  return key === undefined ? undefined : (chosenAt?.[cellName('', key)] ?? null)
}

/** When quiet hours were chosen, or that there are none. */
export function quietChosenAt({ quietHours, chosenAt }: Preferences): ChosenAt {
  return quietHours === undefined ? undefined : (chosenAt?.[QUIET] ?? null)
}

/** The name of quiet hours among the times of choices. No cell has it. */
const QUIET = 'quietHours'

/** Names a cell. Ids of categories and names of channels contain no colon. @param category empty: of the channel itself */
export function cellName(category: string, channel: string): string {
  return `${category}:${channel}`
}

function ownCells(categories: Preferences['categories'], id: string): Cells | undefined {
  return Object.hasOwn(categories, id) ? categories[id] : undefined
}

/** Stores cells under the current ids of their categories. */
export function withCurrentIds(preferences: Preferences, currentId: (id: string) => string): Preferences {
  const { channels, categories, quietHours, chosenAt } = preferences
  if (Object.keys(categories).every((id) => currentId(id) === id)) return preferences
  const moved = new Map<string, Map<string, boolean>>()
  const times = new Map<string, number | undefined>()
  for (const [id, cells] of Object.entries(categories)) {
    const current = currentId(id)
    const known = moved.get(current) ?? new Map<string, boolean>()
    moved.set(current, known)
    for (const [channel, on] of Object.entries(cells)) {
      if (current !== id && known.has(channel)) continue
      known.set(channel, on)
      times.set(cellName(current, channel), chosenAt?.[cellName(id, channel)])
    }
  }
  const after = [...moved].map(([id, cells]): [string, Cells] => [id, Object.fromEntries(cells)])
  const cells = { channels, categories: Object.fromEntries(after), quietHours, quietAt: chosenAt?.[QUIET] }
  return dated(cells, (category, channel) =>
    category === '' ? chosenAt?.[cellName('', channel)] : times.get(cellName(category, channel)),
  )
}

/** Applies changes cell by cell. @param now when they are chosen, in epoch milliseconds of the storage */
export function changePreferences(before: Preferences, changes: PreferenceChanges, now: number): Preferences {
  const categories = new Map(Object.entries(before.categories))
  for (const [id, { clear, cells }] of changes.categories) {
    const after = changeCells(clear ? NO_CELLS : (categories.get(id) ?? NO_CELLS), cells)
    if (Object.keys(after).length === 0) categories.delete(id)
    else categories.set(id, after)
  }
  const channels = changeCells(before.channels, changes.channels)
  const stays = changes.quietHours === undefined
  const after = {
    channels,
    categories: Object.fromEntries(categories),
    quietHours: stays ? before.quietHours : (changes.quietHours ?? undefined),
    quietAt: stays ? before.chosenAt?.[QUIET] : now,
  }
  return dated(after, (category, channel) => {
    const changed = category === '' ? changes.channels : changes.categories.get(category)?.cells
    const again = changed !== undefined && Object.hasOwn(changed, channel)
    return again ? now : before.chosenAt?.[cellName(category, channel)]
  })
}

interface Undated extends Omit<Preferences, 'chosenAt'> {
  /** When quiet hours were chosen. Undefined: unknown. */
  readonly quietAt: number | undefined
}

/** @param at when a cell was chosen; undefined: unknown */
function dated(
  { channels, categories, quietHours, quietAt }: Undated,
  at: (category: string, channel: string) => number | undefined,
): Preferences {
  const all: [string, Cells][] = [['', channels], ...Object.entries(categories)]
  const times = all.flatMap(([category, cells]) =>
    Object.keys(cells).flatMap((channel): [string, number][] => {
      const time = at(category, channel)
      return time === undefined ? [] : [[cellName(category, channel), time]]
    }),
  )
  if (quietHours !== undefined && quietAt !== undefined) times.push([QUIET, quietAt])
  return {
    channels,
    categories,
    ...(quietHours === undefined ? {} : { quietHours }),
    ...(times.length === 0 ? {} : { chosenAt: Object.fromEntries(times) }),
  }
}

/** A cell: on or off, null for none, with the time of the choice, null if unknown. */
export type CellState = readonly [on: boolean | null, at: number | null]

/** All cells by {@link cellName}. */
export function flatCells({ channels, categories, chosenAt }: Preferences): ReadonlyMap<string, CellState> {
  const all: [string, Cells][] = [['', channels], ...Object.entries(categories)]
  return new Map(
    all.flatMap(([category, cells]) =>
      Object.entries(cells).map(([channel, on]): [string, CellState] => {
        const name = cellName(category, channel)
        return [name, [on, chosenAt?.[name] ?? null]]
      }),
    ),
  )
}

/** The preferences with other cells, by {@link cellName}. */
export function datedCells(
  { quietHours, chosenAt }: Preferences,
  cells: ReadonlyMap<string, CellState>,
): Preferences {
  const byCategory = new Map<string, [string, boolean][]>()
  for (const [name, [on]] of cells) {
    const [category = '', channel = ''] = name.split(':')
    if (on !== null) byCategory.set(category, [...(byCategory.get(category) ?? []), [channel, on]])
  }
  const { '': channels = NO_CELLS, ...categories } = Object.fromEntries(
    [...byCategory].map(([category, each]) => [category, Object.fromEntries(each) as Cells]),
  )
  return dated({ channels, categories, quietHours, quietAt: chosenAt?.[QUIET] }, (category, channel) => {
    return cells.get(cellName(category, channel))?.[1] ?? undefined
  })
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
export function withoutCategory(before: Preferences, id: string, channel: string, now: number): Preferences {
  const categories = new Map([[id, { clear: false, cells: { [channel]: false } }]])
  return changePreferences(before, { channels: {}, categories }, now)
}

/**
 * Turns off everything that people can turn off. Quiet hours stay.
 *
 * @param channel on this channel only; `*`: on all
 */
export function withoutAll(before: Preferences, channel: string, now: number): Preferences {
  const channels = { [channel]: false }
  if (channel === ALL)
    return changePreferences({ ...before, ...NO_PREFERENCES }, { channels, categories: new Map() }, now)
  // An "on" for the category would outrank the channel, also a later one in another record.
  const said = Object.entries(before.categories).filter(([, cells]) => cellFor(cells, channel) !== undefined)
  const categories = new Map(said.map(([id]) => [id, { clear: false, cells: { [channel]: false } }]))
  return changePreferences(before, { channels, categories }, now)
}

/** The preferences of a person or organization. What is not named is undecided. */
export interface PreferencesRecord {
  /** The application's id of the person. Absent: named otherwise. */
  readonly recipient?: string | undefined
  /** The channel of `to`. Absent: named otherwise. */
  readonly channel?: string | undefined
  /** The address as given. Absent: named otherwise. */
  readonly to?: string | undefined
  /** The organization's own, for all its people. */
  readonly organization?: true | undefined
  /** On or off by channel. `*` means all channels that are not named. */
  readonly channels: Cells
  /** By id of the category: on or off on all channels, or by channel. */
  readonly categories: Readonly<Record<string, boolean | Cells>>
  /** When messages wait. False: never. Null: undecided. */
  readonly quietHours: QuietHours | false | null
  /** ISO 8601 UTC. Null: nothing was ever set. */
  readonly updatedAt: string | null
}
