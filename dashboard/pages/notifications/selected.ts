import { durabilityOf } from '../../../src/core/errors/durability.ts'
import { ApiError, ask } from '../../app/api.ts'
import type { Query } from '../../app/router.ts'
import type { Run } from '../../app/use-bulk.ts'
import type { Status } from '../../ui/notification-status.tsx'
import type { Notification, Summary } from './notification.ts'

/** What can be done to several notifications. */
export type BulkAction = 'cancel' | 'retry'

/** Which are selected: these, or all that the query finds. */
export type Selected = { readonly ids: readonly string[] } | { readonly query: Query }

/** Why one stays as it is. */
export type Reason =
  | 'sent'
  | 'failed'
  | 'cancelled'
  | 'skipped'
  | 'waiting'
  | 'permanent'
  | 'expired'
  | 'gone'

export interface Counted {
  readonly possible: readonly string[]
  readonly against: ReadonlyMap<Reason, number>
  readonly looked: number
  /** Those beyond the count; null: there are none. */
  readonly beyond: AsyncGenerator<readonly Summary[]> | null
}

interface Page {
  readonly items: readonly Summary[]
  readonly nextCursor: string | null
}

/** A page of the list, and as many ids as its filter takes. */
const PAGE = 100
/** Counted exactly up to this many. */
const MOST = 2_000
/** Concurrent requests. */
const AT_ONCE = 4
/** Statuses that refuse one notification. Others end the run. */
const REFUSALS: readonly number[] = [404, 409, 422]

const POSSIBLE: Readonly<Record<BulkAction, readonly Status[]>> = {
  cancel: ['scheduled', 'queued'],
  retry: ['failed'],
}

/** Null: it can be done. */
function reasonAgainst(action: BulkAction, { status, error, expiresAt }: Summary): Reason | null {
  switch (status) {
    case 'scheduled':
    case 'queued':
      return action === 'cancel' ? null : 'waiting'
    case 'failed':
      if (action === 'cancel') return 'failed'
      if (durabilityOf(error?.code ?? '') === 'permanent') return 'permanent'
      return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : null
    case 'cancelled':
    case 'skipped':
      return status
    default:
      return 'sent'
  }
}

/** Reads the selected notifications as they are now, page by page. */
async function* walk(action: BulkAction, selected: Selected, run: Run): AsyncGenerator<readonly Summary[]> {
  for (const query of queriesOf(action, selected)) {
    let cursor: string | undefined
    do {
      const page: Page = await run.patiently(() =>
        ask('/v1/notifications', { query: { ...query, limit: String(PAGE), cursor }, signal: run.signal }),
      )
      yield page.items
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }
}

function queriesOf(action: BulkAction, selected: Selected): readonly Query[] {
  if ('query' in selected) {
    // Of a long history without a filter by status, only what the action can change is read.
    const { query } = selected
    return query.status ? [query] : POSSIBLE[action].map((status) => ({ ...query, status }))
  }
  const { ids } = selected
  return Array.from({ length: Math.ceil(ids.length / PAGE) }, (_, page) => ({
    ids: ids.slice(page * PAGE, (page + 1) * PAGE).join(','),
  }))
}

/** Finds what the action could change, and changes nothing. */
export async function countSelected(action: BulkAction, selected: Selected, run: Run): Promise<Counted> {
  const pages = walk(action, selected, run)
  const possible: string[] = []
  const against = new Map<Reason, number>()
  const sort = (id: string, reason: Reason | null): unknown =>
    reason === null ? possible.push(id) : against.set(reason, (against.get(reason) ?? 0) + 1)
  const named = 'ids' in selected ? new Set(selected.ids) : new Set<string>()
  let looked = 0
  while (looked < MOST) {
    const { done, value } = await pages.next()
    if (done) {
      for (const id of named) sort(id, 'gone')
      return { possible, against, looked: looked + named.size, beyond: null }
    }
    looked += value.length
    for (const item of value) {
      named.delete(item.id)
      sort(item.id, reasonAgainst(action, item))
    }
  }
  return { possible, against, looked, beyond: pages }
}

async function* idsOf(action: BulkAction, { possible, beyond }: Counted): AsyncGenerator<string> {
  yield* possible
  if (beyond === null) return
  for await (const page of beyond) {
    for (const item of page) if (reasonAgainst(action, item) === null) yield item.id
  }
}

/**
 * Does it, a few at a time, until the end or a stop.
 *
 * @param tell of each: the notification as it is now, or the code that it was refused with
 * @returns false: it was stopped
 */
export async function actOnSelected(
  action: BulkAction,
  counted: Counted,
  run: Run,
  tell: (outcome: Notification | ApiError) => void,
): Promise<boolean> {
  const ids = idsOf(action, counted)
  async function work(): Promise<boolean> {
    while (!run.signal.aborted) {
      const { done, value: id } = await ids.next()
      if (done) return true
      if (run.signal.aborted) break
      tell(await run.patiently(() => actOn(action, id)))
      run.add(1)
    }
    return false
  }
  const ended = await Promise.all(Array.from({ length: AT_ONCE }, work))
  return ended.every((whole) => whole)
}

async function actOn(action: BulkAction, id: string): Promise<Notification | ApiError> {
  try {
    return await ask<Notification>(`/v1/notifications/${id}/${action}`, { method: 'POST' })
  } catch (error) {
    if (error instanceof ApiError && REFUSALS.includes(error.status)) return error
    throw error
  }
}
