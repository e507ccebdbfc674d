import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ErrorCode } from '../errors/catalogue.ts'
import type { Failure, FailureSpan } from '../ports/storage/notifications.ts'
import type { Storage } from '../ports/storage/storage.ts'

/** Failed notifications by their error and the provider that they failed at. */
export interface FailureGroups {
  /** The most frequent first, at most 100. */
  readonly groups: readonly FailureGroup[]
  /** How many failures there are, also of causes beyond the 100. */
  readonly total: number
  /** False: only the newest 10,000 failures were examined; each number is a lower bound. */
  readonly exact: boolean
}

export interface FailureGroup {
  readonly code: ErrorCode
  /** Null: no provider was called. */
  readonly provider: string | null
  readonly channel: string
  readonly count: number
  /** When the newest of them was accepted: ISO 8601 UTC. */
  readonly newestAt: string
}

/** Maximum number of examined failures, in all and per read. */
const MOST = 10_000
const STEP = 1_000
const MOST_GROUPS = 100

/** Groups failures by code, provider and channel. */
export async function groupFailures(
  storage: Pick<Storage, 'notifications'>,
  span: FailureSpan,
  matches: (failure: Failure) => boolean = () => true,
): Promise<FailureGroups> {
  const groups = new Map<string, FailureGroup>()
  let cursor: string | undefined
  for (let looked = 0; looked < MOST; looked += STEP) {
    const page = await storage.notifications.failures(span, { limit: STEP, offset: 0, cursor })
    for (const failure of page.items) if (matches(failure)) add(groups, failure)
    if (page.nextCursor === null) return { ...counted(groups), exact: true }
    cursor = page.nextCursor
    await nextTurn()
  }
  return { ...counted(groups), exact: false }
}

/** Newest first. */
function add(groups: Map<string, FailureGroup>, failure: Failure): void {
  const { code, provider, channel, createdAt } = failure
  const key = JSON.stringify([code, provider, channel])
  const known = groups.get(key)
  const newestAt = known?.newestAt ?? new Date(createdAt).toISOString()
  groups.set(key, { code, provider, channel, count: (known?.count ?? 0) + 1, newestAt })
}

function counted(found: ReadonlyMap<string, FailureGroup>): Pick<FailureGroups, 'groups' | 'total'> {
  const groups = [...found.values()].sort((a, b) => b.count - a.count)
  const total = groups.reduce((sum, { count }) => sum + count, 0)
  return { groups: groups.slice(0, MOST_GROUPS), total }
}
