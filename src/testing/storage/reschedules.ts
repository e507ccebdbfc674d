import assert from 'node:assert/strict'
import type { RescheduleAnswer } from '../../core/ports/storage/notifications.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  idOf,
  jobOf,
  LEASE_MS,
  note,
  retried,
  start,
  TEN,
  timeOf,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const HOUR = 3_600_000

/** A notification for one hour from now. */
async function scheduled(storage: Storage): Promise<{ readonly id: string; readonly now: number }> {
  const now = await timeOf(storage)
  const [id = ''] = await accept(storage, [note({ sendAt: now + HOUR })])
  return { id, now }
}

async function claimedIds(storage: Storage): Promise<(string | undefined)[]> {
  return (await claim(storage)).map(idOf)
}

const kindOf = (answer: RescheduleAnswer): string => answer.kind

export function rescheduleChecks(check: Check): void {
  check(
    'a rescheduled notification is due at its new time, later or earlier',
    async ({ storage, advance }) => {
      const { id, now } = await scheduled(storage)
      const other = await scheduled(storage)
      assert.deepEqual(await storage.notifications.reschedule(id, now + 3 * HOUR), { kind: 'rescheduled' })
      assert.equal((await storage.notifications.get(id))?.sendAt, now + 3 * HOUR)
      assert.equal((await jobOf(storage, id))?.dueAt, now + 3 * HOUR)
      assert.deepEqual(await storage.notifications.reschedule(other.id, now + HOUR / 2), {
        kind: 'rescheduled',
      })
      await advance(HOUR / 2 + 1_000)
      assert.deepEqual(await claimedIds(storage), [other.id])
      await advance(HOUR)
      assert.ok(!(await claimedIds(storage)).includes(id), 'it is not due at its old time')
      await advance(2 * HOUR)
      assert.ok((await claimedIds(storage)).includes(id), 'it is due at its new time')
    },
  )

  for (const [when, sendAtOf] of [
    ['null', () => null],
    ['a time in the past', (now: number) => now - HOUR],
  ] as const) {
    check(`rescheduled to ${when}, it is due now`, async ({ storage }) => {
      const { id, now } = await scheduled(storage)
      assert.deepEqual(await storage.notifications.reschedule(id, sendAtOf(now)), { kind: 'rescheduled' })
      const { sendAt = null, status, createdAt = 0 } = (await storage.notifications.get(id)) ?? {}
      assert.ok(sendAt !== null && sendAt > createdAt && sendAt < now + HOUR, `${sendAt}`)
      assert.equal(status, 'scheduled')
      assert.equal((await jobOf(storage, id))?.state, 'due')
      assert.deepEqual(await claimedIds(storage), [id])
    })
  }

  check('a reschedule is in the history, and its claims say when the next is due', async ({ storage }) => {
    const { id, now } = await scheduled(storage)
    await storage.notifications.reschedule(id, now + 3 * HOUR)
    await storage.notifications.reschedule(id, now + 2 * HOUR)
    const timeline = await storage.notifications.timeline(id)
    assert.deepEqual(
      timeline.map(({ sequence, type, status }) => [sequence, type, status]),
      [
        [1, 'scheduled', 'scheduled'],
        [2, 'rescheduled', 'scheduled'],
        [3, 'rescheduled', 'scheduled'],
      ],
    )
    assert.equal(timeline[2]?.fact?.message, `Due at ${new Date(now + 2 * HOUR).toISOString()}.`)
    const { nextDueInMs } = await storage.claim({ lanes: [], leaseMs: LEASE_MS })
    assert.ok(nextDueInMs !== null && nextDueInMs > HOUR && nextDueInMs <= 2 * HOUR, `${nextDueInMs}`)
  })

  check('a due one that no attempt has begun waits again', async ({ storage, advance }) => {
    const { id, now } = await scheduled(storage)
    await advance(HOUR + 1_000)
    // A claim of another lane may note that it is due.
    assert.deepEqual(await claim(storage, 1, 'other'), [])
    assert.deepEqual(await storage.notifications.reschedule(id, now + 2 * HOUR), { kind: 'rescheduled' })
    assert.deepEqual(await claimedIds(storage), [])
    await advance(HOUR)
    assert.deepEqual(await claimedIds(storage), [id])
  })

  check('a reschedule wins over a claim whose attempt has not begun', async ({ storage, advance }) => {
    const { id, now } = await scheduled(storage)
    await advance(HOUR + 1_000)
    const job = await claimOne(storage)
    assert.deepEqual(await storage.notifications.reschedule(id, now + 3 * HOUR), { kind: 'rescheduled' })
    assert.deepEqual(await start(storage, [job]), [false])
    assert.deepEqual(await storage.renew([job], LEASE_MS), [false])
    assert.deepEqual(await storage.settle([ended(job)]), [{ kind: 'stale' }])
    await storage.release([job])
    await advance(HOUR)
    assert.deepEqual(await claimedIds(storage), [])
    await advance(HOUR)
    assert.deepEqual(await claimedIds(storage), [id])
  })

  check(
    'a reschedule changes nothing that has begun, ended or was not scheduled',
    async ({ storage, advance }) => {
      const { id, now } = await scheduled(storage)
      const later = now + 5 * HOUR
      await advance(HOUR + 1_000)
      const job = await claimOne(storage)
      await start(storage, [job])
      assert.deepEqual(await storage.notifications.reschedule(id, later), { kind: 'too_late' })
      await storage.settle([retried(job, 60_000)])
      assert.deepEqual(await storage.notifications.reschedule(id, later), { kind: 'too_late' })
      assert.equal((await storage.notifications.get(id))?.sendAt, now + HOUR)
      const [queued = ''] = await accept(storage, [note()])
      assert.deepEqual(await storage.notifications.reschedule(queued, later), { kind: 'not_scheduled' })
      await deliver(storage)
      assert.deepEqual(await storage.notifications.reschedule(queued, later), { kind: 'ended' })
      assert.deepEqual(await storage.notifications.reschedule('notif_0', later), { kind: 'unknown' })
      assert.equal((await storage.notifications.timeline(queued)).length, 2)
    },
  )

  check(
    'a reschedule revives nothing that was cancelled, and a cancel ends what was rescheduled',
    async (harness) => {
      const { storage, secondDoor, advance } = harness
      const { id, now } = await scheduled(storage)
      await storage.notifications.cancel(id)
      assert.deepEqual(await storage.notifications.reschedule(id, now + 2 * HOUR), { kind: 'ended' })
      const other = await scheduled(storage)
      await storage.notifications.reschedule(other.id, now + 2 * HOUR)
      assert.equal((await storage.notifications.cancel(other.id)).kind, 'cancelled')
      assert.deepEqual(await secondDoor.jobs(), [])
      await advance(3 * HOUR)
      assert.deepEqual(await claimedIds(storage), [])
      const states = await storage.notifications.states([id, other.id])
      assert.deepEqual(
        states.map((state) => state?.status),
        ['cancelled', 'cancelled'],
      )
    },
  )

  check('a reschedule and a start in a race: exactly one wins', async ({ storage, advance }) => {
    for (const startFirst of [true, false, true, false]) {
      const { id, now } = await scheduled(storage)
      await advance(HOUR + 1_000)
      const job = await claimOne(storage)
      assert.equal(idOf(job), id)
      const move = () => storage.notifications.reschedule(id, now + 100 * HOUR).then(kindOf)
      const begin = () => start(storage, [job]).then(([begun]) => begun === true)
      const calls = startFirst ? [begin(), move()] : [move(), begin()]
      const [begun, kind] = startFirst ? await Promise.all(calls) : (await Promise.all(calls)).reverse()
      assert.equal(kind, begun === true ? 'too_late' : 'rescheduled')
    }
  })

  check(
    'reschedules and a cancel in a race: once cancelled, nothing is due',
    async ({ storage, secondDoor }) => {
      const { id, now } = await scheduled(storage)
      const move = (hours: number) => storage.notifications.reschedule(id, now + hours * HOUR).then(kindOf)
      const before = [move(2), move(3)]
      const cancel = storage.notifications.cancel(id)
      const kinds = await Promise.all([...before, ...TEN.map((hours) => move(4 + hours))])
      assert.equal((await cancel).kind, 'cancelled')
      for (const kind of kinds) assert.match(kind, /^(rescheduled|ended)$/)
      assert.deepEqual(await secondDoor.jobs(), [])
      assert.equal(await move(1), 'ended')
      const moved = kinds.filter((kind) => kind === 'rescheduled').length
      assert.equal((await secondDoor.events()).length, moved + 1)
    },
  )

  check('a notification is rescheduled at most 100 times, of concurrent calls too', async ({ storage }) => {
    const { id, now } = await scheduled(storage)
    const move = (minutes: number) => storage.notifications.reschedule(id, now + HOUR + minutes * 60_000)
    for (let n = 0; n < 95; n += 1) assert.deepEqual(await move(n), { kind: 'rescheduled' })
    const kinds = (await Promise.all(TEN.map((n) => move(100 + n)))).map(kindOf).sort()
    assert.deepEqual(kinds, [...Array(5).fill('rescheduled'), ...Array(5).fill('too_often')])
    const sendAt = (await storage.notifications.get(id))?.sendAt
    assert.deepEqual(await move(200), { kind: 'too_often' })
    assert.deepEqual(await storage.notifications.reschedule(id, null), { kind: 'too_often' })
    assert.equal((await storage.notifications.get(id))?.sendAt, sendAt)
    assert.equal((await storage.notifications.timeline(id)).length, 101)
    assert.equal((await storage.notifications.cancel(id)).kind, 'cancelled')
  })

  check('of ten reschedules in a race the last one recorded holds', async ({ storage }) => {
    const { id, now } = await scheduled(storage)
    const answers = await Promise.all(
      TEN.map((hours) => storage.notifications.reschedule(id, now + (2 + hours) * HOUR)),
    )
    assert.deepEqual(answers.map(kindOf), Array(10).fill('rescheduled'))
    const dueAt = (await jobOf(storage, id))?.dueAt ?? 0
    const timeline = await storage.notifications.timeline(id)
    assert.equal(timeline.length, 11)
    assert.equal(timeline.at(-1)?.fact?.message, `Due at ${new Date(dueAt).toISOString()}.`)
    assert.equal((await storage.notifications.get(id))?.sendAt, dueAt)
  })
}
