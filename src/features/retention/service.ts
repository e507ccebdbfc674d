import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { Expiring } from '../../core/feature.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Logger } from '../../core/ports/logger.ts'
import type { ExpiredKind, ExpiredReceipt, ExpireRequest } from '../../core/ports/storage/expire.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import type { RecordStore } from '../../core/records/record-stores.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import { type OrganizationValue, organizationKind } from '../../core/tenancy/organization.ts'
import type { PlanFinder } from '../../core/tenancy/plan-of.ts'
import { type RetentionDays, retentionOf } from '../../core/tenancy/retention.ts'

/** Removes expired data periodically while the notifier delivers. */
export interface Retention {
  /** The first run is a few minutes after the start, to keep restarts fast. */
  start(): void
  /** Starts no further step; resolves when the current one has ended. */
  stop(): Promise<void>
}

export interface RetentionServices {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  readonly retention: RetentionDays
  readonly plans: Pick<PlanFinder, 'choose'>
  readonly positions: RecordStore<ContentPosition>
  readonly expiring: readonly Expiring[]
  /** Removes what features have of an organization. */
  expire(organizationId: string, olderThanMs: number): Promise<void>
  onError(error: unknown): void
}

/** How far the contents of an organization, whose id it has, are removed. */
export interface ContentPosition {
  /** Null: nothing is removed yet. */
  readonly after: string | null
}

export const contentPositionKind: RecordKind<ContentPosition> = {
  name: 'content_positions',
  version: 1,
  notPersonal: 'a position',
}

type OrganizationDays = ReturnType<typeof retentionOf>

const DAY_MS = 86_400_000
const FIRST_RUN_MS = 5 * 60_000
const EVERY_MS = 60 * 60_000

/** For unmatched receipts: a hand-over is settled within seconds. */
const UNMATCHED_MS = DAY_MS

/** Rows per commit at most. */
const STEP = 1_000

/** Events per commit whose contents are removed: a content can be large. */
const CONTENTS = 100

/** Records per commit: a synchronous storage blocks the process meanwhile. */
const RECORDS = 100

/** Pause between steps, for other work. */
const PAUSE_MS = 25

/** Organizations per query. */
const ORGANIZATIONS = 100

type Removed = Record<ExpiredKind, number>

