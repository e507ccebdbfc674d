import { GO, type Judge } from '../../core/gate/verdict.ts'
import { suppressionError } from '../../core/notification/suppression.ts'
import type { PersonHashes } from '../../core/people/person-hashes.ts'
import { suppressionId, suppressionKind } from './records.ts'

/**
 * Refuses what goes to a suppressed address. A required category overrides that the address has unsubscribed from
 * everything, and no other reason.
 */
export function judgeBySuppressions(hashes: Pick<PersonHashes, 'address'>): Judge {
  return async (asked, { records }) => {
    const refs = asked.map(({ kind, organizationId, to }) => ({
      id: suppressionId(hashes, kind, organizationId, to),
    }))
    const entries = await records.get(suppressionKind, refs)
    return entries.map((entry, at) => {
      const reason = entry?.value.reason
      if (reason === undefined || (reason === 'unsubscribe' && asked[at]?.category.required === true))
        return GO
      return { kind: 'refuse', error: suppressionError(reason) }
    })
  }
}
