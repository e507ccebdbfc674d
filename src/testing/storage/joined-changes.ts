import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JobRef } from '../../core/ports/queue.ts'
import type { Joined, JoinedTransaction } from '../../core/ports/storage/accept.ts'
import type { CancelAnswer, RescheduleAnswer } from '../../core/ports/storage/notifications.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { inTime } from '../in-time.ts'
import { Absent } from '../test-api.ts'
import { checkWhileOpen, checkWithin } from './caller-transactions.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  ended,
  endpoint,
  idOf,
  jobOf,
  LANE,
  LEASE_MS,
  note,
  notes,
  organization,
  retried,
  start,
  TEN,
  timeOf,
} from './fixtures.ts'
import type { Check, JoinedCall } from './harness.ts'

const HOUR = 3_600_000

const cancelling =
  (id: string, content?: Parameters<JoinedTransaction['cancel']>[1]): JoinedCall<CancelAnswer> =>
  (joined) =>
    joined.cancel(id, content)

const moving =
  (id: string, sendAt: number | null): JoinedCall<RescheduleAnswer> =>
  (joined) =>
    joined.reschedule(id, sendAt)

/** A notification for one hour from now. */
async function scheduled(storage: Storage): Promise<{ readonly id: string; readonly now: number }> {
  const now = await timeOf(storage)
  const [id = ''] = await accept(storage, [note({ sendAt: now + HOUR })])
  return { id, now }
}

async function claimedIds(storage: Storage): Promise<(string | undefined)[]> {
  return (await claim(storage)).map(idOf)
}

const kindOf = ({ answer }: Joined<CancelAnswer | RescheduleAnswer>): string => answer.kind

