import { wrong } from '../tenancy/scope.ts'

/** Latest `sendAt` from now. */
const MAX_AHEAD_MS = 366 * 24 * 60 * 60 * 1000

/** @throws NotifierError `invalid_parameter` */
export function assertAhead(sendAt: number, now: number): void {
  if (sendAt > now + MAX_AHEAD_MS) throw wrong('sendAt', 'at most a year ahead')
}

/** ISO 8601 UTC. All notifications of a commit share one time, so its text is cached. */
export function createIso(): (time: number) => string {
  let last = { time: Number.NaN, text: '' }
  return (time) => {
    if (time !== last.time) last = { time, text: new Date(time).toISOString() }
    return last.text
  }
}
