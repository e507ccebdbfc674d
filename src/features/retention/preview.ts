import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FeatureCore } from '../../core/feature.ts'
import type { ExpiringContents, ExpiringNotifications } from '../../core/ports/storage/expire.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import {
  type OrganizationValue,
  organizationKind,
  unknownOrganization,
} from '../../core/tenancy/organization.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { PlanFinder } from '../../core/tenancy/plan-of.ts'
import {
  type OwnRetention,
  type PlanRetention,
  type RetentionDays,
  type RetentionSource,
  retentionOf,
  retentionSource,
} from '../../core/tenancy/retention.ts'
import type { RetentionApi } from './api.ts'
import type { RetentionCount, RetentionPreview } from './model.ts'
import { contentPositionKind } from './service.ts'

const DAY_MS = 86_400_000
/** Rows of a step. */
const STEP = 100
/** Steps for each kind of data: some 10,000 rows. */
const STEPS = 100
/** The same over all organizations, of which each takes a step. */
const STEPS_OF_ALL = 1_000
/** Organizations per query. */
const ORGANIZATIONS = 100
/** How long an answer holds: asking again and again costs no more than this. */
const FRESH_MS = 10_000
const MOST_REMEMBERED = 10_000

export interface PreviewServices extends FeatureCore {
  readonly plans: Pick<PlanFinder, 'choose'>
  /** Of the service. */
  readonly retention: RetentionDays
}

type Organization = Pick<StoredRecord<OrganizationValue>, 'id' | 'value'>
type Counts = Readonly<Record<'contents' | 'notifications', Count>>

/** Of one kind of data. */
interface Count {
  /** Left. */
  steps: number
  removes: number
  exact: boolean
  oldest: number | null
}

/** Counts what the next pass removes. */
export function createPreview({
  storage,
  stores,
  organizations,
  clock,
  plans,
  retention,
}: PreviewServices): PerTenant<RetentionApi> {
  const store = stores.of(organizationKind)
  const positions = stores.always(contentPositionKind)
  const remembered = new Map<string, { readonly answer: Promise<RetentionPreview>; until: number }>()

  function once(key: string, read: () => Promise<RetentionPreview>): Promise<RetentionPreview> {
    const known = remembered.get(key)
    if (known !== undefined && known.until > clock.monotonic()) return known.answer
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    const entry = { answer: read(), until: Number.POSITIVE_INFINITY }
    remembered.set(key, entry)
    entry.answer.then(
      () => {
        entry.until = clock.monotonic() + FRESH_MS
      },
      () => remembered.delete(key),
    )
    return entry.answer
  }

  async function add(
    counts: Counts,
    kind: keyof Counts,
    what: ExpiringContents | ExpiringNotifications,
    from?: string,
  ): Promise<void> {
    const count = counts[kind]
    for (let after = from; ; ) {
      if (count.steps <= 0) {
        count.exact = false
        return
      }
      count.steps -= 1
      const answer = await storage.expire({ what: { ...what, dryRun: true }, most: STEP, after })
      count.removes += answer.removed[kind] ?? 0
      if (answer.oldest !== undefined) count.oldest = Math.min(answer.oldest, count.oldest ?? answer.oldest)
      // A storage that works synchronously would otherwise keep the process from everything else.
      await nextTurn()
      if (answer.next === null) return
      after = answer.next
    }
  }

  async function addOrganization({ id, value }: Organization, counts: Counts): Promise<void> {
    if (value.deleting !== null) return
    const { contentDays, logDays } = daysOf({ id, value })
    if (logDays < Number.POSITIVE_INFINITY)
      await add(counts, 'notifications', { organizationId: id, olderThanMs: logDays * DAY_MS })
    if (contentDays < logDays) {
      const after = (await positions.find({ id }))?.value.after ?? undefined
      await add(counts, 'contents', { organizationId: id, contentsOlderThanMs: contentDays * DAY_MS }, after)
    }
  }

  function planOf({ id, value }: Organization): PlanRetention | undefined {
    return plans.choose(id, value.plan).plan.retention
  }

  function daysOf(organization: Organization): RetentionDays {
    return { ...retention, ...retentionOf(organization.value.retention, planOf(organization), retention) }
  }

  async function previewOne(organizationId: string): Promise<RetentionPreview> {
    await organizations.existing(organizationId)
    const organization = await store.find({ id: organizationId })
    if (organization === null) throw unknownOrganization(organizationId)
    const days = daysOf(organization)
    return once(`${organizationId} ${days.contentDays} ${days.logDays}`, async () => {
      const counts = countsOf(STEPS)
      const at = clock.now()
      await addOrganization(organization, counts)
      const sourceOf = (kind: keyof OwnRetention): RetentionSource =>
        retentionSource(kind, organization.value.retention, planOf(organization))
      return view(at, counts, days, sourceOf)
    })
  }

  async function previewAll(): Promise<RetentionPreview> {
    const counts = countsOf(STEPS_OF_ALL)
    const at = clock.now()
    let cursor: string | undefined
    do {
      const of = { organizationId: null }
      const page = await store.list(of, { limit: ORGANIZATIONS, offset: 0, cursor })
      for (const organization of page.items) await addOrganization(organization, counts)
      cursor = page.nextCursor ?? undefined
      // An organization that keeps its data forever takes no step.
      counts.notifications.steps -= 1
    } while (cursor !== undefined && counts.notifications.steps > 0)
    if (cursor !== undefined) for (const count of Object.values(counts)) count.exact = false
    return view(at, counts, retention, () => 'service')
  }

  return {
    preview: async (organizationId) =>
      organizationId === ALL_ORGANIZATIONS ? once(ALL_ORGANIZATIONS, previewAll) : previewOne(organizationId),
  }
}

function countsOf(steps: number): Counts {
  const count = (): Count => ({ steps, removes: 0, exact: true, oldest: null })
  return { contents: count(), notifications: count() }
}

function view(
  at: number,
  { contents, notifications }: Counts,
  { contentDays, logDays }: RetentionDays,
  sourceOf: (kind: keyof OwnRetention) => RetentionSource,
): RetentionPreview {
  const retained = (
    { removes, exact, oldest }: Count,
    days: number,
    source: RetentionSource,
  ): RetentionCount => ({
    days: days === Number.POSITIVE_INFINITY ? null : days,
    source,
    removes,
    exact,
    oldest: oldest === null ? null : new Date(oldest).toISOString(),
  })
  const untilEnd = contentDays < logDays ? contentDays : Number.POSITIVE_INFINITY
  return {
    at: new Date(at).toISOString(),
    contents: retained(contents, untilEnd, sourceOf('contentDays')),
    notifications: retained(notifications, logDays, sourceOf('logDays')),
  }
}
