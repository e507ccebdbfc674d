import type { OrganizationRepository, PurgeAnswer } from '../ports/storage/organizations.ts'
import { removeDelivery } from './facts.ts'
import { removeJob } from './jobs.ts'
import { isOver, keepOthers, removeNotification } from './retention.ts'
import { type Job, keyOf, type MemoryState, type StoredDelivery, type StoredNotification } from './state.ts'

/** Maximum count of jobs. */
const MOST_COUNTED = 1_000

export function memoryDeletions(state: MemoryState): Pick<OrganizationRepository, 'beginDeletion' | 'purge'> {
  return {
    async beginDeletion(id, force) {
      return beginDeletion(state, id, force)
    },
    async purge(id, most) {
      return purge(state, id, most)
    },
  }
}

function beginDeletion(state: MemoryState, id: string, force: boolean): number | null {
  const stored = state.organizations.get(id)
  if (stored === undefined) return null
  const waiting = force || stored.deleting ? 0 : jobsOf(state, id).length
  if (waiting > 0) return Math.min(waiting, MOST_COUNTED)
  state.organizations.set(id, { ...stored, deleting: true, force: force || stored.force === true })
  const keys = new Set(idsOf(state.apiKeys, (key) => key.organizationId === id))
  for (const key of keys) state.apiKeys.delete(key)
  for (const [hash, key] of state.apiKeyHashes) if (keys.has(key)) state.apiKeyHashes.delete(hash)
  return 0
}

function purge(state: MemoryState, id: string, most: number): PurgeAnswer {
  const stored = state.organizations.get(id)
  if (stored?.deleting === undefined) return { notifications: 0, left: 'nothing' }
  const force = stored.force === true
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
  for (const template of idsOf(state.templates, ({ versions }) => versions[0]?.organizationId === id)) {
    state.templates.delete(template)
  }
  const prefix = keyOf(id, '')
  for (const map of [state.templateNames, state.usage, state.suppressions]) {
    for (const key of idsOf<unknown>(map, (_, name) => name.startsWith(prefix))) map.delete(key)
  }
  for (const endpoint of idsOf(state.endpoints, ({ organizationId }) => organizationId === id)) {
    state.endpoints.delete(endpoint)
  }
  for (const key of state.unmatched.keys()) {
    keepOthers(state.unmatched, key, ({ record }) => record.organizationId === id)
  }
  state.organizations.delete(id)
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
