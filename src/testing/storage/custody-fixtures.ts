import assert from 'node:assert/strict'
import type { Fact } from '../../core/notification/facts.ts'
import type { NewNotification, NotificationContent } from '../../core/notification/notification.ts'
import type { EraseAnswer, ErasedStep, StoredReport } from '../../core/ports/storage/custody.ts'
import type { NotificationFilter } from '../../core/ports/storage/notifications.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { claimOne, note, page, start, unique } from './fixtures.ts'

/** In every field that may name a person. */
export const MARKER = 'marker4711'
export const COPY: string = `copy-${MARKER}@example.com`
export const NOTHING: ErasedStep = { erased: [], busy: [], left: [] }
export const MINUTE = 60_000

/** Every text of a notification names the person, but for those that stay. */
export function marked(change: Partial<NewNotification> = {}): NewNotification {
  return note({
    to: `${MARKER}-${unique()}@example.com`,
    recipient: MARKER,
    metadata: { [`name_${MARKER}`]: `value ${MARKER}` },
    category: 'news',
    groupId: 'group_1',
    trace: `00-trace-${MARKER}`,
    copies: [COPY],
    content: {
      subject: `Subject ${MARKER}`,
      body: `Body ${MARKER}`,
      locale: 'de',
      parts: {
        cc: [COPY],
        attachments: [{ filename: `${MARKER}.txt`, contentType: MARKER, content: MARKER }],
      },
    },
    ...change,
  })
}

/** Every text of it names the person. */
export function markedFact(type: Fact['type'], change: Partial<Fact> = {}): Fact {
  const texts = {
    providerMessageId: `m-${MARKER}-${unique()}`,
    message: `Text ${MARKER}`,
    providerCode: MARKER,
  }
  return { type, attempt: 1, provider: 'smtp', durationMs: 5, segments: 2, ...texts, ...change }
}

/** A hook whose endpoint answers with what it got. */
export async function postOne(storage: Storage, hook: WebhookEndpoint): Promise<void> {
  const { jobId, token } = await claimOne(storage, hook.id)
  await start(storage, [{ jobId, token }], hook.id)
  const attempt = { attempt: 1, status: 500, response: `Got ${MARKER}`, durationMs: 1, succeeded: false }
  const next = { kind: 'retry', delayMs: 0 } as const
  await storage.settle([{ kind: 'event', jobId, token, attempt, next }])
}

export const erase = (
  storage: Storage,
  ids: readonly string[],
  organizationId: string = DEFAULT_ORGANIZATION,
): Promise<EraseAnswer> => storage.custody.erase({ organizationId, ids })

/** Repeats the call until nothing is left. */
export async function eraseAll(storage: Storage, ids: readonly string[]): Promise<Omit<EraseAnswer, 'left'>> {
  let answer = await erase(storage, ids)
  const events = [...answer.events]
  const sum = { erased: [...answer.erased], cancelled: answer.cancelled, deliveries: answer.deliveries }
  while (answer.left.length > 0) {
    assert.ok(answer.erased.length + answer.busy.length > 0, 'the call does not go on')
    answer = await erase(storage, answer.left)
    events.push(...answer.events)
    sum.erased.push(...answer.erased)
    sum.cancelled += answer.cancelled
    sum.deliveries += answer.deliveries
  }
  return { ...sum, events, busy: answer.busy }
}

/** Everything that the storage tells of notifications. */
export async function told(
  storage: Storage,
  ids: readonly string[],
  hooks: readonly WebhookEndpoint[] = [],
): Promise<string> {
  const deliveries = hooks.map(({ id }) => storage.webhookEndpoints.deliveries({ endpointId: id }, page()))
  return JSON.stringify([
    await Promise.all(ids.map((id) => storage.notifications.get(id))),
    await Promise.all(ids.map((id) => storage.notifications.timeline(id))),
    await storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, page()),
    await Promise.all(deliveries),
  ])
}

export const names = (text: string): boolean => text.includes(MARKER)

export async function idsOf(storage: Storage, filter: Partial<NotificationFilter>): Promise<string[]> {
  const { items } = await storage.notifications.list(
    { organizationId: DEFAULT_ORGANIZATION, ...filter },
    page(),
  )
  return items.map(({ id }) => id)
}

export async function messageOf(
  storage: Storage,
  organizationId: string = DEFAULT_ORGANIZATION,
): Promise<string> {
  const id = unique()
  const message = {
    id: `msg_${id}`,
    organizationId,
    channel: 'sms',
    provider: 'twilio',
    consent: null,
  } as const
  const received = { ...message, from: `+49 ${MARKER}`, to: null, text: `Text ${MARKER}` }
  const [answer] = await storage.recordReceipts([
    { provider: 'twilio', organizationId, dedupeKey: `in-${id}`, consent: [], received },
  ])
  assert.equal(answer?.kind, 'applied')
  return `evt_msg_${id}`
}

export async function reportUnknown(storage: Storage, organizationId: string | null): Promise<string> {
  const fact = markedFact('bounced', { address: `${MARKER}@example.com` })
  const report = { provider: 'smtp', organizationId, dedupeKey: `un-${unique()}`, fact }
  assert.deepEqual(await storage.recordReceipts([report]), [{ kind: 'unmatched' }])
  return JSON.stringify(fact)
}

export async function allReports(
  storage: Storage,
  organizationId: string,
  most: number,
): Promise<StoredReport[]> {
  const items: StoredReport[] = []
  for (let after: string | undefined, steps = 0; ; steps += 1) {
    assert.ok(steps < 50, 'the reports do not end')
    const found = await storage.custody.reports({ organizationId, most, after })
    assert.ok(found.items.length <= most)
    items.push(...found.items)
    if (found.next === null) return items
    after = found.next
  }
}

export const withoutCopies = (_: string, content: NotificationContent): NotificationContent => ({
  ...content,
  parts: { ...Object(content.parts), cc: [] },
})
