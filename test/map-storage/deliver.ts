import * as kit from 'carillon/storage-kit'
import { addFacts, disable, hold, makeDue, publish } from './accept.ts'
import { follow } from './records.ts'
import {
  type DeliveryRow,
  groupBy,
  type Job,
  keyOf,
  type NotificationRow,
  type State,
  where,
} from './state.ts'
import { setHealth } from './webhook-endpoints.ts'

type Settled<Kind> = Extract<kit.Settlement, { readonly kind: Kind }>

const MAX_LANES = 1_000
/** Of an attempt that its claim began. */
const NO_PROVIDER = ''

export function claim(state: State, request: kit.ClaimRequest): kit.ClaimAnswer {
  takeBackExpired(state)
  state.token += 1
  const beginning = kit.beginningLanes(request)
  const jobs = choose(state, request).flatMap((job) => {
    Object.assign(job, { token: state.token, leaseUntil: state.now() + request.leaseMs })
    const claimed = claimedJob(state, job)
    if (claimed === null) hold(state, job)
    if (claimed === null || !beginning.has(job.lane)) return claimed ?? []
    begin(job, NO_PROVIDER)
    return { ...claimed, begun: true as const }
  })
  return { jobs, ...dueLanes(state) }
}

function begin(job: Job, provider: string): void {
  Object.assign(job, { provider, attempts: job.attempts + 1 })
}

/** The jobs that may be claimed; those that run alone apart. */
function dueJobs(state: State) {
  const now = state.now()
  const jobs = where(state.jobs.values(), { leaseUntil: null }).filter(({ dueAt }) => dueAt <= now)
  return { due: where(jobs, { recovered: false }), recovered: where(jobs, { recovered: true }) }
}

function choose(state: State, request: kit.ClaimRequest): Job[] {
  const { due, recovered } = dueJobs(state)
  if ('ids' in request) return due.filter(({ jobId }) => request.ids.includes(jobId))
  if ('recovered' in request)
    return recovered.filter(({ lane }) => request.recovered.includes(lane)).slice(0, 1)
  const ofLanes = groupBy(due, ({ lane }) => lane)
  return request.lanes.flatMap((demand) =>
    kit.pickFairly(demand, kit.readyJobs(ofLanes.get(demand.lane) ?? []), state.turns),
  )
}

/** Null: the endpoint takes no deliveries any more. */
function claimedJob(state: State, job: Job): kit.ClaimedJob | null {
  const { subject, dueAt, delayedFor, high, leaseUntil, provider, ...common } = job
  const now = state.now()
  const about = { ...common, waitedMs: Math.max(0, now - dueAt) }
  if (!('shown' in subject))
    return { ...about, kind: 'notification', notification: kit.toClaimedNotification(subject, now) }
  const row = state.endpoints.get(job.lane)
  if (row?.status !== 'active') return null
  const { eventId, eventType, payload } = subject.shown
  const [endpoint, trace] = [kit.toEndpoint(row, now), subject.notification?.trace ?? null]
  return { ...about, kind: 'event', delivery: { eventId, eventType, payload, endpoint, trace } }
}

function dueLanes(state: State): Omit<kit.ClaimAnswer, 'jobs'> {
  const now = state.now()
  const { due, recovered } = dueJobs(state)
  const lanes = [...new Set(due.map(({ lane }) => lane))].sort()
  // If not all fit, each claim shows the next ones.
  const first = (state.token * MAX_LANES) % lanes.length
  const shown = [...lanes.slice(first), ...lanes].slice(0, Math.min(lanes.length, MAX_LANES))
  const recoveredLanes = [...new Set(recovered.map(({ lane }) => lane))]
  let next = Infinity
  for (const { leaseUntil, dueAt } of state.jobs.values()) {
    const time = leaseUntil ?? dueAt
    if (time > now) next = Math.min(next, time)
  }
  return { lanes: shown, recoveredLanes, nextDueInMs: next === Infinity ? null : next - now }
}

function takeBackExpired(state: State): void {
  const now = state.now()
  for (const job of state.jobs.values()) {
    const { attempts, provider, subject, leaseUntil: until } = job
    if (until === null || (until > now && until <= now + kit.LONGEST_LEASE_MS)) continue
    job.recovered ||= provider !== null
    if (provider !== null && 'shown' in subject) logAttempt(state, subject, kit.lostPost(attempts))
    if (provider !== null && !('shown' in subject))
      addFacts(state, subject, [kit.lostAttempt(attempts, provider)])
    makeDue(state, job, now)
  }
}

function logAttempt(state: State, { shown }: DeliveryRow, attempt: kit.DeliveryAttempt): void {
  shown.attempts = [...shown.attempts, { ...attempt, at: state.now() }]
}

/** Undefined: the lease was lost. */
function leasedJob(state: State, { jobId, token }: kit.LeaseRef): Job | undefined {
  const job = state.jobs.get(jobId)
  return job?.token === token && job.leaseUntil !== null ? job : undefined
}

export function startAttempt(state: State, ref: kit.StartRef): boolean {
  const job = leasedJob(state, ref)
  if (job === undefined || (job.leaseUntil ?? 0) <= state.now()) return false
  begin(job, ref.provider)
  if (ref.to !== undefined) Object.assign(job.subject, { recipient: ref.to })
  return true
}

