import * as kit from 'carillon/storage-kit'
import { addFacts, createJob, makeDue } from './accept.ts'
import {
  type Job,
  keyOf,
  type NotificationRow,
  pageById,
  pageOf,
  type State,
  stepOf,
  where,
} from './state.ts'

type ToItem<Item> = (row: NotificationRow) => Item

export function createNotifications(state: State): kit.NotificationRepository {
  const rowsOf = (organization: string) => where(state.notifications.values(), { organization })
  const list = <Item>(filter: kit.NotificationFilter, page: kit.PageRequest, toItem: ToItem<Item>) => {
    const matches = (row: NotificationRow) => kit.matchesFilter(row, filter)
    return filter.organizationId === kit.ALL_ORGANIZATIONS
      ? pageById([...state.notifications.values()], page, ({ id }) => kit.idKey(id), toItem, matches)
      : pageOf(rowsOf(filter.organizationId), page, toItem, matches)
  }

  return {
    get: async (id) => {
      const row = state.notifications.get(id)
      return row === undefined ? null : kit.toNotification(row)
    },
    states: async (ids) =>
      ids.map((id) => {
        const row = state.notifications.get(id)
        return row === undefined ? null : { status: row.status ?? kit.acceptedStatus(row), to: row.recipient }
      }),
    list: (filter, page) => list(filter, page, (row) => kit.toNotification({ ...row, attachments: null })),
    failures: (span, page) => list({ ...span, status: 'failed' }, page, kit.toFailure),
    timeline: async (id) => {
      const row = state.notifications.get(id)
      return row === undefined ? [] : kit.toTimeline(row, where(state.events, { notification: row }))
    },
    cancel: async (id, content) => {
      const found = waiting(state, id, ({ provider }) => provider !== null)
      if (typeof found === 'string') return { kind: found }
      const events = cancelWaiting(state, found.row)
      if (content !== undefined) Object.assign(found.row, kit.storedContent(content), { uploads: [] })
      return { kind: 'cancelled', events }
    },
    reschedule: async (id, asked) => {
      const found = waiting(state, id, ({ attempts, earlierAttempts }) => attempts > earlierAttempts)
      if (typeof found === 'string') return { kind: found }
      const { row, job } = found
      if ((row.status ?? kit.acceptedStatus(row)) !== 'scheduled') return { kind: 'not_scheduled' }
      const about = { createdAt: row.created_at, sequence: row.sequence }
      const change = kit.rescheduled(asked, about, state.now())
      if (change === null) return { kind: 'too_often' }
      const { sendAt, dueAt, fact } = change
      addFacts(state, row, [fact])
      row.send_at = sendAt
      makeDue(state, job, dueAt)
      return { kind: 'rescheduled' }
    },
    judgeAgain: async ({ organizationId, of, ...bounds }) => {
      const { step, next } = stepOf(rowsOf(organizationId), bounds)
      let moved = 0
      for (const row of step) {
        const job = state.jobs.get(row.id)
        if (job === undefined || !isDelayed(state, row, job, of)) continue
        makeDue(state, job, Math.max(state.now(), row.send_at ?? 0))
        moved += 1
      }
      return { moved, next }
    },
    retry: async (request) => {
      const filter = { ...request.filter, status: 'failed' as const }
      const failed = rowsOf(filter.organizationId).filter((row) => kit.matchesFilter(row, filter))
      const dead = failed.filter(({ id }) => !state.jobs.has(id))
      const { step, next } = stepOf(dead, request)
      const plan = kit.createRetryPlan(request, state.now())
      for (const row of step) {
        const { id: jobId, organization: organizationId, high, channel, expires_at: expiresAt, content } = row
        const place = plan.place({ channel, expiresAt, removed: content.startsWith(kit.REMOVED) })
        if (place === null || request.dryRun === true) continue
        const about = { jobId, organizationId, high: high === true, subject: row }
        addFacts(state, row, [{ type: 'retried' }])
        const attempts = Math.max(0, ...factsOf(state, row).map(({ attempt = 0 }) => attempt))
        createJob(state, { ...about, ...place }, attempts)
      }
      const { retried, expired, unroutable, contentRemoved, nextDueAt } = plan
      return { retried, expired, unroutable, contentRemoved, nextDueAt, next }
    },
  }
}

const factsOf = (state: State, row: NotificationRow): readonly kit.Fact[] =>
  where(state.events, { notification: row }).map(({ fact }) => JSON.parse(fact))

/** Ends a notification that waits. Returns the published events. */
export function cancelWaiting(state: State, row: NotificationRow) {
  state.jobs.delete(row.id)
  return addFacts(state, row, [kit.cancellation(factsOf(state, row))])
}

function isDelayed(state: State, { category }: NotificationRow, job: Job, of: kit.DelayedOf): boolean {
  const { leaseUntil, dueAt, delayedFor } = job
  if (delayedFor === null || leaseUntil !== null || dueAt <= state.now()) return false
  if (of.by === 'categories') return category !== null && of.categories.includes(category)
  if (of.by === 'recipient') return delayedFor.recipient === of.recipient
  return of.by === 'all' || delayedFor.address === of.address
}

