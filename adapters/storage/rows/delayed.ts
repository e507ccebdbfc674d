import type { DelayedOf, JudgeAgainAnswer } from '../../../src/core/ports/storage/notifications.ts'
import { encodeCursor } from '../../../src/core/records/cursor.ts'

/** The job of a delayed notification. */
export interface DelayedRow {
  readonly id: number
  readonly due_at: number
  readonly send_at: number | null
  readonly category: string | null
}

/** A job with the new time at which it is due. */
export interface MovedJob {
  readonly id: number
  readonly dueAt: number
}

/** What a step makes of the rows that it examines, in their order. Those that are due earlier stay. */
export function stepOf(
  rows: readonly DelayedRow[],
  of: DelayedOf,
  most: number,
  now: number,
): { readonly moved: readonly MovedJob[] } & Pick<JudgeAgainAnswer, 'next'> {
  const moved = rows.flatMap(({ id, due_at, send_at, category }): MovedJob[] => {
    if (of.by === 'categories' && (category === null || !of.categories.includes(category))) return []
    const dueAt = Math.max(now, send_at ?? 0)
    return dueAt < due_at ? [{ id, dueAt }] : []
  })
  const last = rows.at(-1)
  return { moved, next: rows.length < most || last === undefined ? null : encodeCursor([last.id]) }
}
