import * as z from 'zod'
import { AUDIT_ACTIONS, targetKindOf } from '../../core/audit/actions.ts'
import { type Audit, type AuditValue, auditKind, auditListOf } from '../../core/audit/audit.ts'
import { MAX_RECIPIENT_LENGTH } from '../../core/channels/channel-kind.ts'
import { unknownChannel } from '../../core/channels/kinds.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { channel, instant, nameText, text } from '../../core/input/fields.ts'
import { MAX_RECIPIENT_ID } from '../../core/notification/labels.ts'
import { recipientName } from '../../core/people/person-hashes.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import { digest } from '../../core/records/digest.ts'
import { listOf, listOfOwner, listReader } from '../../core/records/list.ts'
import { searchList } from '../../core/records/search.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import { organizationKind, unknownOrganization } from '../../core/tenancy/organization.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { wrong } from '../../core/tenancy/scope.ts'
import type { Acting, AuditLog } from './api.ts'
import type { AuditEntry } from './model.ts'

const LIST = 'audit-log'
const HOUR = 3_600_000

interface Filter {
  readonly actor?: string | undefined
  readonly action?: AuditValue['action'] | undefined
  readonly target?: string | undefined
  readonly recipient?: string | undefined
  readonly channel?: string | undefined
  readonly to?: string | undefined
  readonly from?: number | undefined
  readonly until?: number | undefined
}

const read = listReader<Filter>(LIST, {
  actor: text(1, 250).optional(),
  action: z.enum(AUDIT_ACTIONS).optional(),
  target: text(1, 250).optional(),
  recipient: text(1, MAX_RECIPIENT_ID).optional(),
  channel: channel.optional(),
  to: text(1, MAX_RECIPIENT_LENGTH).optional(),
  from: instant.optional(),
  until: instant.optional(),
})

/** Records that the text of a message was shown. */
export type RecordContentRead = (organizationId: string, notificationId: string) => Promise<void>

/** The use cases of the audit log. */
export function createAuditLog({ stores, organizations, kinds, hashes }: FeatureCore): PerTenant<AuditLog> {
  const store = stores.always(auditKind)

  /** Undefined: any. */
  function targetOf({ target, recipient, channel: name, to }: Filter): string | undefined {
    if ((name === undefined) !== (to === undefined))
      throw wrong('channel', 'given with "to", and only with it')
    if ([target, recipient, to].filter((given) => given !== undefined).length > 1)
      throw wrong('target', 'given without "recipient" and "to", and these not together')
    if (recipient !== undefined) return recipientName(hashes.recipient(recipient))
    if (name === undefined || to === undefined) return target
    const kind = kinds.known.get(name)
    if (kind === undefined) throw unknownChannel(name, kinds)
    return hashes.addressName(kind, to)
  }

  /** An organization does not see the entries of an earlier one with its id. */
  async function beginOf(organizationId: string): Promise<number> {
    if (organizationId === ALL_ORGANIZATIONS) return 0
    await organizations.existing(organizationId)
    const organization = await stores.of(organizationKind).find({ id: organizationId })
    if (organization === null) throw unknownOrganization(organizationId)
    return organization.createdAt
  }

  return {
    async list(organizationId, query) {
      const { page, filter } = read(query, organizationId)
      const isFiltered = Object.values(filter).some((value) => value !== undefined)
      if (isFiltered && page.offset > 0) throw wrong('offset', 'omitted with a filter: use "cursor"')
      const target = targetOf(filter)
      const isAll = organizationId === ALL_ORGANIZATIONS
      const of = { organizationId: null, list: isAll ? undefined : auditListOf(organizationId) }
      const since = Math.max(await beginOf(organizationId), filter.from ?? 0)
      const found = await searchList(
        (request) => store.list(of, request),
        page,
        (record) => matches(record, { ...filter, target }),
        ({ createdAt }) => createdAt < since,
      )
      return listOf(listOfOwner(LIST, organizationId), found, page, (record) => view(record, isAll))
    },
  }
}

/** Of the reads of a message by one caller, the first of an hour is recorded: an open page asks every few seconds. */
export function createRecordContentRead({ stores, audit, clock }: FeatureCore): RecordContentRead {
  const store = stores.always(auditKind)
  return async (organizationId, notificationId) => {
    const action = 'notification.content_read'
    const { value } = audit.entry({ organizationId, action, target: notificationId })
    const { type, id } = value.actor
    const hour = Math.floor(clock.now() / HOUR)
    const once = digest([type, id, notificationId, hour].join('\n'))
    const entryId = `aud_${once}`
    // Most reads find it, and write nothing.
    if ((await store.find({ id: entryId })) !== null) return
    await store.keep({ id: entryId, organizationId: null, value })
  }
}

const actorName = nameText(200)

export function createActing({ actingAs }: Audit): Acting {
  return {
    actingAs(actor, work) {
      const { success } = actorName.safeParse(actor)
      if (!success) throw wrong('actor', 'one line of 1 to 200 characters')
      return actingAs({ actor: { type: 'code', id: actor, name: null }, from: null }, work)
    },
  }
}

type Entry = StoredRecord<AuditValue>

function matches({ createdAt, value }: Entry, { actor, action, target, until }: Filter): boolean {
  return (
    (actor === undefined || actor === value.actor.id) &&
    (action === undefined || action === value.action) &&
    (target === undefined || target === value.target.id) &&
    (until === undefined || createdAt < until)
  )
}

/** @param isAll false: the origin of operators stays hidden */
function view({ id, createdAt, value }: Entry, isAll: boolean): AuditEntry {
  const { organizationId, actor, from, action, target, changed } = value
  return {
    id,
    organizationId,
    at: new Date(createdAt).toISOString(),
    actor,
    action,
    target: { kind: targetKindOf(action), ...target },
    origin: actor.type === 'operator' && !isAll ? null : from,
    changed,
  }
}
