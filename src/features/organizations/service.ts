import * as z from 'zod'
import { apiKeyKind } from '../../core/access/key-kind.ts'
import { auditedChange } from '../../core/audit/audited-change.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { definedOf } from '../../core/input/defined.ts'
import type { Links } from '../../core/links/links.ts'
import type { Tracking } from '../../core/links/tracking.ts'
import type { KeepingInsert, StoredRecord } from '../../core/ports/storage/records.ts'
import { digest } from '../../core/records/digest.ts'
import { listOf, listReader } from '../../core/records/list.ts'
import { createResource } from '../../core/records/resource.ts'
import { pageOf } from '../../core/records/search.ts'
import {
  type Branding,
  DEFAULT_ORGANIZATION,
  ORGANIZATION_ID,
  ORGANIZATION_ID_FORM,
  type OrganizationValue,
  organizationKind,
  UNBRANDED,
  unknownOrganization,
} from '../../core/tenancy/organization.ts'
import type { PlanFinder } from '../../core/tenancy/plan-of.ts'
import { NO_OWN_RETENTION, type OwnRetention } from '../../core/tenancy/retention.ts'
import { byId, parseOptions, parseSubject, wrong } from '../../core/tenancy/scope.ts'
import type { Organizations } from './api.ts'
import { PATIENCE_MS, purge } from './deletion.ts'
import {
  type BrandingInput,
  organizationChange,
  organizationInput,
  type RetentionInput,
  trackingOf,
} from './input.ts'
import type {
  DeleteOrganizationOptions,
  OrganizationDeletion,
  OrganizationQuery,
  OrganizationRecord,
} from './model.ts'

const LIST = 'organizations'
const readList = listReader<Pick<OrganizationQuery, 'ids'>>(LIST, {
  ids: z
    .array(z.string().regex(ORGANIZATION_ID, `must be ${ORGANIZATION_ID_FORM}`))
    .max(100)
    .optional(),
})

const deleteOptions: z.ZodType<DeleteOrganizationOptions> = z.strictObject({
  force: z.boolean('must be true or false').optional(),
})

export interface OrganizationServices extends FeatureCore {
  readonly plans: PlanFinder
  readonly links: Pick<Links, 'canLink'>
}

/** The use cases of organizations. */
export function createOrganizations({
  stores,
  audit,
  storage: { deletions },
  ids,
  plans,
  links,
  clock,
  registry,
}: OrganizationServices): Organizations {
  const store = stores.of(organizationKind)

  function forget(id: string): void {
    plans.forget(id)
    // Its own providers close on their next use, or when idle.
    for (const channel of registry.channels) registry.own(channel)?.renew(id, 0)
  }

  const { get } = createResource(plans, {
    name: LIST,
    rows: store,
    view,
    absent: unknownOrganization,
  })

  /** One for each organization: a deletion that was interrupted is begun again. */
  function deletionEntry({ id, createdAt, value }: StoredRecord<OrganizationValue>): KeepingInsert {
    const action = 'organization.deleted'
    const entry = audit.entry({ organizationId: id, action, target: id, name: value.name })
    return { ...entry, id: `aud_${digest([action, id, createdAt].join('\n'))}`, ifTaken: 'keep' }
  }

  async function remove(id: string): Promise<OrganizationDeletion> {
    const { notifications, left } = await purge(deletions, id, clock)
    forget(id)
    if (left === 'jobs')
      throw inUse(id, 'Its deletion has begun, but notifications were accepted just before.')
    if (left === 'transactions') throw held(id)
    return { id, notifications }
  }

  return {
    async create(input) {
      const parsed = parseSubject(organizationInput, input)
      const {
        id = ids.random('org'),
        name,
        plan = null,
        smsCountries = null,
        senders = null,
        locale = null,
        timeZone = null,
      } = parsed
      const tracking = trackingOf(parsed.tracking)
      assertTrackable(tracking, links)
      plans.assertKnown(plan)
      const branding = changedBranding(null, parsed.branding ?? null)
      const retention = changedRetention(null, parsed.retention ?? null)
      const settings = { plan, smsCountries, senders, retention, locale, timeZone, branding, tracking }
      const value = { name, ...settings, deleting: null }
      const organization = await store.insert({ id, organizationId: null, value }, [
        audit.entry({
          organizationId: id,
          action: 'organization.created',
          target: id,
          name,
          after: value,
        }),
      ])
      if (organization === 'taken') {
        throw new NotifierError('already_exists', {
          message: `An organization with the id "${id}" exists.`,
          details: { field: 'id' },
        })
      }
      return view(organization)
    },
    get: (id) => get(null, id),
    async list(query) {
      const { page, filter } = readList(query)
      const found =
        filter.ids === undefined
          ? await store.list({ organizationId: null }, page)
          : pageOf(
              (await store.findAll(filter.ids.map((id) => ({ id })))).filter((row) => row !== null),
              page,
            )
      return listOf(LIST, found, page, view)
    },
    async plans() {
      const items = Object.entries(plans.all).map(([name, { retention: _, ...limits }]) => ({
        name,
        ...limits,
      }))
      return { items }
    },
    async update(id, input) {
      const parsed = parseSubject(organizationChange, input)
      plans.assertKnown(parsed.plan ?? null)
      const { tracking: wanted, branding, retention, ...others } = definedOf(parsed)
      const tracking = wanted === undefined ? undefined : trackingOf(wanted)
      assertTrackable(tracking, links)
      const change = { ...others, ...(tracking === undefined ? {} : { tracking }) }
      const organization = await byId(id, (known) =>
        store.change(
          known,
          ({ value }) =>
            value.deleting === null
              ? {
                  ...value,
                  ...change,
                  ...(branding === undefined ? {} : { branding: changedBranding(value.branding, branding) }),
                  ...(retention === undefined
                    ? {}
                    : { retention: changedRetention(value.retention, retention) }),
                }
              : 'unknown',
          (after, { value: before }) =>
            auditedChange(audit, {
              organizationId: known,
              action: 'organization.updated',
              target: known,
              name: after.name,
              before,
              after,
            }),
        ),
      )
      plans.forget(id)
      if (organization === null || typeof organization === 'string') throw unknownOrganization(id)
      return view(organization)
    },
    async delete(id, options) {
      const { force = false } = parseOptions(deleteOptions, options)
      if (id === DEFAULT_ORGANIZATION) throw wrong('id', `another than "${id}", which always exists`)
      const organization = await byId(id, (known) => store.find({ id: known }))
      if (organization === null) throw unknownOrganization(id)
      const also = [deletionEntry(organization)]
      const waiting = await deletions.begin(id, { force, kinds: [apiKeyKind], also })
      if (waiting === null) throw unknownOrganization(id)
      forget(id)
      if (waiting > 0) throw inUse(id, 'Nothing was deleted.', waiting)
      return remove(id)
    },
  }
}

