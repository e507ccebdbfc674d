import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { parseInput } from '../../domain/input/parse.ts'
import { suppressionInput, suppressionTarget } from '../../domain/input/suppression.ts'
import { assertRecipient } from '../../domain/recipient.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Suppression } from '../../ports/storage/suppressions.ts'
import type { Notifier } from '../notifier.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { listOf, organizationOf, pageRequest } from '../scope.ts'
import { suppressionKey } from './match.ts'
import type { SuppressionRecord } from './records.ts'

/** The suppression list of a notifier. */
export function createSuppressions(storage: Storage, organizations: Organizations): Notifier['suppressions'] {
  return {
    async add(input, scope) {
      const { reason = 'manual', source = null, ...target } = parseInput(suppressionInput, input)
      // A mistyped address would be kept for ever and never match.
      assertRecipient(target.channel, target.to)
      const key = suppressionKey(await organizations.existing(scope), target)
      return view(await storage.suppressions.add({ ...key, reason, source }))
    },
    async list(query) {
      const request = pageRequest('suppressions', query)
      const filter = { channel: query?.channel }
      return listOf(
        'suppressions',
        await storage.suppressions.list(organizationOf(query), filter, request),
        request,
        view,
      )
    },
    async remove(target, scope) {
      const key = suppressionKey(organizationOf(scope), parseInput(suppressionTarget, target))
      if (await storage.suppressions.remove(key.organizationId, key.channel, key.address)) return
      throw new NotifierError('not_found', {
        message: 'This recipient is not suppressed on this channel.',
        details: { field: 'to' },
      })
    },
  }
}

function view({ channel, address, reason, source, createdAt }: Suppression): SuppressionRecord {
  return { channel, to: address, reason, source, createdAt: new Date(createdAt).toISOString() }
}