/** Checks of `cancel` and `reschedule` in `join`. */
export function joinedChangeChecks(check: Check): void {
  const within = (title: string, run: Parameters<typeof checkWithin>[2]): void =>
    checkWithin(check, title, run)
  const whileOpen = (title: string, run: Parameters<typeof checkWhileOpen>[2]): void =>
    checkWhileOpen(check, title, run)

  within('a cancel that is committed holds, and is told', async ({ storage, secondDoor }, transactions) => {
    const subscribed = await endpoint(storage, { events: ['notification.cancelled'] })
    const [id = '', other] = await accept(storage, notes(2, { content: { body: 'secret' } }))
    const { answer, committed } = await transactions.commit(cancelling(id, { body: '' }), 'order 17')
    assert.ok(answer.kind === 'cancelled')
    assert.deepEqual(
      answer.events.map(({ event, data }) => [event, data.id, data.sequence]),
      [['notification.cancelled', id, 2]],
    )
    assert.equal(await committed, true)
    assert.deepEqual(await transactions.rows(), ['order 17'])
    const { status, content } = (await storage.notifications.get(id)) ?? {}
    assert.deepEqual([status, content], ['cancelled', { body: '' }])
    const timeline = await storage.notifications.timeline(id)
    assert.deepEqual(
      timeline.map(({ sequence, type, status }) => [sequence, type, status]),
      [
        [1, 'queued', 'queued'],
        [2, 'cancelled', 'cancelled'],
      ],
    )
    assert.deepEqual(
      (await secondDoor.deliveries()).map(({ endpointId, state }) => [endpointId, state]),
      [[subscribed.id, 'pending']],
    )
    assert.equal((await claimOne(storage, subscribed.id)).kind, 'event')
    assert.deepEqual(await claimedIds(storage), [other])
  })

  within('a reschedule that is committed moves it', async ({ storage, advance }, transactions) => {
    const { id, now } = await scheduled(storage)
    for (const hours of [5, 3]) {
      const { answer, committed } = await transactions.commit(moving(id, now + hours * HOUR), `${hours}`)
      assert.deepEqual([answer, await committed], [{ kind: 'rescheduled' }, true])
    }
    assert.equal((await storage.notifications.get(id))?.sendAt, now + 3 * HOUR)
    assert.equal((await jobOf(storage, id))?.dueAt, now + 3 * HOUR)
    const timeline = await storage.notifications.timeline(id)
    assert.deepEqual(
      timeline.map(({ sequence, type, status }) => [sequence, type, status]),
      [1, 2, 3].map((sequence) => [sequence, sequence === 1 ? 'scheduled' : 'rescheduled', 'scheduled']),
    )
    await advance(2 * HOUR)
    assert.deepEqual(await claimedIds(storage), [])
    await advance(HOUR)
    assert.deepEqual(await claimedIds(storage), [id])
    const other = await scheduled(storage)
    await transactions.commit(moving(other.id, null), 'now')
    assert.deepEqual(await claimedIds(storage), [other.id])
  })

  within('a change that is rolled back leaves it as it was', async (harness, transactions) => {
    const { storage, secondDoor, advance } = harness
    await endpoint(storage, { events: ['notification.cancelled'] })
    const { id, now } = await scheduled(storage)
    const before = await storage.notifications.get(id)
    await transactions.rollBack(cancelling(id, { body: '' }), 'cancelled')
    await transactions.rollBack(moving(id, now + 3 * HOUR), 'moved')
    await transactions.rollBack(moving(id, null), 'moved')
    assert.deepEqual(await transactions.rows(), [])
    assert.deepEqual(await storage.notifications.get(id), before)
    assert.deepEqual(await secondDoor.events(), [])
    assert.deepEqual(await secondDoor.deliveries(), [])
    assert.equal((await jobOf(storage, id))?.dueAt, now + HOUR)
    assert.deepEqual(await claimedIds(storage), [])
    await advance(HOUR + 1_000)
    assert.deepEqual(await claimedIds(storage), [id])
  })

  within(
    'a change that is refused changes nothing',
    async ({ storage, secondDoor, advance }, transactions) => {
      const { id, now } = await scheduled(storage)
      await advance(HOUR + 1_000)
      const job = await claimOne(storage)
      await start(storage, [job])
      await storage.settle([retried(job, 60_000)])
      await accept(storage, [note()])
      await deliver(storage)
      const [queued = ''] = await accept(storage, [note()])
      const done = (await secondDoor.notifications()).find(({ status }) => status === 'sent')?.id ?? ''
      const often = await scheduled(storage)
      for (const n of TEN.flatMap((tens) => TEN.map((ones) => 10 * tens + ones)))
        await storage.notifications.reschedule(often.id, often.now + HOUR + n)
      const before = await secondDoor.events()
      const cases: [JoinedCall<CancelAnswer | RescheduleAnswer>, string][] = [
        [cancelling('notif_0'), 'unknown'],
        [moving('notif_0', null), 'unknown'],
        [cancelling(done), 'ended'],
        [moving(done, null), 'ended'],
        [moving(id, now + 9 * HOUR), 'too_late'],
        [moving(queued, now + 9 * HOUR), 'not_scheduled'],
        [moving(often.id, null), 'too_often'],
      ]
      for (const [call, kind] of cases) {
        const joined = await transactions.commit(call, kind)
        assert.deepEqual([kindOf(joined), await joined.committed], [kind, false])
      }
      assert.deepEqual(await secondDoor.events(), before)
      assert.deepEqual(await claimedIds(storage), [queued])
    },
  )

  within('a cancel between two attempts that is committed holds', async (harness, transactions) => {
    const { storage, advance } = harness
    const [kept = '', id = ''] = await accept(storage, notes(2))
    const jobs = await claim(storage)
    await start(storage, jobs)
    await storage.settle(jobs.map((job) => retried(job, 60_000)))
    await transactions.rollBack(cancelling(kept), 'undone')
    const { answer, committed } = await transactions.commit(cancelling(id), 'done')
    assert.deepEqual([answer.kind, await committed], ['cancelled', true])
    assert.equal((await storage.notifications.get(id))?.status, 'cancelled')
    await advance(61_000)
    const again = await claim(storage)
    assert.deepEqual(again.map(idOf), [kept])
    await start(storage, again)
    const late = await transactions.commit(cancelling(kept), 'late')
    assert.deepEqual([kindOf(late), await late.committed], ['too_late', false])
  })

  within('what a committed change makes due is announced', async ({ storage }, transactions) => {
    if (storage.enqueueJobs === undefined) throw new Absent('The storage announces no jobs.')
    await endpoint(storage, { events: ['notification.cancelled'] })
    const { id, now } = await scheduled(storage)
    const heard: JobRef[] = []
    await storage.enqueueJobs({ enqueue: (refs) => void heard.push(...refs) })
    let over = false
    const announced = async (): Promise<JobRef> => {
      while (heard.length === 0 && !over) await sleep(5)
      return heard.shift() as JobRef
    }
    try {
      await transactions.rollBack(moving(id, null), 'undone')
      await transactions.commit(moving(id, now + 3 * HOUR), 'moved')
      const moved = await inTime(announced(), 'a reschedule is not announced')
      assert.ok(moved.dueInMs > 2 * HOUR, `${moved.dueInMs}`)
      await transactions.commit(cancelling(id), 'cancelled')
      const event = await inTime(announced(), 'the event of a cancel is not announced')
      const { jobs } = await storage.claim({ ids: [moved.jobId, event.jobId], leaseMs: LEASE_MS })
      assert.deepEqual(
        jobs.map(({ kind }) => kind),
        ['event'],
      )
    } finally {
      over = true
    }
  })

  within(
    'of cancels, reschedules and a start in a race one wins',
    async ({ storage, advance }, transactions) => {
      for (const round of [0, 1, 2, 3]) {
        const { id, now } = await scheduled(storage)
        await advance(HOUR + 1_000)
        const changes = TEN.map((n) =>
          transactions.commit<CancelAnswer | RescheduleAnswer>(
            n % 2 === round % 2 ? cancelling(id) : moving(id, now + (100 + n) * HOUR),
            `${round} ${n}`,
          ),
        )
        const job = (await claim(storage)).find((one) => idOf(one) === id)
        const begun = job !== undefined && (await start(storage, [job]))[0] === true
        const answers = await Promise.all(changes)
        const cancelled = countOf(answers, (joined) => kindOf(joined) === 'cancelled')
        const moved = countOf(answers, (joined) => kindOf(joined) === 'rescheduled')
        if (begun) assert.deepEqual([cancelled, moved], [0, 0])
        else assert.ok(cancelled <= 1)
        const told = await Promise.all(answers.map(({ committed }) => committed))
        assert.deepEqual(
          told,
          answers.map((joined) => ['cancelled', 'rescheduled'].includes(kindOf(joined))),
        )
        const timeline = await storage.notifications.timeline(id)
        assert.equal(timeline.length, 1 + cancelled + moved)
        assert.equal((await storage.notifications.get(id))?.status === 'cancelled', cancelled === 1)
        assert.equal((await jobOf(storage, id)) === undefined, cancelled === 1)
      }
    },
  )

  whileOpen('what was accepted in it can be moved and cancelled in it', async (harness, begin, end) => {
    const { storage, secondDoor } = harness
    const now = await timeOf(storage)
    const [kept, gone] = [note({ sendAt: now + HOUR }), note({ sendAt: now + HOUR })]
    const open = await begin('open')
    await open.joined.accept({ organizationId: DEFAULT_ORGANIZATION, notifications: [kept, gone] })
    const moved = await open.joined.reschedule(kept.id, now + 2 * HOUR)
    const again = await open.joined.reschedule(kept.id, now + 3 * HOUR)
    const cancelled = await open.joined.cancel(gone.id)
    assert.deepEqual([moved, again, cancelled].map(kindOf), ['rescheduled', 'rescheduled', 'cancelled'])
    assert.equal(kindOf(await open.joined.cancel(gone.id)), 'ended')
    const inside = open.joined.reads ?? storage
    assert.equal((await inside.notifications.get(kept.id))?.sendAt, now + 3 * HOUR)
    assert.equal((await inside.notifications.timeline(kept.id)).length, 3)
    const { counts } = await inside.countJobs({ notificationId: kept.id }, 1)
    assert.deepEqual([counts[0]?.state, counts[0]?.dueAt], ['scheduled', now + 3 * HOUR])
    await end(open, 'commit')
    const told = await Promise.all([moved, again, cancelled].map(({ committed }) => committed))
    assert.deepEqual(told, [true, true, true])
    assert.equal((await jobOf(storage, kept.id))?.dueAt, now + 3 * HOUR)
    assert.equal((await secondDoor.jobs()).length, 1)
  })

  whileOpen('a change keeps no other job waiting', async ({ storage, advance }, begin, end) => {
    const now = await timeOf(storage)
    // Before the others in any order: two organizations whose only jobs are held, and ready; another is due later.
    const held: string[] = []
    for (const name of ['org_a', 'org_b'])
      held.push(...(await accept(storage, [note()], await organization(storage, name))))
    const last = await organization(storage, 'org_c')
    const [moved = ''] = await accept(storage, [note({ sendAt: now + HOUR })], last)
    held.push(moved)
    const free = await accept(storage, [...notes(3), note({ priority: 'high' })], last)
    const open = await begin('open')
    for (const id of held.slice(0, 2)) assert.equal(kindOf(await open.joined.cancel(id)), 'cancelled')
    assert.equal(kindOf(await open.joined.reschedule(moved, now + 9 * HOUR)), 'rescheduled')
    await advance(HOUR + 1_000)
    const claimed: (string | undefined)[] = []
    for (let slot = 0; slot < free.length; slot += 1) {
      const [job] = await inTime(claim(storage, 1), 'a claim waits for an open transaction')
      assert.ok(job !== undefined, 'a job waits for one that an open transaction has changed')
      claimed.push(idOf(job))
      assert.deepEqual(await inTime(start(storage, [job]), 'a start waits for an open transaction'), [true])
      await inTime(storage.settle([ended(job)]), 'a settlement waits for an open transaction')
    }
    assert.deepEqual(claimed.toSorted(), free.toSorted())
    const request = { lanes: [{ lane: LANE, free: 5 }], leaseMs: LEASE_MS }
    const { jobs, nextDueInMs } = await inTime(
      storage.claim(request),
      'a claim waits for an open transaction',
    )
    assert.deepEqual(jobs, [])
    assert.ok(
      nextDueInMs === null || nextDueInMs >= 50,
      'claims follow each other until the transaction ends',
    )
    await end(open, 'rollBack')
    assert.deepEqual((await claimedIds(storage)).toSorted(), held.toSorted())
  })

  whileOpen('a change of a leased job lets its process go on', async ({ storage }, begin, end) => {
    const ids = await accept(storage, notes(2))
    const jobs = await claim(storage)
    const open = await begin('open')
    assert.equal(kindOf(await open.joined.cancel(ids[0] ?? '')), 'too_late')
    assert.equal(kindOf(await open.joined.reschedule(ids[0] ?? '', null)), 'too_late')
    assert.deepEqual(await inTime(storage.renew(jobs, LEASE_MS), 'a renewal waits'), [true, true])
    assert.deepEqual(await inTime(start(storage, jobs), 'a start waits for a refused change'), [true, true])
    await inTime(storage.settle(jobs.map((job) => ended(job))), 'a settlement waits for a refused change')
    await end(open, 'commit')
  })

  whileOpen('a cancel of what runs alone next lets it begin', async (harness, begin, end) => {
    const { storage, advance } = harness
    const [id = ''] = await accept(storage, [note()])
    await start(storage, [await claimOne(storage)])
    await advance(LEASE_MS + 1)
    assert.deepEqual(await claim(storage), [])
    const open = await begin('open')
    assert.equal(kindOf(await open.joined.cancel(id)), 'too_late')
    const request = { recovered: [LANE], leaseMs: LEASE_MS }
    const { jobs } = await inTime(storage.claim(request), 'a claim waits for a refused change')
    assert.deepEqual(jobs.map(idOf), [id])
    await end(open, 'commit')
    assert.equal((await storage.notifications.cancel(id)).kind, 'cancelled')
    assert.deepEqual(await start(storage, jobs), [false])
  })

  for (const how of ['commit', 'rollBack'] as const) {
    const meaning = how === 'commit' ? 'is refused once that is committed' : 'wins once that is rolled back'
    whileOpen(`a change after that of another ${meaning}`, async ({ storage }, begin, end) => {
      const { id, now } = await scheduled(storage)
      const [first, second] = [await begin('first'), await begin('second')]
      assert.equal(kindOf(await first.joined.cancel(id)), 'cancelled')
      const coming = second.joined.reschedule(id, now + 2 * HOUR)
      // Long enough for the call to wait inside the database.
      await Promise.race([coming, sleep(100)])
      await end(first, how)
      const joined = await inTime(coming, 'it still waits for a transaction that has ended')
      await end(second, 'commit')
      assert.equal(kindOf(joined), how === 'commit' ? 'ended' : 'rescheduled')
      assert.equal(await joined.committed, how === 'rollBack')
      assert.equal((await storage.notifications.timeline(id)).length, 2)
    })
  }
}
