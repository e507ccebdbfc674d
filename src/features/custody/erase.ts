import { uploadKind } from '../../core/accept/upload.ts'
import type { NotificationEvent } from '../../core/notification/event-payload.ts'
import type { Notification, NotificationContent } from '../../core/notification/notification.ts'
import type { Person } from '../../core/people/personal-records.ts'
import type { ErasedStep } from '../../core/ports/storage/custody.ts'
import type { RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import { REST_MS, removeUpload } from '../attachments/index.ts'
import { type Counted, oneOf } from './counts.ts'
import { namedUploads, storedFiles } from './files.ts'
import { type FindServices, type Found, spellingsOf } from './find.ts'
import type { Task } from './task.ts'

export interface EraseServices extends FindServices {
  emit(event: NotificationEvent): void
  wake(): void
}

/** Erases what was found. Repeating is harmless. Null: it was nothing. */
export async function erase(
  services: EraseServices,
  task: Task,
  organizationId: string,
  person: Person,
  found: Found,
): Promise<Counted | null> {
  const { storage, step } = services
  if (found.of === 'record') return step(() => eraseRecord(services, found))
  if (found.items.length === 0) return null
  if (found.of === 'notifications') return eraseNotifications(services, task, organizationId, found.items)
  if (found.of === 'copies') return eraseCopies(services, organizationId, person, found.items)
  const ids = found.items.map(({ id }) => id)
  return { received: await step(() => storage.custody.removeReports(organizationId, ids)) }
}

async function eraseNotifications(
  services: EraseServices,
  task: Task,
  organizationId: string,
  items: readonly Notification[],
): Promise<Counted> {
  const { storage, emit, wake } = services
  const uploads: string[] = []
  for (const item of items) uploads.push(...namedUploads(await storedFiles(services, item)))
  // First: afterwards nothing names the uploads any more.
  if (uploads.length > 0) await task.save({ uploads: [...new Set(uploads)] })
  const counts = { notifications: 0, cancelled: 0, deliveries: 0 }
  await inSteps(services, items, async (ids) => {
    const answer = await storage.custody.erase({ organizationId, ids })
    counts.notifications += answer.erased.length
    counts.cancelled += answer.cancelled
    counts.deliveries += answer.deliveries
    for (const event of answer.events) emit(event)
    if (answer.events.length > 0) wake()
    return answer
  })
  return { ...counts, uploads: await removeUploads(services, task) }
}

/** Removes the uploads that erased notifications named, unless another one names them. Returns their number. */
export async function removeUploads({ storage, step }: EraseServices, task: Task): Promise<number> {
  const { uploads } = task.record.value
  if (uploads.length === 0) return 0
  let removed = 0
  const refs = uploads.map((id) => ({ id }))
  for (const upload of await step(() => storage.records.get(uploadKind, refs))) {
    if (upload === null) continue
    const answer = await step(() => removeUpload(storage.records, upload, upload.readAt + REST_MS))
    if (answer === 'removed') removed += 1
  }
  await task.save({ uploads: [] })
  return removed
}

async function eraseCopies(
  services: EraseServices,
  organizationId: string,
  { address }: Person,
  items: readonly Notification[],
): Promise<Counted> {
  const { storage, kinds } = services
  const addresses = address === null ? [] : spellingsOf(address)
  const gone = new Set(addresses)

  function without(channel: string, content: NotificationContent): NotificationContent {
    const kind = kinds.of(channel)
    const named = kind.copiesOf?.(content.parts) ?? []
    const those = named.filter((to) => spellingsOf({ kind, to }).some((spelling) => gone.has(spelling)))
    return { ...content, parts: kind.leaveOut?.(content.parts, new Set(those)) ?? content.parts }
  }

  let copies = 0
  await inSteps(services, items, async (ids) => {
    const answer = await storage.custody.eraseCopies({ organizationId, ids, addresses, without })
    copies += answer.erased.length
    return answer
  })
  return { copies }
}

/** A step may leave some for another one. */
async function inSteps(
  { step }: EraseServices,
  items: readonly Notification[],
  work: (ids: readonly string[]) => Promise<ErasedStep>,
): Promise<void> {
  let ids = items.map(({ id }) => id)
  while (ids.length > 0) {
    const { left } = await step(() => work(ids))
    ids = [...left]
  }
}

async function eraseRecord(
  { storage: { records } }: EraseServices,
  { personal: { kind, concerns, erased }, record: found, person }: Extract<Found, { of: 'record' }>,
): Promise<Counted | null> {
  const { id } = found
  for (
    let record: StoredRecord | null = found;
    record !== null;
    [record = null] = await records.get(kind, [{ id }])
  ) {
    const { revision, value } = record
    const isAbout = concerns?.(value, person) ?? true
    const after = isAbout ? erased(value, person) : value
    if (after === value) return null
    // Only what was read is removed.
    const replace: RecordWrite = { kind, do: 'replace', id, revision, value: after ?? value }
    const [answer] = await records.write([after === null ? [replace, { kind, do: 'remove', id }] : [replace]])
    if (answer?.kind === 'failed') throw answer.error
    if (answer?.kind === 'written') return oneOf(kind.name)
    if (answer?.kind === 'no_organization') return null
  }
  return null
}

/** What {@link erase} would count, without uploads that others name. */
export async function countOf(services: FindServices, found: Found): Promise<Counted> {
  if (found.of === 'record') {
    const { personal, record, person } = found
    return personal.erased(record.value, person) === record.value ? {} : oneOf(personal.kind.name)
  }
  const { length } = found.items
  if (found.of === 'reports') return { received: length }
  if (found.of === 'copies') return { copies: length }
  let uploads = 0
  for (const item of found.items) uploads += namedUploads(await storedFiles(services, item)).length
  const waiting = found.items.filter(({ status }) => status === 'queued' || status === 'scheduled')
  return { notifications: length, cancelled: waiting.length, uploads }
}
