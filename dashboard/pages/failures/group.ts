/** Failures with one code at one provider on one channel, as the REST API counts them. */
export interface Group {
  readonly channel: string
  readonly code: string
  /** Null: no provider was asked. */
  readonly provider: string | null
  readonly count: number
  readonly newestAt: string
}

export interface Groups {
  /** Those with most first. */
  readonly groups: readonly Group[]
  readonly total: number
  /** False: there may be more than was counted. */
  readonly exact: boolean
}

export function keyOfGroup({ channel, code, provider }: Group): string {
  return `${channel} ${code} ${provider ?? ''}`
}

/** The filters that lead to the notifications of a group. */
export function groupQuery({ channel, code, provider }: Group): Readonly<Record<string, string>> {
  return { status: 'failed', channel, code, provider: provider ?? '' }
}
