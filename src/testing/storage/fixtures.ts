import assert from 'node:assert/strict'
import { NO_TRACKING } from '../../core/links/tracking.ts'
import type { Fact } from '../../core/notification/facts.ts'
import type { Labels } from '../../core/notification/labels.ts'
import type { NewNotification } from '../../core/notification/notification.ts'
import type { ClaimedJob, LeaseRef } from '../../core/ports/storage/claim.ts'
import type { JobCount, JobsOf } from '../../core/ports/storage/job-counts.ts'
import type { PageRequest } from '../../core/ports/storage/page.ts'
import type { Settlement } from '../../core/ports/storage/settle.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import type { NewWebhookEndpoint, WebhookEndpoint } from '../../core/ports/storage/webhook-endpoints.ts'
import {
  DEFAULT_ORGANIZATION,
  type OrganizationValue,
  organizationKind,
} from '../../core/tenancy/organization.ts'

export const LANE = 'email/smtp'
export const LEASE_MS = 60_000
export const TEN: readonly number[] = Array.from({ length: 10 }, (_, index) => index)

/** Of a notification that was stored without any. */
export const NO_LABELS: Labels = { metadata: null, recipient: null, category: null, groupId: null }

let count = 0

/** A new number for every call. */
export function unique(): string {
  count += 1
  return String(count)
}

/** Later ids sort before earlier ones, because no order may depend on ids. */
export function note(change: Partial<NewNotification> = {}): NewNotification {
  const digits = String(Number.MAX_SAFE_INTEGER - Number(unique())).padStart(34, '0')
  return {
    id: `notif_${digits}`,
    channel: 'email',
    to: 'ada@example.com',
    content: { subject: 'Hello', body: 'Hello, Ada' },
    lane: LANE,
    priority: 'normal',
    sendAt: null,
    expiresAt: null,
    ...change,
  }
}

/** Equal notifications with different ids. */
export function notes(length: number, change: Partial<NewNotification> = {}): NewNotification[] {
  return Array.from({ length }, () => note(change))
}

/** Accepts notifications; returns their ids. */
export async function accept(
  storage: Storage,
  notifications: readonly NewNotification[],
  organizationId: string = DEFAULT_ORGANIZATION,
): Promise<string[]> {
  const [answer] = await storage.accept([{ organizationId, notifications }])
  assert.equal(answer?.kind, 'accepted')
  return notifications.map(({ id }) => id)
}

/** The job of a notification. Undefined: it has none. */
export async function jobOf(storage: Storage, notificationId: string): Promise<JobCount | undefined> {
  const { counts } = await storage.countJobs({ notificationId }, 1)
  assert.ok(counts.length <= 1, 'one notification has several jobs')
  return counts[0]
}

/** Jobs by state. */
export interface JobTotals {
  due: number
  scheduled: number
  retrying: number
  running: number
  /** Since when the oldest due one waits, in milliseconds. Null: none is due. */
  oldestDueMs: number | null
}

/** The jobs of each lane; those of endpoints are under `events`. */
export async function totalsByLane(
  storage: Storage,
  most: number,
  of: JobsOf = 'all',
): Promise<Record<string, JobTotals>> {
  const { counts, now } = await storage.countJobs(of, most)
  const lanes: Record<string, JobTotals> = {}
  for (const { lane, state, jobs, dueAt } of counts) {
    assert.ok(jobs > 0, 'a count is 0')
    lanes[lane ?? 'events'] ??= { due: 0, scheduled: 0, retrying: 0, running: 0, oldestDueMs: null }
    const totals = lanes[lane ?? 'events'] as JobTotals
    totals[state] += jobs
    if (state === 'due') totals.oldestDueMs = Math.max(totals.oldestDueMs ?? 0, now - dueAt)
  }
  return lanes
}

/** Creates an organization; returns its id. */
export async function organization(storage: Storage, id = `org_${unique()}`): Promise<string> {
  const value: OrganizationValue = {
    name: id,
    plan: null,
    smsCountries: null,
    senders: null,
    retention: null,
    tracking: NO_TRACKING,
    deleting: null,
  }
  const [answer] = await storage.records.write([
    [{ kind: organizationKind, do: 'insert', id, organizationId: null, value }],
  ])
  assert.equal(answer?.kind, 'written')
  return id
}

/** The storage's time. */
export async function timeOf(storage: Storage): Promise<number> {
  const [record] = await storage.records.get(organizationKind, [{ id: DEFAULT_ORGANIZATION }])
  assert.ok(record)
  return record.readAt
}

