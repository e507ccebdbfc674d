import type { Key } from './key.ts'

/** A key and the one that is to replace it. */
export interface Rotation {
  readonly old: Key
  readonly next: Key
  /** Since when the old one may be deleted: applications had a day to switch over. Epoch milliseconds. */
  readonly readyAt: number
  /** True: the old key was used after the new one was created. */
  readonly stillUsed: boolean
}

const DAY_MS = 86_400_000
const MARK = / \(rotated (\d{4}-\d\d-\d\d)\)$/

/** The name of a key that replaces another one. It tells everyone, in every browser, that a rotation is under way. */
export function nextName(name: string, today: Date = new Date()): string {
  return `${name.replace(MARK, '')} (rotated ${today.toISOString().slice(0, 10)})`
}

/** The rotations that are under way, found by the names of the keys. */
export function rotationsOf(keys: readonly Key[]): Rotation[] {
  return keys.flatMap((next) => {
    if (!MARK.test(next.name)) return []
    const base = next.name.replace(MARK, '')
    const old = keys.find(
      ({ id, name, createdAt }) =>
        id !== next.id && name.replace(MARK, '') === base && createdAt < next.createdAt,
    )
    if (old === undefined) return []
    const readyAt = Date.parse(next.createdAt) + DAY_MS
    return [{ old, next, readyAt, stillUsed: (old.lastUsedAt ?? '') > next.createdAt }]
  })
}