/** A notification that waits; a text tells why there is none. */
function waiting(state: State, id: string, isTooLate: (job: Job) => boolean) {
  const [row, job] = [state.notifications.get(id), state.jobs.get(id)]
  if (row === undefined) return 'unknown'
  if (job === undefined) return 'ended'
  return isTooLate(job) ? 'too_late' : { row, job }
}

function stateOf(state: State, job: Job): kit.JobCount['state'] {
  if ((job.leaseUntil ?? job.dueAt) <= state.now()) return 'due'
  if (job.leaseUntil !== null) return 'running'
  return job.attempts > job.earlierAttempts ? 'retrying' : 'scheduled'
}

export function countJobs(state: State, of: kit.JobsOf, most: number): kit.JobCounts {
  const groups = new Map<string, kit.JobCount>()
  for (const job of jobsOf(state, of)) {
    const [lane, now] = ['shown' in job.subject ? null : job.lane, stateOf(state, job)]
    const { jobs, dueAt } = groups.get(keyOf(lane, now)) ?? { jobs: 0, dueAt: Infinity }
    const earliest = Math.min(dueAt, job.leaseUntil ?? job.dueAt)
    groups.set(keyOf(lane, now), { lane, state: now, jobs: Math.min(jobs + 1, most), dueAt: earliest })
  }
  const held = of === 'all' ? state.deliveries.filter(({ shown }) => shown.state === 'held') : []
  return { counts: [...groups.values()], held: Math.min(held.length, most), now: state.now() }
}

function jobsOf(state: State, of: kit.JobsOf): readonly Job[] {
  if (of === 'all') return [...state.jobs.values()]
  if ('notificationId' in of) return where(state.jobs.values(), { jobId: of.notificationId })
  const own = where(state.jobs.values(), { organizationId: of.organizationId })
  const isReady = ({ leaseUntil, recovered, dueAt }: Job) =>
    leaseUntil === null && !recovered && dueAt <= state.now()
  return own.filter((job) => !('shown' in job.subject) && (!isReady(job) || of.lanes.includes(job.lane)))
}

export function createLogs(state: State): kit.LogRepository {
  /** All entries of an organization, or of all, oldest first. */
  function entriesOf(of: string): (kit.LogEntry & { readonly seq: number })[] {
    const organization = of === kit.ALL_ORGANIZATIONS ? undefined : of
    const notifications = where(state.notifications.values(), { organization })
    const accepts = notifications.map((row) => {
      const status = kit.acceptedStatus(row)
      return { seq: row.seq, notification: row, sequence: 1, at: row.created_at, status, fact: null }
    })
    const events = state.events.filter(
      ({ notification }) => (organization ?? notification.organization) === notification.organization,
    )
    const entries = [...accepts, ...events].sort((a, b) => a.seq - b.seq)
    return entries.map(({ notification: row, ...event }) => ({
      seq: event.seq,
      ...kit.toLogEntry({ ...row, ...event }),
    }))
  }

  return {
    list: async ({ organizationId: of, channel, status, notificationId, ...labels }, page) => {
      const entries = where(entriesOf(of), { channel, status, notificationId })
      const toItem = ({ seq, ...entry }: kit.LogEntry & { readonly seq: number }): kit.LogEntry => entry
      const matches = (entry: kit.LogEntry): boolean => kit.matchesLabels(entry, labels)
      return of === kit.ALL_ORGANIZATIONS
        ? pageById(entries, page, (entry) => kit.idKey(entry.notificationId, entry.sequence), toItem, matches)
        : pageOf(entries, page, toItem, matches)
    },
    count: async ({ organizationId, from, until }, most) => {
      const [first, end] = [kit.firstIdAt(from), kit.firstIdAt(until)]
      const entries = entriesOf(organizationId).filter(({ fact, notificationId: id, at }) =>
        fact === null && organizationId === kit.ALL_ORGANIZATIONS
          ? id >= first && id < end
          : at >= from && at < until,
      )
      const facts = entries.flatMap(({ fact, ...entry }) => (fact === null ? [] : { ...entry, ...fact }))
      const accepted = Math.min(entries.length - facts.length, most)
      const sizeOf = (some: typeof facts) => new Set(some.map(({ notificationId }) => notificationId)).size
      const hasBounced = ({ type }: (typeof facts)[number]) => kit.COUNTED_AS[type] === 'bounced'
      const rows = (['sent', 'delivered', 'failed', null] as const).map((name) => {
        const own = facts
          .slice(0, most)
          .filter((fact) => (hasBounced(fact) ? 'failed' : (kit.COUNTED_AS[fact.type] ?? null)) === name)
        const bounced = sizeOf(own.filter(hasBounced))
        return { name, notifications: sizeOf(own), bounced, entries: own.length }
      })
      const accepts = { name: 'accepted', notifications: accepted, bounced: 0, entries: accepted }
      return kit.toLogCounts([accepts, ...rows], most)
    },
  }
}
