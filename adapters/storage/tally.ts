import { MOST_BYTES } from './contents-step.ts'

/** What the change of a row costs, in bytes of a content to parse. */
export const ROW_COST = 1_024
/** A notification has some rows in each table. */
const NOTIFICATION_COST = 10 * ROW_COST

/** Counts what a step costs, so that it stays short. */
export function createTally(): { add(bytes: number): void; isFull(): boolean } {
  let read = 0
  return {
    add(bytes) {
      read += bytes + NOTIFICATION_COST
    },
    isFull: () => read >= MOST_BYTES,
  }
}
