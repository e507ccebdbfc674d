import type { OrganizationLimits } from '../channels/channel-kind.ts'
import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import { aboutRecipient } from '../people/addressed.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { type Asked, GO, type Judge, type Verdict } from './verdict.ts'

/** What limits an organization; a promise only if it is in no cache. @param from source of a look-up */
export type LimitsFinder = (
  organizationId: string,
  from?: RecordReads,
) => OrganizationLimits | Promise<OrganizationLimits>

/** The limits, or why there are none: the organization has been deleted. */
type Found = OrganizationLimits | NotifierError

/** Refuses what goes where the organization may not send to. Messages of other channels need no look-up. */
export function judgeByRegions(limitsOf: LimitsFinder): Judge {
  return (asked, { records, inside }) => {
    const limited = new Set(asked.flatMap((one) => (isLimited(one) ? one.organizationId : [])))
    if (limited.size === 0) return asked.map(() => GO)
    const ids = [...limited]
    const found = ids.map((id) => limitsOf(id, inside ? records : undefined))
    const judged = (limits: readonly Found[]): readonly Verdict[] => {
      const byId = new Map(ids.map((id, at) => [id, limits[at]]))
      return asked.map((one) => (isLimited(one) ? verdictOf(one, byId.get(one.organizationId)) : GO))
    }
    if (!found.some((one) => one instanceof Promise)) return judged(found as OrganizationLimits[])
    return Promise.all(found.map(orWhyNot)).then(judged)
  }
}

function isLimited({ kind }: Asked): boolean {
  return kind.assertPermitted !== undefined
}

/** Rejects if the storage is away. */
async function orWhyNot(limits: OrganizationLimits | Promise<OrganizationLimits>): Promise<Found> {
  try {
    return await limits
  } catch (error) {
    if (isNotifierError(error) && error.status < 500) return error
    throw error
  }
}

function verdictOf({ kind, to, recipient }: Asked, limits: Found | undefined): Verdict {
  if (limits === undefined) throw new Error('The limits of an organization are missing.')
  if (isNotifierError(limits)) return { kind: 'refuse', error: limits }
  try {
    kind.assertPermitted?.(to, limits)
    return GO
  } catch (error) {
    const refusal = isNotifierError(error) ? error : faulty(kind.name, error)
    return { kind: 'refuse', error: recipient === null ? refusal : aboutRecipient(refusal, recipient) }
  }
}

/** A fault in the kind of one message must not stop the messages that it is judged with. */
function faulty(channel: string, cause: unknown): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `The check of a recipient by the channel "${channel}" has failed.`,
    cause,
  })
}
