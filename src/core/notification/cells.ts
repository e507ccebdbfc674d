/** On (`true`) or off (`false`) by channel. The channel `*` means all channels without their own cell. */
export type Cells = Readonly<Record<string, boolean>>

/** The key of all channels. No channel can have this name. */
export const ALL = '*'

export const NO_CELLS: Cells = Object.freeze({})

/** The own cell of a key. Undefined: none. */
export function cellOf(cells: Cells | undefined, key: string): boolean | undefined {
  return cells !== undefined && Object.hasOwn(cells, key) ? cells[key] : undefined
}

/** The cell of a channel, or else that of all channels. */
export function cellFor(cells: Cells | undefined, channel: string): boolean | undefined {
  return cellOf(cells, channel) ?? cellOf(cells, ALL)
}

/** The short form of cells: one value if it is for all channels. */
export function shortCells(cells: Cells): boolean | Cells {
  const all = cellOf(cells, ALL)
  return all !== undefined && Object.keys(cells).length === 1 ? all : cells
}

/** The cells of a value that may be short. */
export function longCells(value: boolean | Cells): Cells {
  return typeof value === 'boolean' ? { [ALL]: value } : value
}
