import { wrong } from '../tenancy/scope.ts'

/** Latest `sendAt` from now. */
const MAX_AHEAD_MS = 366 * 24 * 60 * 60 * 1000

/** @throws NotifierError `invalid_parameter` */
export function assertAhead(sendAt: number, now: number): void {
  if (sendAt > now + MAX_AHEAD_MS) throw wrong('sendAt', 'at most a year ahead')
}
