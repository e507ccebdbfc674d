import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Fact } from '../../src/core/notification/facts.ts'
import type { NewNotification } from '../../src/core/notification/notification.ts'
import type { ClaimedJob } from '../../src/core/ports/storage/claim.ts'
import type { NotificationFilter } from '../../src/core/ports/storage/notifications.ts'
import type { Page, PageRequest } from '../../src/core/ports/storage/page.ts'
import type { RecordWrite, StoredRecord } from '../../src/core/ports/storage/records.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { ended, note } from '../../src/testing/storage/fixtures.ts'
import {
  CONTRACT_START,
  itemKind,
  keeping,
  keyOf,
  otherKind,
  plainReminderKind,
  recipientId,
  reminderKind,
  removal,
} from '../../src/testing/storage/record-fixtures.ts'
import { mapStorage } from '../map-storage/index.ts'
import { createState } from '../map-storage/state.ts'
import { describeBesideReference } from '../support/beside-reference.ts'

/** What `storage-model` leaves out: idempotency, quotas, lists, retry, retention and records. */
const ORGANIZATION = 'org_default'
const CHANNELS = ['email', 'sms'] as const
const ADDRESSES = ['a@example.com', 'b@example.com']
const STATUSES = ['queued', 'scheduled', 'sent', 'failed', 'delivered', undefined] as const

const NAMES = [
  'accept',
  'deliver',
  'list',
  'logs',
  'retry',
  'sweep',
  'expire',
  'records',
  'followed',
  'due',
  'advance',
] as const

interface Step {
  readonly do: (typeof NAMES)[number]
  /** Three choices, of which each kind of step makes something of its own. */
  readonly a: number
  readonly b: number
  readonly c: number
}

const choice = fc.nat({ max: 11 })
const step: fc.Arbitrary<Step> = fc.record({
  do: fc.constantFrom('accept', 'accept', 'deliver', 'deliver', 'retry', 'records', ...NAMES),
  a: choice,
  b: choice,
  c: choice,
})

const HOW: readonly (readonly Fact[])[] = [
  [{ type: 'sent', attempt: 1, provider: 'p', providerMessageId: 'm' }],
  [{ type: 'failed', attempt: 1, provider: 'p', code: 'mailbox_full' }],
  [{ type: 'failed', attempt: 2, provider: 'q', code: 'expired' }],
  [{ type: 'failed', attempt: 1, provider: 'q', code: 'blocked_recipient', suppress: 'hard_bounce' }],
  [
    { type: 'sent', attempt: 1, provider: 'q', providerMessageId: 'n' },
    { type: 'delivered', provider: 'q', providerMessageId: 'n' },
  ],
]

function of<Item>(items: readonly Item[], index: number): Item {
  return items[index % items.length] as Item
}

function nameOf(job: ClaimedJob): string {
  return job.kind === 'notification' ? job.notification.id : job.delivery.eventId
}

const itemId = (index: number): string => `item_${index % 3}`

/** One write, or two that share their fate. */
async function writesOf(
  storage: Storage,
  { a, b, c }: Pick<Step, 'a' | 'b' | 'c'>,
): Promise<readonly RecordWrite[]> {
  const id = itemId(a)
  const value = { name: of([null, 'x', 'y'], b), group: of([...CHANNELS, null], c), number: b }
  const also = a > 8 ? [keeping(itemId(b), ORGANIZATION, { reason: 'manual', source: null })] : []
  switch (c % 4) {
    case 0:
      return [...also, { kind: itemKind, do: 'insert', id, organizationId: ORGANIZATION, value }]
    case 1: {
      const ifTaken = 'keep' as const
      return [{ kind: itemKind, do: 'insert', id, organizationId: ORGANIZATION, value, ifTaken }, ...also]
    }
    case 2: {
      const [stored = null] = await storage.records.get(itemKind, [{ id }])
      const revision = (stored?.revision ?? 1) + (b === 7 ? 1 : 0)
      return [...also, { kind: itemKind, do: 'replace', id, revision, value }]
    }
    default:
      return [removal(itemKind, id, b > 6 ? { number: b } : undefined), ...also]
  }
}

