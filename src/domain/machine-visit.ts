/** Who fetched something that a message links to. */
export interface Visit {
  /** The User-Agent header; undefined: none. */
  readonly userAgent?: string | undefined
  /** False: it was fetched ahead, or only looked at (HEAD): nobody has opened or clicked anything. */
  readonly counts: boolean
}

/** Sooner after the hand-over nobody reads: a scanner on the way does. */
const TOO_SOON_MS = 2_000
/** Apple's Mail Privacy Protection names itself by nothing but this; Google's proxy by its name. */
const MACHINES = /^Mozilla\/5\.0$|GoogleImageProxy/

/** Whether a machine made a visit. @param sinceMs since the provider took the message or delivered it; null: not known */
export function isMachineVisit({ userAgent = '' }: Visit, sinceMs: number | null): boolean {
  return MACHINES.test(userAgent) || (sinceMs !== null && sinceMs < TOO_SOON_MS)
}