export async function endpoint(
  storage: Storage,
  change: Partial<NewWebhookEndpoint> = {},
): Promise<WebhookEndpoint> {
  const created = await storage.webhookEndpoints.create(newEndpoint(change), 100)
  assert.ok(created !== null)
  return created
}

export function newEndpoint(change: Partial<NewWebhookEndpoint> = {}): NewWebhookEndpoint {
  return {
    id: `wh_${unique()}`,
    organizationId: DEFAULT_ORGANIZATION,
    url: 'https://example.com/hook',
    events: ['notification.sent', 'notification.delivered', 'notification.failed'],
    successStatus: '200',
    secrets: ['encrypted'],
    ...change,
  }
}

export async function claim(
  storage: Storage,
  free = 100,
  lane: string = LANE,
): Promise<readonly ClaimedJob[]> {
  return (await storage.claim({ lanes: [{ lane, free }], leaseMs: LEASE_MS })).jobs
}

/** Claims exactly one job of a lane. */
export async function claimOne(storage: Storage, lane: string = LANE): Promise<ClaimedJob> {
  const [job] = await claim(storage, 1, lane)
  assert.ok(job !== undefined, `a job of ${lane} was expected`)
  return job
}

export function start(storage: Storage, jobs: readonly LeaseRef[], provider = 'smtp'): Promise<boolean[]> {
  return storage.startAttempts(jobs.map(({ jobId, token }) => ({ jobId, token, provider })))
}

export function sent(change: Partial<Fact> = {}): Fact {
  return { type: 'sent', attempt: 1, provider: 'smtp', ...change }
}

/** Ends a notification's job with these facts. */
export function ended({ jobId, token }: LeaseRef, facts: readonly Fact[] = [sent()]): Settlement {
  return { kind: 'notification', jobId, token, facts, next: { kind: 'end' } }
}

/**
 * Ends a delivery to an endpoint with 410 and enables the endpoint again; returns the number of the event about it.
 */
export async function goneAndBack(
  storage: Storage,
  { id, organizationId }: WebhookEndpoint,
): Promise<number | undefined> {
  await accept(storage, [note()], organizationId)
  await deliver(storage)
  const { jobId, token } = await claimOne(storage, id)
  const gone = { ended: 'failed', disable: 'gone', next: { kind: 'end' } } as const
  const [answer] = await storage.settle([{ kind: 'event', jobId, token, ...gone }])
  assert.ok(answer?.kind === 'settled')
  await storage.webhookEndpoints.update(id, { status: 'active' })
  return answer.endpointEvents?.[0]?.data.sequence
}

/** @param outage whether the attempt failed because of the provider */
export function retried({ jobId, token }: LeaseRef, delayMs: number, outage?: true): Settlement {
  const facts: Fact[] = [{ type: 'attempt_failed', attempt: 1, provider: 'smtp', code: 'provider_error' }]
  return { kind: 'notification', jobId, token, facts, next: { kind: 'retry', delayMs, outage } }
}

/** Returns a job without asking a provider. */
export function returned({ jobId, token }: LeaseRef, delayMs: number): Settlement {
  return { kind: 'notification', jobId, token, facts: [], next: { kind: 'retry', delayMs, notSent: true } }
}

/** Takes one notification through a whole delivery. */
export async function deliver(storage: Storage, facts: readonly Fact[] = [sent()]): Promise<void> {
  const job = await claimOne(storage)
  assert.deepEqual(await start(storage, [job]), [true])
  const [answer] = await storage.settle([ended(job, facts)])
  assert.equal(answer?.kind, 'settled')
}

export function idOf(job: ClaimedJob | undefined): string | undefined {
  return job?.kind === 'notification' ? job.notification.id : job?.delivery.eventId
}

export function page(change: Partial<PageRequest> = {}): PageRequest {
  return { limit: 100, offset: 0, ...change }
}

/** Number of matching answers of a race. */
export function countOf<Answer>(answers: readonly Answer[], test: (answer: Answer) => boolean): number {
  return answers.filter(test).length
}

/** Reads all pages of a list, with an action between them. */
export async function readAll<Item>(
  list: (
    request: PageRequest,
  ) => Promise<{ readonly items: readonly Item[]; readonly nextCursor: string | null }>,
  limit: number,
  between: () => Promise<void> = async () => {},
): Promise<Item[]> {
  const items: Item[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 200; pages += 1) {
    const found = await list(page({ limit, ...(cursor === undefined ? {} : { cursor }) }))
    assert.ok(found.items.length <= limit)
    items.push(...found.items)
    if (found.nextCursor === null) return items
    assert.match(found.nextCursor, /^[\w.~-]+$/)
    cursor = found.nextCursor
    await between()
  }
  assert.fail('the list does not end')
}
