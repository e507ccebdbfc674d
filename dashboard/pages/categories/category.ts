import { session } from '../../app/session.ts'

export type Cells = Readonly<Record<string, boolean>>

/** A category, as the REST API shows it. */
export interface Category {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly required: boolean
  /** By channel; `*` stands for all others. */
  readonly default: Cells
  readonly listId: string | null
  readonly from: string | null
  readonly source: 'code' | 'stored'
  /** Null: declared in code. */
  readonly version: number | null
}

/** The channels of the service, and others that are named. */
export function channelsWith(...cells: readonly Cells[]): string[] {
  const configured = session.value.kinds.flatMap(({ name, configured: has }) => (has ? [name] : []))
  const named = cells.flatMap((each) => Object.keys(each)).filter((name) => name !== '*')
  return [...new Set([...configured, ...named])]
}

export function isOn(cells: Cells, channel: string): boolean {
  return cells[channel] ?? cells['*'] ?? true
}