/** Safe in several processes at once: each deletes the remaining rows. */
export function createRetention({
  storage,
  clock,
  logger,
  retention,
  plans,
  positions,
  expiring,
  expire: expireOfFeatures,
  onError,
}: RetentionServices): Retention {
  let running: Promise<void> = Promise.resolve()
  let stopped = false
  let cancelTimer = (): void => {}
  let endPause = (): void => {}

  function arm(delayMs: number): void {
    cancelTimer = clock.timer(delayMs, () => {
      running = run().then(
        () => arm(EVERY_MS),
        (error: unknown) => {
          onError(error)
          arm(EVERY_MS)
        },
      )
    })
  }

  async function run(): Promise<void> {
    const removed: Removed = {
      notifications: 0,
      contents: 0,
      deliveries: 0,
      idempotency: 0,
      receipts: 0,
      partitions: 0,
    }
    const longestMs = await expireNotifications(removed)
    const receiptsOlderThanMs = msOf(retention.logDays)
    await guarded(() =>
      expire({ receiptsOlderThanMs, unmatchedOlderThanMs: UNMATCHED_MS, longestMs }, removed),
    )
    await removeAllOldRecords(null)
    if (Object.values(removed).some((count) => count > 0)) {
      logger.info('Expired data was removed.', { ...removed })
    }
  }

  /** Returns the longest retention. Null: an organization keeps its data forever. */
  async function expireNotifications(removed: Removed): Promise<number | null> {
    // Events of operators' endpoints are kept as long as the service says.
    let longestDays = retention.logDays
    let cursor: string | undefined
    do {
      const page = await storage.records.list(
        organizationKind,
        { organizationId: null },
        { limit: ORGANIZATIONS, offset: 0, cursor },
      )
      for (const organization of page.items) {
        const days = daysFor(organization)
        longestDays = Math.max(longestDays, days.logDays)
        await guarded(() => expireOne(organization, days, removed))
        await removeAllOldRecords(organization.id)
      }
      cursor = page.nextCursor ?? undefined
      // An empty query is cheap, but there is one for each organization.
      await pause()
    } while (cursor !== undefined && !stopped)
    // Events about endpoints of operators.
    const olderThanMs = msOf(retention.logDays)
    if (olderThanMs !== null)
      await guarded(() => expire({ organizationId: ALL_ORGANIZATIONS, olderThanMs }, removed))
    return msOf(longestDays)
  }

  function daysFor({ id, value }: StoredRecord<OrganizationValue>): OrganizationDays {
    return retentionOf(value.retention, plans.choose(id, value.plan).plan.retention, retention)
  }

  /** An error of one part must not stop the others. Without the storage, all wait for the next run. */
  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (isNotifierError(error) && error.code === 'service_unavailable') throw error
      onError(error)
    }
  }

  async function expireOne(
    { id, value: { deleting } }: StoredRecord<OrganizationValue>,
    { contentDays, logDays }: OrganizationDays,
    removed: Removed,
  ): Promise<void> {
    if (stopped || deleting !== null) return
    const olderThanMs = msOf(logDays)
    if (olderThanMs !== null) {
      await expire({ organizationId: id, olderThanMs }, removed)
      await expireOfFeatures(id, olderThanMs)
    }
    if (contentDays < logDays) await expireContents(id, contentDays * DAY_MS, removed)
  }

  async function expire(what: ExpireRequest['what'], total: Removed): Promise<void> {
    for (let after: string | undefined; !stopped; ) {
      const { removed, unmatched, next } = await storage.expire({ what, most: STEP, after })
      for (const [kind, count] of Object.entries(removed)) total[kind as ExpiredKind] += count
      for (const line of byKind(unmatched)) {
        logger.warn('Reports of a provider matched no message and were removed.', line)
      }
      if (next !== null || Object.values(removed).some((count) => count > 0)) await pause()
      if (next === null) return
      after = next
    }
  }

  /** Goes on where an earlier run has stopped, in this process or another. */
  async function expireContents(id: string, contentsOlderThanMs: number, total: Removed): Promise<void> {
    const what = { organizationId: id, contentsOlderThanMs }
    const begun = { id, organizationId: id, value: { after: null } }
    let position = (await positions.find({ id })) ?? (await positions.keep(begun))
    for (let more = true; more && !stopped; ) {
      const after = position.value.after ?? undefined
      const { removed, next, reached = null } = await storage.expire({ what, most: CONTENTS, after })
      total.contents += removed.contents ?? 0
      if (reached === null) return
      const moved = await positions.replace(position, { after: reached })
      // Another process has gone on from here.
      if (typeof moved === 'string') return
      position = moved
      more = next !== null
      await pause()
    }
  }

  async function removeAllOldRecords(organizationId: string | null): Promise<void> {
    for (const one of expiring)
      if (organizationId === null || one.ofOrganizations === true)
        await guarded(() => removeOldRecords(organizationId, one))
  }

  async function removeOldRecords(organizationId: string | null, { kind, after }: Expiring): Promise<void> {
    const olderThanMs = typeof after === 'string' ? msOf(retention[after]) : after.ms
    if (olderThanMs === null) return
    const old = { organizationId, olderThanMs, most: RECORDS }
    while (!stopped && (await storage.records.removeOld(kind, old)) === RECORDS) await pause()
  }

  function pause(): Promise<void> {
    if (stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = clock.timer(PAUSE_MS, resolve)
      endPause = () => {
        cancel()
        resolve()
      }
    })
  }

  return {
    start() {
      if (!stopped) arm(FIRST_RUN_MS)
    },
    async stop() {
      stopped = true
      cancelTimer()
      endPause()
      await running
      cancelTimer()
    },
  }
}

/** Null: forever. */
function msOf(days: number): number | null {
  return days === Number.POSITIVE_INFINITY ? null : days * DAY_MS
}

/** One line with a count for each provider, organization and type. */
function byKind(
  expired: readonly ExpiredReceipt[],
): readonly (Omit<ExpiredReceipt, 'receivedAt'> & { readonly count: number })[] {
  const lines = new Map<string, Omit<ExpiredReceipt, 'receivedAt'> & { count: number }>()
  for (const { provider, organizationId, type } of expired) {
    const key = `${provider}\n${organizationId}\n${type}`
    const line = lines.get(key) ?? { provider, organizationId, type, count: 0 }
    line.count += 1
    lines.set(key, line)
  }
  return [...lines.values()]
}
