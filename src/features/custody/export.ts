import { type UploadValue, uploadKind } from '../../core/accept/upload.ts'
import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { suppressedAddress } from '../../core/channels/recipient.ts'
import { eventId } from '../../core/notification/event-payload.ts'
import type { Fact } from '../../core/notification/facts.ts'
import type { Notification, NotificationContent } from '../../core/notification/notification.ts'
import type { StoredReport } from '../../core/ports/storage/custody.ts'
import type { StoredRecord } from '../../core/ports/storage/records.ts'
import type { LoggedAttempt } from '../../core/ports/storage/webhook-endpoints.ts'
import { chunkIds, uploadChunkKind } from '../attachments/index.ts'
import type { ErasureServices } from './erasing.ts'
import { namedUploads, type StoredFile, storedFiles } from './files.ts'
import { type FindServices, type Found, find, personOf } from './find.ts'
import type { ExportedLine, PersonInput } from './model.ts'

/** Characters of a part of a file. */
const PART = 1024 * 1024
/** Events whose deliveries are read together, and the most of them. */
const EVENTS = 10
const DELIVERIES = 1_000

interface StoredParts {
  readonly bcc?: readonly { readonly address: string }[]
}

type StoredContent = NotificationContent & { readonly linkNonce?: string; readonly parts?: StoredParts }

type ExportServices = ErasureServices & FindServices

type Lines = AsyncGenerator<ExportedLine, void, undefined>

/** What is stored about a person in an organization. */
export async function* exported(
  services: ExportServices,
  organizationId: string,
  person: PersonInput,
): Lines {
  for await (const found of find(services, organizationId, personOf(person, services.kinds)))
    yield* linesOf(services, organizationId, found)
}

async function* linesOf(services: ExportServices, organizationId: string, found: Found): Lines {
  switch (found.of) {
    case 'record': {
      const line = found.personal.exported(found.record, found.person)
      if (line !== null) yield { ...line, organizationId }
      return
    }
    case 'notifications':
      for (const item of found.items) yield* notificationLines(services, item)
      return
    case 'copies':
      for (const item of found.items) yield copyLine(services, item, found.copyTo)
      return
    case 'reports':
      yield* found.items.map((report) => reportLine(organizationId, report))
  }
}

function copyLine({ kinds }: ErasureServices, item: Notification, copyTo: string): ExportedLine {
  const { id, organizationId, channel, to, createdAt } = item
  const about = { id, organizationId, channel, to, content: shownContent(kinds, item, copyTo) }
  return { type: 'copy', ...about, createdAt: iso(createdAt) }
}

function reportLine(organizationId: string, { id, kind, json, at }: StoredReport): ExportedLine {
  const value = JSON.parse(json)
  const said =
    kind === 'message' ? { type: 'received', ...value.data } : { type: 'report', report: shownFact(value) }
  return { ...said, id, organizationId, at: iso(at) }
}

function shownFact({ occurredAt, ...fact }: Fact): object {
  return occurredAt === undefined ? fact : { ...fact, occurredAt: iso(occurredAt) }
}

async function* notificationLines(services: ExportServices, item: Notification): Lines {
  const { storage, notifications, kinds, step } = services
  const { id, organizationId, content } = item
  const record = await step(() => notifications.get(organizationId, id))
  yield {
    type: 'notification',
    ...record,
    content: shownContent(kinds, item, item.to),
    webhookDeliveries: await deliveriesOf(services, organizationId, id, record.timeline),
  }
  if (content.sensitive === true) return
  const files = await storedFiles(services, item)
  for (const [index, file] of files.entries())
    if (file.content !== undefined) yield* attachmentLines(services, id, index, file)
  const uploads = namedUploads(files).map((name) => ({ id: name }))
  if (uploads.length === 0) return
  for (const upload of await step(() => storage.records.get(uploadKind, uploads)))
    if (upload !== null) yield* uploadLines(services, id, upload)
}

/**
 * Texts of a sensitive message are never shown, and blind copies only to their own addressee.
 *
 * @param own the address of the person
 */
function shownContent(
  kinds: Kinds,
  { channel, content }: Pick<Notification, 'channel' | 'content'>,
  own: string,
): unknown {
  if (content.sensitive === true) return null
  const { linkNonce: _, parts, removedAt, ...shown } = content as StoredContent
  return {
    ...shown,
    ...(parts === undefined ? {} : { parts: withoutBlind(kinds.of(channel), parts, own) }),
    ...(removedAt === undefined ? {} : { removedAt: iso(removedAt) }),
  }
}

function withoutBlind(kind: ChannelKind, { bcc = [], ...parts }: StoredParts, own: string): object {
  const canonical = suppressedAddress(kind, own)
  const shown = bcc.filter(({ address }) => suppressedAddress(kind, address) === canonical)
  return shown.length === 0 ? parts : { ...parts, bcc: shown }
}

async function* attachmentLines(
  { step }: ExportServices,
  notificationId: string,
  index: number,
  file: StoredFile,
): Lines {
  const { content = '', ...about } = file
  const parts = Math.max(1, Math.ceil(content.length / PART))
  for (let part = 0; part < parts; part += 1) {
    const piece = await step(async () => content.slice(part * PART, (part + 1) * PART))
    yield { type: 'attachment', notificationId, index, ...about, part: part + 1, parts, content: piece }
  }
}

async function* uploadLines(
  { storage, step }: ExportServices,
  notificationId: string,
  { id, value }: StoredRecord<UploadValue>,
): Lines {
  const { filename, contentType, size } = value
  const chunks = chunkIds(id, size)
  for (const [index, chunk] of chunks.entries()) {
    const [stored = null] = await step(() => storage.records.get(uploadChunkKind, [{ id: chunk }]))
    const about = { notificationId, id, filename, contentType, size, part: index + 1, parts: chunks.length }
    yield { type: 'upload', ...about, content: stored?.value.content ?? null }
  }
}

/** What the log of deliveries to the organization's endpoints has of the person. */
async function deliveriesOf(
  { storage, step }: ExportServices,
  organizationId: string,
  id: string,
  timeline: readonly { readonly sequence: number }[],
): Promise<readonly object[]> {
  const found: object[] = []
  for (let at = 0; at < timeline.length; at += EVENTS) {
    const events = timeline.slice(at, at + EVENTS).map(({ sequence }) => eventId(id, sequence))
    const deliveries = await step(() =>
      storage.webhookEndpoints.deliveriesOf(events, organizationId, DELIVERIES),
    )
    for (const { eventId: event, endpointId, payload, state, createdAt, attempts } of deliveries)
      found.push({
        eventId: event,
        endpointId,
        payload,
        status: state,
        createdAt: iso(createdAt),
        attempts: attempts.map(shownAttempt),
      })
  }
  return found
}

/** The request says nothing of the person that the event does not. */
function shownAttempt({ at, request: _, ...attempt }: LoggedAttempt): object {
  return { ...attempt, timestamp: iso(at) }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