/** All pages, as sets of what they hold: cursors are each storage's own. */
async function pages<Item>(
  limit: number,
  list: (page: PageRequest) => Promise<Page<Item>>,
  offset = limit % 2,
): Promise<Item[][]> {
  const found: Item[][] = []
  let cursor: string | undefined
  do {
    const page = await list({ limit, offset: found.length === 0 ? offset : 0, cursor })
    found.push([...page.items])
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return found
}

function filterOf({ a, b, c }: Step, now: number): NotificationFilter {
  return {
    organizationId: ORGANIZATION,
    status: of(STATUSES, a),
    channel: b % 3 === 0 ? of(CHANNELS, c) : undefined,
    to: b % 4 === 1 ? of(ADDRESSES, c) : undefined,
    from: c % 3 === 1 ? now - 800 : undefined,
    until: c % 4 === 2 ? now - 200 : undefined,
    provider: b % 5 === 2 ? 'p' : undefined,
    code: a % 6 === 3 && b % 2 === 0 ? 'mailbox_full' : undefined,
    templateId: c === 7 ? 'tpl_1' : undefined,
  }
}

async function take(
  storage: Storage,
  one: Step,
  fresh: readonly NewNotification[],
  now: number,
): Promise<unknown> {
  const { a, b, c } = one
  switch (one.do) {
    case 'accept': {
      const key = {
        organizationId: ORGANIZATION,
        operation: 'send' as const,
        key: `k${a}`,
        fingerprint: `f${b}`,
        result: 'r',
        ttlMs: 900,
      }
      const quota = b % 3 === 0 ? { period: 'p', limit: 8 } : undefined
      const idempotency = a > 5 ? key : undefined
      const asked = {
        organizationId: ORGANIZATION,
        notifications: fresh,
        quota,
        idempotency,
      }
      const twice = await storage.accept(c === 1 ? [asked, { ...asked, notifications: [] }] : [asked])
      const found = await storage.findIdempotent([key])
      return [twice, found, await storage.quotaUsed(ORGANIZATION, 'p')]
    }
    case 'deliver': {
      // All of a lane, in the order of acceptance, since ids fall: the order of claims is not promised.
      const claimed = await storage.claim({ lanes: [{ lane: of(CHANNELS, a), free: 500 }], leaseMs: 1 })
      const jobs = claimed.jobs.toSorted((one, other) => (nameOf(one) > nameOf(other) ? -1 : 1))
      await storage.startAttempts(jobs.map((job) => ({ ...job, provider: 'p' })))
      return storage.settle(jobs.map((job, index) => ended(job, of(HOW, c + (b > 6 ? index : 0)))))
    }
    case 'list': {
      const filter = filterOf(one, now)
      return pages((b % 3) + 1, (page) => storage.notifications.list(filter, page))
    }
    case 'logs': {
      const filter = {
        organizationId: ORGANIZATION,
        channel: b > 8 ? 'sms' : undefined,
        status: of(STATUSES, a),
      } as const
      return pages((c % 3) + 1, (page) => storage.logs.list(filter, page))
    }
    case 'retry': {
      const { status, ...filter } = filterOf(one, now)
      const lanes = a % 5 === 4 ? { email: 'email' } : { email: 'email', sms: 'sms' }
      const answers: unknown[] = []
      let after: string | undefined
      // Handed on, as the service does: how many of a filter one step takes is each storage's own.
      let dueAt = now + 100 * c
      do {
        const { next, ...answer } = await storage.notifications.retry({
          ...{ filter: a > 3 ? { organizationId: ORGANIZATION } : filter, lanes, most: 2, after },
          ...{ dryRun: b % 4 === 0, dueAt, spacingMs: b },
        })
        answers.push(answer)
        dueAt = answer.nextDueAt
        after = next ?? undefined
      } while (after !== undefined)
      return answers.map((answer) => ({ ...(answer as object), nextDueAt: 0 })).reduce(sum, {})
    }
    case 'sweep': {
      const sweep = async (dryRun: boolean) => {
        let after: string | undefined
        let removed: object = { notifications: 0, contents: 0, deliveries: 0 }
        do {
          const age = c > 8 ? { contentsOlderThanMs: 100 * a } : { olderThanMs: 100 * a }
          const what = { organizationId: ORGANIZATION, dryRun, ...age }
          const { next, ...answer } = await storage.expire({ what, most: (b % 3) + 1, after })
          removed = sum(removed, answer.removed)
          after = next ?? undefined
        } while (after !== undefined)
        return removed
      }
      const counted = await sweep(true)
      const removed = await sweep(false)
      expect(counted).toEqual(removed)
      return removed
    }
    case 'expire': {
      const what = { receiptsOlderThanMs: 100 * a, unmatchedOlderThanMs: 100 * b, longestMs: null }
      let removed = {}
      for (let more = true; more; ) {
        // Keys that have expired each storage removes with what it accepts, too: as many as it likes.
        const answer = await storage.expire({ what, most: c + 1 })
        const { receipts = 0 } = answer.removed
        removed = sum(removed, { receipts, unmatched: answer.unmatched.length })
        more = answer.next !== null
      }
      return removed
    }
    case 'records': {
      const { records } = storage
      const written: unknown[] = []
      for (const each of [one, { a: b, b: c, c: a }, { a: c, b: a, c: b }])
        written.push(await records.write([await writesOf(storage, each)]))
      const removed =
        b > 8
          ? await records.removeOld(itemKind, { organizationId: ORGANIZATION, olderThanMs: a, most: 2 })
          : 0
      const list = a % 3 === 0 ? of(CHANNELS, b) : undefined
      const listed = await pages((c % 2) + 1, (page) =>
        records.list(itemKind, { organizationId: ORGANIZATION, list }, page),
      )
      const refs = [{ id: itemId(a) }, { key: keyOf('x') }, { key: keyOf('y') }]
      return [written, removed, listed, await records.get(itemKind, refs)]
    }
    case 'followed': {
      const id = recipientId(of(ADDRESSES, b), ORGANIZATION, of(CHANNELS, a))
      const write =
        c % 3 === 0
          ? removal(otherKind, id, c > 5 ? { reason: 'manual' } : undefined)
          : keeping(id, ORGANIZATION, { reason: 'manual', source: null })
      const written = await storage.records.write([[write]])
      const listed = await pages(
        (c % 2) + 1,
        (page) => storage.records.list(otherKind, { organizationId: ORGANIZATION }, page),
        0,
      )
      // In which order a settlement writes several is not promised.
      const text = (record: StoredRecord): string => `${record.createdAt} ${record.id}`
      return [written, listed.flat().toSorted((one, other) => (text(one) < text(other) ? -1 : 1))]
    }
    case 'due': {
      const id = `reminder_${a % 4}`
      const [stored = null] = await storage.records.get(reminderKind, [{ id }])
      const at = [null, 0, stored?.readAt ?? 0, (stored?.readAt ?? 0) + 1_000][c % 4] as number | null
      const kind = b > 8 ? plainReminderKind : reminderKind
      const written = await storage.records.write([
        stored === null
          ? [{ kind, do: 'insert', id, organizationId: ORGANIZATION, value: { at } }]
          : [{ kind, do: 'replace', id, revision: stored.revision, value: { at } }],
      ])
      const { due: claimed, nextDueInMs } = await storage.records.claimDue({
        kinds: [reminderKind],
        most: (b % 3) + 4,
        leaseMs: 100 * (c + 1),
      })
      // In which order an organization's records are handed out is not promised.
      const due = claimed.toSorted((one, other) => (one.record.id < other.record.id ? -1 : 1))
      const results = await storage.records.write(
        due
          .slice(c % 2)
          .map(({ record, token }) => [{ kind: reminderKind, do: 'remove', id: record.id, token }]),
      )
      const shown = due.map(({ record, claims, leaseMs }) => ({ record, claims, leaseMs }))
      return [written, shown, nextDueInMs, results]
    }
    case 'advance':
      return null
  }
}

function sum(one: object, other: object): object {
  const total: Record<string, number> = { ...one }
  for (const [name, value] of Object.entries(other)) total[name] = (total[name] ?? 0) + Number(value)
  return total
}

describeBesideReference({ sqlite: 60, postgres: 12 }, (create, numRuns) => {
  test('answer the same to all that asks for records', {
    timeout: 240_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
        let now = 1_800_000_000_000
        const clock = { now: () => now }
        const other = await create(clock)
        const memory = mapStorage(createState(clock))
        try {
          for (const storage of [other.storage, memory]) await storage.start(CONTRACT_START)
          for (const one of steps) {
            // Within a millisecond each lists the histories of several notifications in an order of its own.
            now += one.do === 'advance' ? 1 + 100 * one.a : 1
            const { a, b, c } = one
            const fresh = Array.from({ length: (c % 3) + 1 }, (_, index) =>
              note({
                channel: of(CHANNELS, b),
                lane: of(CHANNELS, b),
                to: of(ADDRESSES, a + index),
                content: {
                  body: 'x',
                  ...(c > 6 ? { template: { id: 'tpl_1', name: 't', version: 1 } } : {}),
                } as never,
                sendAt: b === 5 ? now + 300 : null,
                expiresAt: c === 4 ? now + 500 : null,
              }),
            )
            const theirs = await take(other.storage, one, fresh, now)
            expect(theirs, JSON.stringify(one)).toEqual(await take(memory, one, fresh, now))
          }
        } finally {
          await other.storage.stop()
          await other.close?.()
        }
      }),
      { numRuns },
    )
  })
})
