/** Job states of the schema. Statements use literals, so that SQLite can use the partial indexes. */
export const READY = 0
export const WAITING = 1

/** Marks a job that the gate delays. Separate, so that others bind nothing for it. */
export const SET_DELAYED = 'UPDATE carillon_jobs SET delayed_address = ?, delayed_person = ? WHERE id = ?'

/** The id of a notification's job. */
export function notificationJob(seq: number): number {
  return 2 * seq
}

/** The id of a delivery's job. */
export function eventJob(delivery: number): number {
  return 2 * delivery + 1
}

export function isEventJob(id: number): boolean {
  return id % 2 === 1
}

/** The notification's `seq`, or the delivery's `id`, of a job. */
export function subjectOf(id: number): number {
  return Math.floor(id / 2)
}
