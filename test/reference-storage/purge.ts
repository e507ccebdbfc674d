import type {
  BeginDeletion,
  DeletionRepository,
  PurgeAnswer,
} from '../../src/core/ports/storage/deletions.ts'
import { organizationKind } from '../../src/core/tenancy/organization.ts'
import { isOver, keepOthers, removeNotification } from './expire.ts'
import { removeDelivery } from './facts.ts'
import { removeJob } from './jobs.ts'
import { markDeleting, organizationOf, removeRecords } from './records.ts'
import { type Job, keyOf, type MemoryState, type StoredDelivery, type StoredNotification } from './state.ts'

/** Maximum count of jobs. */
const MOST_COUNTED = 1_000

export function memoryDeletions(state: MemoryState): DeletionRepository {
  return {
    async begin(id, deletion) {
      return begin(state, id, deletion)
    },
    async purge(id, most) {
      return purge(state, id, most)
    },
  }
}

function begin(state: MemoryState, id: string, { force, kinds }: BeginDeletion): number | null {
  const organization = organizationOf(state, id)
  if (organization === undefined) return null
  const waiting = force || organization.deleting !== null ? 0 : jobsOf(state, id).length
  if (waiting > 0) return Math.min(waiting, MOST_COUNTED)
  for (const { name } of kinds) removeRecords(state, name, id)
  markDeleting(state, id, force)
  return 0
}

function purge(state: MemoryState, id: string, most: number): PurgeAnswer {
  const deleting = organizationOf(state, id)?.deleting ?? null
  if (deleting === null) return { notifications: 0, left: 'nothing' }
  const force = deleting === 'force'
  const gone = someOf(state, id, most, force)
  removeEventJobs(
    state,
    gone.flatMap((row) => deliveriesOf(state, id, row.id)),
  )
  for (const row of gone) {
    if (row.job !== undefined) removeJob(state, row.job)
    removeNotification(state, row)
  }
  if (gone.length > 0) return { notifications: gone.length, left: 'more' }
  if (!force && jobsOf(state, id).length > 0) return { notifications: 0, left: 'jobs' }
  removeRest(state, id)
  return { notifications: 0, left: 'nothing' }
}

function someOf(state: MemoryState, id: string, most: number, force: boolean): StoredNotification[] {
  const some: StoredNotification[] = []
  for (const row of state.notificationsOf.get(id) ?? []) {
    if (some.length === most) break
    if (force || isOver(state, row, Infinity)) some.push(row)
  }
  return some
}

function deliveriesOf(state: MemoryState, id: string, notification: string | null): StoredDelivery[] {
  return [...(state.deliveriesOf.get(keyOf(id, notification)) ?? [])]
}

function removeEventJobs(state: MemoryState, deliveries: readonly StoredDelivery[]): void {
  const pending = new Set(deliveries.filter((delivery) => delivery.state === 'pending'))
  if (pending.size === 0) return
  for (const job of state.jobs.values()) {
    if (job.subject.kind === 'event' && pending.has(job.subject.delivery)) removeJob(state, job)
  }
}

/** Removes data without a notification. */
function removeRest(state: MemoryState, id: string): void {
  const ofEndpoints = deliveriesOf(state, id, null)
  removeEventJobs(state, ofEndpoints)
  for (const delivery of ofEndpoints) removeDelivery(state, delivery)
  for (const kind of state.records.keys()) removeRecords(state, kind, id)
  const prefix = keyOf(id, '')
  for (const key of idsOf(state.usage, (_, name) => name.startsWith(prefix))) state.usage.delete(key)
  for (const endpoint of idsOf(state.endpoints, ({ organizationId }) => organizationId === id)) {
    state.endpoints.delete(endpoint)
  }
  for (const key of state.unmatched.keys()) {
    keepOthers(state.unmatched, key, ({ record }) => record.organizationId === id)
  }
  state.records.get(organizationKind.name)?.delete(id)
}

function idsOf<Value>(
  map: ReadonlyMap<string, Value>,
  isOwn: (value: Value, key: string) => boolean,
): string[] {
  return [...map].flatMap(([key, value]) => (isOwn(value, key) ? [key] : []))
}

function jobsOf(state: MemoryState, id: string): Job[] {
  return [...state.jobs.values()].filter(({ organizationId }) => organizationId === id)
}
