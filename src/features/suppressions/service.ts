import { unknownChannel } from '../../core/channels/kinds.ts'
import { assertRecipient } from '../../core/channels/recipient.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { channel } from '../../core/input/fields.ts'
import type { RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import { listOf, listReader } from '../../core/records/list.ts'
import type { NewRecord } from '../../core/records/record-stores.ts'
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
export function createSuppressions({
  stores,
  audit,
  organizations,
  kinds,
  hashes,
}: FeatureCore): PerTenant<Suppressions> {
  const store = stores.always(suppressionKind)

  /** Stores an entry, or finds the present one. */
  async function kept(
    record: NewRecord<SuppressionValue>,
    also: readonly RecordWrite[],
  ): Promise<StoredRecord<SuppressionValue>> {
    for (;;) {
      const stored = await store.insert(record, also)
      if (stored !== 'taken') return stored
      const present = await store.find({ id: record.id })
      // Removed meanwhile.
      if (present !== null) return present
    }
  }

  return {
    async add(organizationId, input) {
      const { reason = 'manual', source = null, ...parsed } = parseSubject(suppressionInput, input)
      // A mistyped address would never match.
      const kind = kinds.known.get(parsed.channel)
      if (kind === undefined) throw unknownChannel(parsed.channel, kinds)
      assertRecipient(kind, parsed.to)
      await organizations.existing(organizationId)
      const { id, value } = suppressing(hashes, kind, organizationId, parsed.to, { reason, source })
      const target = hashes.addressName(kind, parsed.to)
      return view(
        await kept({ id, organizationId, value }, [
          audit.entry({ organizationId, action: 'suppression.added', target, after: value }),
        ]),
      )
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
      const kind = kinds.of(parsed.channel)
      const id = suppressionId(hashes, kind, organizationId, parsed.to)
      const action = 'suppression.removed'
      const removed = await store.remove(id, () => [
        audit.entry({ organizationId, action, target: hashes.addressName(kind, parsed.to) }),
      ])
      if (removed) return
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
