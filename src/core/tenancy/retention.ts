/** A kind of data that expires: an option of `retention`. */
export type RetainedData = 'contentDays' | 'logDays' | 'auditDays'

/** Days by kind of data. Infinity: forever. */
export type RetentionDays = Readonly<Record<RetainedData, number>>

/** The defaults. */
export const RETENTION_DAYS: RetentionDays = Object.freeze({
  contentDays: Number.POSITIVE_INFINITY,
  logDays: 90,
  auditDays: 365,
})

/** How long the notifications of organizations of a plan are kept. */
export interface PlanRetention {
  /** As in the option `retention`. Default: that option. */
  readonly contentDays?: number | false | undefined
  /** The same. */
  readonly logDays?: number | false | undefined
}

/** What an organization has chosen. Null: as in its plan. */
export interface OwnRetention {
  readonly contentDays: number | null
  readonly logDays: number | null
}

/** Of an organization that has chosen nothing. */
export const NO_OWN_RETENTION: OwnRetention = Object.freeze({ contentDays: null, logDays: null })

/** The kinds of data that a plan and an organization can keep for another time. */
export const OWN_RETENTION: readonly (keyof OwnRetention)[] = ['contentDays', 'logDays']

/** The days that hold for an organization. */
export function retentionOf(
  own: OwnRetention | null,
  plan: PlanRetention | undefined,
  service: RetentionDays,
): Pick<RetentionDays, keyof OwnRetention> {
  const of = (kind: keyof OwnRetention): number => own?.[kind] ?? daysOf(plan?.[kind]) ?? service[kind]
  return { contentDays: of('contentDays'), logDays: of('logDays') }
}

/** What sets the days of a kind of data. */
export type RetentionSource = 'service' | 'plan' | 'organization'

/** What sets the days that hold for an organization. */
export function retentionSource(
  kind: keyof OwnRetention,
  own: OwnRetention | null,
  plan: PlanRetention | undefined,
): RetentionSource {
  if (own !== null && own[kind] !== null) return 'organization'
  return plan?.[kind] === undefined ? 'service' : 'plan'
}

/** False is forever. */
export function daysOf<Days extends number | undefined>(given: Days | false): Days | number {
  return given === false ? Number.POSITIVE_INFINITY : given
}
