import { NotifierError, type WebhookEventType } from 'carillon'
import * as kit from 'carillon/storage-kit'
import { find, follow, requireOpen, writeSet } from './records.ts'
import { type DeliveryRow, type Job, keyOf, type NewJob, type NotificationRow, type State } from './state.ts'

type Facts = readonly kit.Fact[]

/** @throws NotifierError if nothing of the request can be stored */
export function accept(state: State, request: kit.AcceptRequest<kit.RecordWrite>): kit.AcceptAnswer {
  const { organizationId, notifications, idempotency, quota } = request
  const createdAt = state.now()
  const record = idempotency && findIdempotent(state, { ...idempotency, organizationId })
  if (record) return { kind: 'replayed', record }

  const period = keyOf(organizationId, quota?.period)
  const used = state.usage.get(period) ?? 0
  const left = quota === undefined ? Infinity : Math.max(0, quota.limit - used)
  const admitted = kit.admittedOf(request, left)
  const stored = notifications.slice(0, admitted)
  // Checks first: then everything is stored, or nothing.
  requireOpen(state, organizationId)
  const ids = new Set(stored.map(({ id }) => id))
  if (ids.size < admitted || stored.some(({ id }) => state.notifications.has(id))) {
    throw new NotifierError('already_exists')
  }
  const named = stored.flatMap(({ uploads = [] }) => uploads)
  const isOwn = (id: string) => find(state, kit.uploadKind, { id })?.organization === organizationId
  if (!named.every(isOwn)) throw kit.uploadGone()
  if (request.records !== undefined && admitted === notifications.length) {
    const written = writeSet(state, request.records)
    if ('at' in written) return { kind: 'refused', write: written }
  }
  for (const notification of stored) store(state, organizationId, notification)
  if (quota !== undefined) state.usage.set(period, used + kit.countedOf(notifications, admitted))
  if (idempotency !== undefined && (admitted > 0 || notifications.length === 0)) {
    const { operation, key, fingerprint, result, ttlMs } = idempotency
    const record = { fingerprint, result, admitted, createdAt }
    state.idempotency.set(keyOf(organizationId, operation, key), { record, expiresAt: createdAt + ttlMs })
  }
  return { kind: 'accepted', admitted, createdAt }
}

/** The unexpired record. */
export function findIdempotent(state: State, name: kit.IdempotencyKey): kit.IdempotencyRecord | null {
  const stored = state.idempotency.get(keyOf(name.organizationId, name.operation, name.key))
  const { expiresAt = 0, record = null } = stored ?? {}
  return expiresAt > state.now() ? record : null
}

function store(state: State, organization: string, notification: kit.NewNotification): void {
  const { id, channel, to, lane, priority, sendAt, expiresAt, resendOf, trace, content } = notification
  const [created_at, high] = [state.now(), priority === 'high']
  const subject: NotificationRow = {
    ...{ seq: state.next(), id, organization, channel, recipient: to, ...kit.storedContent(content), high },
    ...{ created_at, send_at: sendAt, expires_at: expiresAt, resend_of: resendOf ?? null },
    ...{ uploads: notification.uploads ?? [], copies: notification.copies ?? [], trace: trace ?? null },
    ...{ template_id: content.template?.id ?? null, template: content.template?.name ?? null },
    ...{ status: null, sequence: 1, published: 0, fold: null },
    ...{ provider: null, provider_message_id: null, error: null, ...kit.labelColumns(notification) },
  }
  state.notifications.set(id, subject)
  const planned = Math.max(created_at, sendAt ?? 0)
  const dueAt = Math.max(planned, notification.dueAt ?? 0)
  const delayedFor = dueAt > planned ? (notification.delayedFor ?? null) : null
  createJob(state, { jobId: id, lane, organizationId: organization, high, subject, dueAt, delayedFor })
}

/**
 * Adds facts to a notification, then those of receipts. Returns the published events.
 *
 * @throws RangeError if a record that follows cannot be stored; then nothing is changed
 */