export function renewLease(state: State, ref: kit.LeaseRef, leaseMs: number): boolean {
  const job = leasedJob(state, ref)
  if (job !== undefined) job.leaseUntil = state.now() + leaseMs
  return job !== undefined
}

/** Returns a claim whose attempt was not made. */
export function releaseLease(state: State, ref: kit.LeaseRef): void {
  const job = leasedJob(state, ref)
  if (job === undefined || (job.provider ?? NO_PROVIDER) !== NO_PROVIDER) return
  if (job.provider === NO_PROVIDER) job.attempts -= 1
  makeDue(state, job, job.dueAt)
}

/** Ends the attempt of a leased job. @throws RangeError if nothing of it can be stored */
export function settle(state: State, settlement: kit.Settlement): kit.SettleAnswer {
  const { kind, next } = settlement
  const job = leasedJob(state, settlement)
  if (job === undefined || 'shown' in job.subject !== (kind === 'event')) return { kind: 'stale' }
  const events = kind === 'notification' ? settleNotification(state, job, settlement) : []
  if (next.kind === 'end') state.jobs.delete(job.jobId)
  else {
    job.recovered &&= next.notSent === true
    if (next.outage === true) job.outages += 1
    makeDue(state, job, state.now() + next.delayMs, next.delayedFor)
  }
  const event = kind === 'event' ? settleEvent(state, job, settlement) : null
  return { kind: 'settled', events, ...(event === null ? {} : { endpointEvents: [event] }) }
}

function settleNotification(state: State, { subject: row }: Job, settlement: Settled<'notification'>) {
  if ('shown' in row) return []
  const { facts, content, providerEvent: told } = settlement
  const sent = facts.filter(({ type }) => type === 'sent')
  const reports = [...state.receipts].flatMap(([key, { at, unmatched }]) =>
    unmatched !== null && sent.some((fact) => isAbout(unmatched, fact, row)) ? { key, at, unmatched } : [],
  )
  const reported = reports.map(({ unmatched }) => unmatched.fact)
  const events = addFacts(state, row, facts, reported)
  for (const { key, at } of reports) state.receipts.set(key, { at, unmatched: null })
  if (content !== undefined) Object.assign(row, kit.storedContent(content), { uploads: [] })
  if (told !== undefined) publish(state, told, kit.providerEventId(told), null)
  return events
}

/** Logs the attempt, and decides the health of its endpoint. Returns the event about the endpoint. */
function settleEvent(state: State, { subject: row }: Job, settlement: Settled<'event'>) {
  if (!('shown' in row)) return null
  const { attempt, next, ended = 'failed' } = settlement
  if (attempt !== undefined) logAttempt(state, row, attempt)
  if (next.kind === 'end') row.shown.state = ended
  const endpoint = state.endpoints.get(row.endpoint)
  if (endpoint?.status !== 'active') return null
  const verdict = kit.decideEndpoint(endpoint.health, settlement, state.now(), endpoint.url)
  setHealth(endpoint, verdict.health)
  if (verdict.disable !== null) disable(state, endpoint, verdict.disable)
  const about = { id: row.endpoint, organizationId: endpoint.organization }
  const event = kit.endpointEvent(about, verdict, state.now())
  if (event !== null) publish(state, event, kit.endpointEventId(event), null)
  return event
}

/** @throws RangeError if nothing of it can be stored */
export function recordReceipt(state: State, receipt: kit.ReceiptRecord): kit.ReceiptAnswer {
  // Instances of different organizations may share a name.
  const key = keyOf(receipt.organizationId, receipt.provider, receipt.dedupeKey)
  const at = state.now()
  if (state.receipts.has(key)) return { kind: 'duplicate' }
  if ('consent' in receipt) {
    follow(state, receipt.consent)
    state.receipts.set(key, { at, unmatched: null })
    if (receipt.received === undefined) return { kind: 'applied' }
    const received = kit.receivedEvent(receipt.received, at)
    publish(state, received, kit.receivedEventId(received), null)
    return { kind: 'applied', received }
  }
  const row = correlate(state, receipt)
  const events = row === undefined ? [] : addFacts(state, row, [], [receipt.fact])
  state.receipts.set(key, { at, unmatched: row === undefined ? receipt : null })
  return row === undefined ? { kind: 'unmatched' } : { kind: 'recorded', notificationId: row.id, events }
}

function correlate(state: State, report: kit.MessageReport): NotificationRow | undefined {
  const named = state.notifications.get(report.notificationId ?? '')
  if (named !== undefined && mayConcern(report, named)) return named
  const handovers = state.events.filter(({ fact: text, notification }) => {
    const fact: kit.Fact = JSON.parse(text)
    return fact.type === 'sent' && isAbout(report, fact, notification)
  })
  return handovers.map(({ notification }) => notification).sort((a, b) => b.seq - a.seq)[0]
}

/** Whether a report is about the message of a fact. */
function isAbout(report: kit.MessageReport, sent: kit.Fact, row: NotificationRow): boolean {
  const { providerMessageId: id } = report.fact
  const isOfMessage = id !== undefined && id === sent.providerMessageId && report.provider === sent.provider
  return isOfMessage && mayConcern(report, row)
}

/** An organization's own instance reports only about its own notifications. */
function mayConcern({ organizationId }: kit.MessageReport, { organization }: NotificationRow): boolean {
  return organizationId === null || organizationId === organization
}
