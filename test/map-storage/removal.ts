import * as kit from 'carillon/storage-kit'
import { find, follow, removeRecords } from './records.ts'
import {
  type DeliveryRow,
  type EventRow,
  keyOf,
  type NotificationRow,
  type State,
  stepOf,
  where,
} from './state.ts'
import { removeDeliveries } from './webhook-endpoints.ts'

const MOST_COUNTED = 1_000
const isPending = ({ shown }: DeliveryRow): boolean => shown.state === 'pending'
/** A listener that no process has may still wait for its events. */
const keeps = (row: DeliveryRow): boolean => isPending(row) && !kit.isListener(row.endpoint)

/** True: without a job, a delivery that keeps it, and an event since then. */
function isOver(state: State, row: NotificationRow, latest: number, isKept: typeof keeps): boolean {
  const newest = where(state.events, { notification: row }).at(-1)?.at ?? row.created_at
  const isWaited = where(state.deliveries, { notification: row }).some(isKept)
  return !state.jobs.has(row.id) && newest <= latest && !isWaited
}

/** Returns the number of removed deliveries. */
function removeNotification(state: State, row: NotificationRow): number {
  const deliveries = where(state.deliveries, { notification: row })
  removeDeliveries(state, deliveries)
  state.jobs.delete(row.id)
  state.notifications.delete(row.id)
  state.events = state.events.filter(({ notification }) => notification !== row)
  return deliveries.length
}

export function expire(state: State, { what, ...request }: kit.ExpireRequest): kit.ExpireAnswer {
  const { most } = request
  const now = state.now()
  if (what.contentsOlderThanMs !== undefined) return expireContents(state, what, request)
  if (what.organizationId !== undefined) {
    const [organization, latest] = [what.organizationId, now - what.olderThanMs]
    const rows = where(state.notifications.values(), { organization })
    const old = rows.filter(({ created_at }) => created_at <= latest)
    const { step, next } = stepOf(old, request)
    const over = step.filter((row) => isOver(state, row, latest, keeps))
    const ofEndpoints = where(state.deliveries, { organization, notification: null })
    const oldOnes = ofEndpoints.filter((row) => row.shown.createdAt <= latest && !keeps(row))
    if (what.dryRun) {
      const others = request.after === undefined ? oldOnes.length : 0
      const deliveries = state.deliveries.filter(({ notification }) =>
        over.some((row) => row === notification),
      )
      const removed = { notifications: over.length, deliveries: deliveries.length + others }
      return { removed, unmatched: [], next, oldest: over[0]?.created_at }
    }
    removeDeliveries(state, oldOnes)
    const deliveries = over.reduce((sum, row) => sum + removeNotification(state, row), oldOnes.length)
    return { removed: { notifications: over.length, deliveries }, unmatched: [], next }
  }
  const keys = [...state.idempotency].filter(([, { expiresAt }]) => expiresAt <= now).slice(0, most)
  const isOld = (at: number, ageMs: number | null) => ageMs !== null && at <= now - ageMs
  const receipts = [...state.receipts].filter(([, { at, unmatched }]) =>
    isOld(at, unmatched === null ? what.receiptsOlderThanMs : what.unmatchedOlderThanMs),
  )
  const matched = receipts.filter(([, { unmatched }]) => unmatched === null).slice(0, most)
  const unmatched = receipts.filter((receipt) => receipt[1].unmatched !== null).slice(0, most)
  for (const [key] of keys) state.idempotency.delete(key)
  for (const [key] of [...matched, ...unmatched]) state.receipts.delete(key)
  const expired = unmatched.flatMap(([, { at: receivedAt, unmatched: report }]) => {
    if (report === null) return []
    const { provider, organizationId, fact } = report
    return { provider, organizationId, type: fact.type, receivedAt }
  })
  const next = [keys, matched, unmatched].some(({ length }) => length === most) ? 'more' : null
  return { removed: { idempotency: keys.length, receipts: matched.length }, unmatched: expired, next }
}

function expireContents(
  state: State,
  { organizationId, contentsOlderThanMs, dryRun }: kit.ExpiringContents,
  request: Omit<kit.ExpireRequest, 'what'>,
): kit.ExpireAnswer {
  const now = state.now()
  const latest = now - contentsOlderThanMs
  const old = state.events.filter(
    ({ at, notification }) => notification.organization === organizationId && at <= latest,
  )
  const { step, next } = stepOf(old, request)
  const isNewest = (event: EventRow) =>
    where(state.events, { notification: event.notification }).at(-1) === event
  const looked = dryRun ? step.filter(isNewest) : step
  const rows = [...new Set(looked.map(({ notification }) => notification))].filter(
    (row) => !row.content.startsWith(kit.REMOVED) && isOver(state, row, latest, () => false),
  )
  for (const row of dryRun ? [] : rows) {
    const content = kit.expiredContent(JSON.parse(row.content), now)
    Object.assign(row, kit.storedContent(content), { uploads: [] })
  }
  const last = step.at(-1)
  const reached = last === undefined ? undefined : kit.encodeCursor([last.seq])
  const times = rows.map(({ created_at }) => created_at)
  const oldest = dryRun && times.length > 0 ? Math.min(...times) : undefined
  return { removed: { contents: rows.length }, unmatched: [], next, reached, oldest }
}

export function createDeletions(state: State): kit.DeletionRepository {
  const kind = kit.organizationKind
  const countJobs = (organizationId: string) => where(state.jobs.values(), { organizationId }).length
  return {
    begin: async (id, { force, kinds, also = [] }) => {
      const row = find(state, kind, { id })
      if (row === undefined) return null
      const { value } = kit.toRecord(kind, row, state.now())
      const jobs = force || value.deleting !== null ? 0 : countJobs(id)
      if (jobs > 0) return Math.min(jobs, MOST_COUNTED)
      for (const { name } of kinds)
        removeRecords(state, where(state.records, { kind: name, organization: id }))
      const columns = kit.recordColumns(kind, id, null, kit.beginDeletion(value, force, state.now()))
      const after = { ...row, ...columns, revision: row.revision + 1 }
      state.records = state.records.map((each) => (each === row ? after : each))
      follow(state, also)
      return 0
    },
    purge: async (id, most) => {
      const row = find(state, kind, { id })
      const deleting = row === undefined ? null : kit.toRecord(kind, row, state.now()).value.deleting
      if (row === undefined || deleting === null) return { notifications: 0, left: 'nothing' }
      const all = where(state.notifications.values(), { organization: id })
      const some = all
        .filter((each) => deleting === 'force' || isOver(state, each, Infinity, isPending))
        .slice(0, most)
      for (const each of some) removeNotification(state, each)
      if (some.length > 0) return { notifications: some.length, left: 'more' }
      if (deleting === 'plain' && countJobs(id) > 0) return { notifications: 0, left: 'jobs' }
      removeDeliveries(state, where(state.deliveries, { organization: id }))
      removeRecords(state, [...where(state.records, { organization: id }), row])
      for (const one of where(state.endpoints.values(), { organization: id })) state.endpoints.delete(one.id)
      for (const key of state.usage.keys()) if (key.startsWith(keyOf(id, ''))) state.usage.delete(key)
      for (const [key, { at, unmatched }] of state.receipts)
        if (unmatched?.organizationId === id) state.receipts.set(key, { at, unmatched: null })
      return { notifications: 0, left: 'nothing' }
    },
  }
}
