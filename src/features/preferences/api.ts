import type { Cells } from '../categories/cells.ts'

/** Someone's preferences. What is not named is undecided. */
export interface PreferencesRecord {
  /** The application's id of the person. Absent: named otherwise. */
  readonly recipient?: string | undefined
  /** The channel of `to`. Absent: named otherwise. */
  readonly channel?: string | undefined
  /** The address as given. Absent: named otherwise. */
  readonly to?: string | undefined
  /** The organization's own, for all its people. */
  readonly organization?: true | undefined
  /** On or off by channel. `*` stands for all channels that are not named. */
  readonly channels: Cells
  /** By id of the category: on or off on all channels, or by channel. */
  readonly categories: Readonly<Record<string, boolean | Cells>>
  /** ISO 8601 UTC. Null: nothing was ever set. */
  readonly updatedAt: string | null
}
