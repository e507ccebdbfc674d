import * as z from 'zod'
import { MAX_RECIPIENT_LENGTH } from '../../core/channels/channel-kind.ts'
import { unknownChannel } from '../../core/channels/kinds.ts'
import { assertRecipient } from '../../core/channels/recipient.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { channel, text } from '../../core/input/fields.ts'
import { SUPPRESSION_REASONS } from '../../core/notification/suppression.ts'
import type { Page, PageRequest } from '../../core/ports/storage/page.ts'
import type { RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import { listOf, listReader } from '../../core/records/list.ts'
import type { NewRecord } from '../../core/records/record-stores.ts'
import { pageOf, searchList } from '../../core/records/search.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { parseSubject } from '../../core/tenancy/scope.ts'
import type { Suppressions } from './api.ts'
import { suppressionInput, suppressionTarget } from './input.ts'
import type { SuppressionQuery, SuppressionRecord } from './model.ts'
import { type SuppressionValue, suppressing, suppressionId, suppressionKind } from './records.ts'

type Filter = Pick<SuppressionQuery, 'channel' | 'to' | 'reason'>

const readList = listReader<Filter>('suppressions', {
  channel: channel.optional(),
  to: text(1, MAX_RECIPIENT_LENGTH).optional(),
  reason: z.enum(SUPPRESSION_REASONS).optional(),
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

  async function entriesOf(
    organizationId: string,
    { channel, to, reason }: Filter,
    page: PageRequest,
  ): Promise<Page<StoredRecord<SuppressionValue>>> {
    const isWanted = ({ value }: StoredRecord<SuppressionValue>): boolean =>
      reason === undefined || reason === value.reason
    if (to === undefined) {
      const read = (request: PageRequest) => store.list({ organizationId, list: channel }, request)
      return reason === undefined ? read(page) : searchList(read, page, isWanted)
    }
    const asked = channel === undefined ? [...kinds.known.values()] : [kinds.of(channel)]
    const found = await store.findAll(
      asked.map((kind) => ({ id: suppressionId(hashes, kind, organizationId, to) })),
    )
    const all = found
      .filter((entry) => entry !== null)
      .filter(isWanted)
      .toSorted((one, other) => other.createdAt - one.createdAt)
    return pageOf(all, page)
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
      const entries = await entriesOf(organizationId, filter, page)
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
