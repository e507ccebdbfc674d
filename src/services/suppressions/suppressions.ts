import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { channel } from '../../domain/input/fields.ts'
import { suppressionInput, suppressionTarget } from '../../domain/input/suppression.ts'
import { assertRecipient } from '../../domain/recipient.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Suppression } from '../../ports/storage/suppressions.ts'
import { type Kinds, unknownChannel } from '../channels/kinds.ts'
import { listOf, listReader } from '../list.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { parseSubject } from '../scope.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import { suppressionKey } from './match.ts'
import type { SuppressionQuery, SuppressionRecord } from './records.ts'

const readList = listReader<Pick<SuppressionQuery, 'channel'>>('suppressions', {
  channel: channel.optional(),
})

/** The use cases of the suppression list. */
export function createSuppressions(
  storage: Storage,
  organizations: Organizations,
  kinds: Kinds,
): Scoped<Tenant['suppressions']> {
  return {
    async add(organizationId, input) {
      const { reason = 'manual', source = null, ...target } = parseSubject(suppressionInput, input)
      // A mistyped address would never match.
      const kind = kinds.known.get(target.channel)
      if (kind === undefined) throw unknownChannel(target.channel, kinds)
      assertRecipient(kind, target.to)
      await organizations.existing(organizationId)
      const key = suppressionKey(kind, organizationId, target.to)
      return view(await storage.suppressions.add({ ...key, reason, source }))
    },
    async list(organizationId, query) {
      const { page, filter } = readList(query)
      await organizations.existing(organizationId)
      return listOf('suppressions', await storage.suppressions.list(organizationId, filter, page), page, view)
    },
    async remove(organizationId, target) {
      const parsed = parseSubject(suppressionTarget, target)
      await organizations.existing(organizationId)
      const key = suppressionKey(kinds.of(parsed.channel), organizationId, parsed.to)
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