function inUse(id: string, what: string, waiting?: number): NotifierError {
  const number = waiting === undefined ? 'Some' : waiting < 1_000 ? String(waiting) : 'At least 1000'
  return new NotifierError('organization_in_use', {
    message:
      `${number} notifications or webhook events of "${id}" wait. ${what} Delete it again once they have ended, or with ` +
      '{ force: true } (over HTTP: ?force=true), which removes them.',
    details: { field: 'id', ...(waiting === undefined ? {} : { waiting }) },
  })
}

function held(id: string): NotifierError {
  return new NotifierError('service_unavailable', {
    message:
      `Transactions that were open before the deletion of "${id}" have not ended within ${PATIENCE_MS / 1_000} seconds, ` +
      'and may still store notifications. The existing data is removed. Delete it again once they have ended; otherwise ' +
      'it is finished in the background, within minutes.',
  })
}

function changedBranding(before: Branding | null | undefined, change: BrandingInput | null): Branding | null {
  const after = change === null ? UNBRANDED : { ...UNBRANDED, ...before, ...definedOf(change) }
  return Object.values(after).every((field) => field === null) ? null : after
}

function changedRetention(before: OwnRetention | null, change: RetentionInput | null): OwnRetention | null {
  const after = change === null ? NO_OWN_RETENTION : { ...NO_OWN_RETENTION, ...before, ...definedOf(change) }
  return Object.values(after).every((field) => field === null) ? null : after
}

function view({ id, createdAt, value }: StoredRecord<OrganizationValue>): OrganizationRecord {
  const { deleting, locale = null, timeZone = null, branding, retention, ...organization } = value
  return {
    id,
    ...organization,
    locale,
    timeZone,
    retention: retention ?? NO_OWN_RETENTION,
    branding: branding ?? UNBRANDED,
    createdAt: new Date(createdAt).toISOString(),
    deleting: deleting !== null,
  }
}

/** @throws NotifierError `invalid_parameter` if tracking is on without a public address */
function assertTrackable(tracking: Tracking | undefined, links: Pick<Links, 'canLink'>): void {
  if (links.canLink || !(tracking?.opens || tracking?.clicks)) return
  throw new NotifierError('invalid_parameter', {
    message: '"tracking" needs the option "publicUrl", which is not set.',
    details: { field: 'tracking', option: 'publicUrl' },
  })
}
