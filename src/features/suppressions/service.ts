import { unknownChannel } from '../../core/channels/kinds.ts'
import { assertRecipient } from '../../core/channels/recipient.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { channel } from '../../core/input/fields.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import { listOf, listReader } from '../../core/records/list.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { parseSubject } from '../../core/tenancy/scope.ts'
import type { Suppressions } from './api.ts'
import { suppressionInput, suppressionTarget } from './input.ts'
import type { SuppressionQuery, SuppressionRecord } from './model.ts'
import { type SuppressionValue, suppressing, suppressionId, suppressionKind } from './records.ts'

const readList = listReader<Pick<SuppressionQuery, 'channel'>>('suppressions', {
  channel: channel.optional(),
})

/** The use cases of the suppression list. */
export function createSuppressions({ stores, organizations, kinds }: FeatureCore): PerTenant<Suppressions> {
  const store = stores.always(suppressionKind)
  return {
    async add(organizationId, input) {
      const { reason = 'manual', source = null, ...target } = parseSubject(suppressionInput, input)
      // A mistyped address would never match.
      const kind = kinds.known.get(target.channel)
      if (kind === undefined) throw unknownChannel(target.channel, kinds)
      assertRecipient(kind, target.to)
      await organizations.existing(organizationId)
      const { id, value } = suppressing(kind, organizationId, target.to, { reason, source })
      return view(await store.keep({ id, organizationId, value }))
    },
    async list(organizationId, query) {
      const { page, filter } = readList(query)
      await organizations.existing(organizationId)
      const entries = await store.list({ organizationId, list: filter.channel }, page)
      return listOf('suppressions', entries, page, view)
    },
    async remove(organizationId, target) {
      const parsed = parseSubject(suppressionTarget, target)
      await organizations.existing(organizationId)
      const id = suppressionId(kinds.of(parsed.channel), organizationId, parsed.to)
      if (await store.remove(id)) return
      throw new NotifierError('not_found', {
        message: 'This recipient is not suppressed on this channel.',
        details: { field: 'to' },
      })
    },
  }
}

function view({ value, createdAt }: StoredRecord<SuppressionValue>): SuppressionRecord {
  const { channel, address, reason, source } = value
  return { channel, to: address, reason, source, createdAt: new Date(createdAt).toISOString() }
}