export function addFacts(state: State, row: NotificationRow, facts: Facts, receipts: Facts = []) {
  const { id, channel, recipient: to, organization: organizationId } = row
  const about = { id, organizationId, channel, to, ...kit.toLabels(row) }
  const at = state.now()
  const own = kit.recordFacts(kit.toFactState(row, row), facts, 'engine', to)
  const events = [...own.events]
  const following = [...state.follow(about, facts)]
  let after = own.state
  for (const fact of receipts) {
    const known = kit.reportedTo(fact, to, () => row.copies)
    const late = kit.recordFacts(after, [fact], 'receipt', known)
    events.push(...late.events)
    following.push(...state.follow({ ...about, to: known }, [fact]))
    after = late.state
  }
  follow(state, following)
  Object.assign(row, kit.factColumns(after))
  return events.flatMap(({ fact, sequence, status, eventType }) => {
    const stored = { sequence, status, at, fact: JSON.stringify(fact) }
    state.events.push({ seq: state.next(), notification: row, ...stored })
    if (eventType === null) return []
    const event = kit.eventPayload(about, { fact, sequence, status, eventType }, at)
    publish(state, event, kit.eventId(id, sequence), row)
    return [event]
  })
}

/** Stores a delivery for each endpoint that chose the event: its organization's, and operators'; not the one it is about. */
export function publish(
  state: State,
  event: {
    readonly event: WebhookEventType
    readonly data: Readonly<Record<'id' | 'organizationId', string>>
  },
  eventId: string,
  notification: NotificationRow | null,
): void {
  const { id, organizationId: organization } = event.data
  for (const { id: endpoint, ...row } of state.endpoints.values()) {
    const isTold = [organization, kit.ALL_ORGANIZATIONS].includes(row.organization) && endpoint !== id
    if (!isTold || !JSON.parse(row.events).includes(event.event)) continue
    const about = { eventId, eventType: event.event, payload: JSON.stringify(event), attempts: [] }
    const shown = { ...about, createdAt: state.now(), state: 'held' as const }
    const delivery = { seq: state.next(), organization, endpoint, notification, shown }
    state.deliveries.push(delivery)
    if (row.status === 'active') makePending(state, delivery)
  }
}

/** Makes a delivery due now, unless it is under way. */
export function makePending(state: State, subject: DeliveryRow): void {
  const { organization: organizationId, endpoint: lane, shown } = subject
  const [jobId, dueAt] = [String(subject.seq), state.now()]
  const job = state.jobs.get(jobId)
  if (job === undefined) {
    shown.state = 'pending'
    createJob(state, { jobId, lane, organizationId, high: false, subject, dueAt })
  } else if (job.leaseUntil === null && job.dueAt > dueAt) makeDue(state, job, dueAt)
}

/** @param attempts those before a retry */
export function createJob(state: State, job: NewJob, attempts = 0): void {
  const counts = { attempts, earlierAttempts: attempts, outages: 0, recovered: false, token: 0 }
  const created = { ...job, ...counts, leaseUntil: null, provider: null, delayedFor: null }
  state.jobs.set(job.jobId, created)
  makeDue(state, created, job.dueAt, job.delayedFor)
}

/** Ends a lease, if there is one. */
export function makeDue(state: State, job: Job, dueAt: number, delayedFor: Job['delayedFor'] = null): void {
  Object.assign(job, { dueAt, leaseUntil: null, provider: null, delayedFor })
  state.enqueue([{ jobId: job.jobId, lane: job.lane, dueInMs: Math.max(0, dueAt - state.now()) }])
}

/** Disables an endpoint and holds its jobs; leased ones when they come back. */
export function disable(state: State, row: kit.EndpointRow, reason: 'gone' | 'failing' | 'manual'): void {
  Object.assign(row, { status: 'disabled', disabled_reason: reason })
  for (const job of state.jobs.values()) if (job.lane === row.id && job.leaseUntil === null) hold(state, job)
}

/** Keeps a delivery without a job. */
export function hold(state: State, { jobId, subject }: Job): void {
  if ('shown' in subject) subject.shown.state = 'held'
  state.jobs.delete(jobId)
}
