/** A request for a link or picture of a message. */
export interface Visit {
  /** The User-Agent header; undefined: none. */
  readonly userAgent?: string | undefined
  /** False: a prefetch or a HEAD request, which is no open or click. */
  readonly counts: boolean
}

/** No person reads sooner after the hand-over; a scanner does. */
const TOO_SOON_MS = 2_000
/** Apple's Mail Privacy Protection sends only this User-Agent; Google's proxy names itself. */
const MACHINES = /^Mozilla\/5\.0$|GoogleImageProxy/

/** Whether a visit is by a machine. @param sinceMs time since the hand-over or delivery; null: unknown */
export function isMachineVisit({ userAgent = '' }: Visit, sinceMs: number | null): boolean {
  return MACHINES.test(userAgent) || (sinceMs !== null && sinceMs < TOO_SOON_MS)
}
