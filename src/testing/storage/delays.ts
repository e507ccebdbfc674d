import assert from 'node:assert/strict'
import type { DelayedFor, NewNotification } from '../../core/notification/notification.ts'
import type { DelayedOf } from '../../core/ports/storage/notifications.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  idOf,
  jobOf,
  note,
  organization,
  retried,
  returned,
  start,
  TEN,
  timeOf,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const HOUR = 3_600_000
const ALL: DelayedOf = { by: 'all' }
const ADA: DelayedFor = { address: 'email ada', recipient: 'ada' }
const NOBODY: DelayedFor = { address: 'email nobody', recipient: null }

/** One that the gate delays by six hours. */
function delayed(now: number, change: Partial<NewNotification> = {}): NewNotification {
  const delayedFor = change.delayedFor ?? ADA
  return note({ dueAt: now + 6 * HOUR, ...change, delayedFor, recipient: delayedFor.recipient })
}

/** All steps of a call; returns how many each has moved. */
async function judgeAgain(
  storage: Storage,
  of: DelayedOf = ALL,
  most = 100,
  organizationId: string = DEFAULT_ORGANIZATION,
): Promise<number[]> {
  const moved: number[] = []
  let after: string | undefined
  for (let steps = 0; steps < 100; steps += 1) {
    const answer = await storage.notifications.judgeAgain({ organizationId, of, most, after })
    assert.ok(answer.moved <= most, 'a step moves more than it may examine')
    moved.push(answer.moved)
    if (answer.next === null) return moved
    after = answer.next
  }
  assert.fail('the steps do not end')
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

async function claimedIds(storage: Storage): Promise<string[]> {
  return (await claim(storage)).map((job) => idOf(job) ?? '').sort()
}

/** The leased job of a notification that its settlement delays by six hours. */
async function delayBeforeAttempt(storage: Storage, delayedFor: DelayedFor = ADA): Promise<string> {
  const job = await claimOne(storage)
  const settlement = returned(job, 6 * HOUR)
  const next = { kind: 'retry', delayMs: 6 * HOUR, notSent: true, delayedFor } as const
  const [answer] = await storage.settle([{ ...settlement, next }])
  assert.equal(answer?.kind, 'settled')
  return idOf(job) ?? ''
}

export function delayChecks(check: Check): void {
  const whose: readonly [name: string, of: DelayedOf, moved: readonly number[]][] = [
    ['all people', ALL, [0, 1, 2, 3]],
    ['a recipient', { by: 'recipient', recipient: 'ada' }, [0, 1]],
    ['an address', { by: 'address', address: 'email nobody' }, [2]],
    ['categories', { by: 'categories', categories: ['news', 'old-news'] }, [1, 3]],
    ['a recipient of none', { by: 'recipient', recipient: 'nobody' }, []],
    ['an address of none', { by: 'address', address: 'sms ada' }, []],
    ['categories of none', { by: 'categories', categories: ['offers'] }, []],
  ]
  for (const [name, of, expected] of whose) {
    check(`of what the gate delays, messages of ${name} are judged again at once`, async ({ storage }) => {
      const now = await timeOf(storage)
      const other = await organization(storage)
      const ids = await accept(storage, [
        delayed(now),
        delayed(now, { category: 'news' }),
        delayed(now, { delayedFor: NOBODY }),
        delayed(now, { delayedFor: { address: 'email bob', recipient: 'bob' }, category: 'old-news' }),
      ])
      await accept(storage, [delayed(now, { category: 'news' })], other)
      assert.deepEqual(await claimedIds(storage), [])
      assert.deepEqual(await judgeAgain(storage, of), [expected.length])
      const moved = expected.map((at) => ids[at] ?? '').sort()
      assert.deepEqual(await claimedIds(storage), moved)
      for (const id of moved) assert.equal((await storage.notifications.timeline(id)).length, 1)
    })
  }

  check('what is not delayed is not judged again before its time', async ({ storage, advance }) => {
    const now = await timeOf(storage)
    await accept(storage, [
      note({ sendAt: now + HOUR, delayedFor: ADA }),
      note({ sendAt: now + HOUR, dueAt: now + HOUR / 2, delayedFor: ADA }),
      note({ dueAt: now + HOUR }),
    ])
    await accept(storage, [note()])
    const failed = await claimOne(storage)
    await start(storage, [failed])
    await storage.settle([retried(failed, HOUR)])
    assert.deepEqual(await judgeAgain(storage), [0])
    assert.deepEqual(await claimedIds(storage), [])
    await advance(HOUR + 1_000)
    assert.equal((await claimedIds(storage)).length, 4)
  })

  check('what is judged again waits for its own time', async ({ storage, advance }) => {
    const now = await timeOf(storage)
    const [id = ''] = await accept(storage, [delayed(now, { sendAt: now + 3 * HOUR })])
    assert.deepEqual(await judgeAgain(storage), [1])
    assert.equal((await jobOf(storage, id))?.dueAt, now + 3 * HOUR)
    assert.deepEqual(await judgeAgain(storage), [0])
    await advance(2 * HOUR)
    assert.deepEqual(await claimedIds(storage), [])
    await advance(HOUR)
    assert.deepEqual(await claimedIds(storage), [id])
  })

  check('what was delayed before an attempt is judged again, each time', async ({ storage }) => {
    await accept(storage, [note()])
    for (const messages of [
      ALL,
      { by: 'recipient', recipient: 'ada' },
      { by: 'address', address: 'email ada' },
    ]) {
      const id = await delayBeforeAttempt(storage)
      assert.deepEqual(await claimedIds(storage), [])
      assert.deepEqual(await judgeAgain(storage, messages as DelayedOf), [1])
      const { status, sendAt } = (await storage.notifications.get(id)) ?? {}
      assert.deepEqual([status, sendAt], ['queued', null])
    }
    assert.equal((await claim(storage))[0]?.attempts, 0)
  })

  check('a delay ends with its time, with a failed attempt and with another time', async (harness) => {
    const { storage, advance } = harness
    const now = await timeOf(storage)
    await accept(storage, [delayed(now, { dueAt: now + HOUR })])
    const [scheduled = ''] = await accept(storage, [delayed(now, { sendAt: now + HOUR / 2 })])
    await storage.notifications.reschedule(scheduled, now + 20 * HOUR)
    await advance(HOUR + 1_000)
    const job = await claimOne(storage)
    assert.deepEqual(await judgeAgain(storage), [0])
    await start(storage, [job])
    await storage.settle([retried(job, HOUR)])
    assert.deepEqual(await judgeAgain(storage), [0])
    assert.deepEqual(await claimedIds(storage), [])
    assert.equal((await jobOf(storage, scheduled))?.dueAt, now + 20 * HOUR)
  })

  check('what is judged again can still be cancelled', async ({ storage, secondDoor }) => {
    const [id = ''] = await accept(storage, [delayed(await timeOf(storage))])
    await judgeAgain(storage)
    assert.equal((await storage.notifications.cancel(id)).kind, 'cancelled')
    assert.deepEqual(await secondDoor.jobs(), [])
    assert.deepEqual(await judgeAgain(storage), [0])
  })

  check('a call goes in steps, each over at most so many, the oldest first', async ({ storage }) => {
    const now = await timeOf(storage)
    const categories = ['news', null, null, 'news', null, 'news', 'news']
    const ids: string[] = []
    for (const category of categories) ids.push(...(await accept(storage, [delayed(now, { category })])))
    const news = { by: 'categories', categories: ['news'] } as const
    const first = await storage.notifications.judgeAgain({
      organizationId: DEFAULT_ORGANIZATION,
      of: news,
      most: 2,
    })
    assert.equal(first.moved, 1)
    assert.deepEqual(await claimedIds(storage), [ids[0]])
    assert.equal(sum(await judgeAgain(storage, news, 2)), 3)
    assert.equal((await claimedIds(storage)).length, 3)
    assert.equal(sum(await judgeAgain(storage, ALL, 1)), 3)
    assert.equal((await claimedIds(storage)).length, 3)
  })

  check('of ten calls in a race, each delayed message is judged again once', async (harness) => {
    const { storage } = harness
    const now = await timeOf(storage)
    const ids = await accept(
      storage,
      TEN.flatMap(() => [delayed(now), delayed(now, { delayedFor: NOBODY })]),
    )
    const moved = await Promise.all(
      TEN.map((at) =>
        judgeAgain(storage, at % 2 === 0 ? ALL : { by: 'address', address: 'email nobody' }, 3),
      ),
    )
    assert.equal(sum(moved.flat()), ids.length)
    assert.deepEqual(await claimedIds(storage), [...ids].sort())
  })

  check('judged again in a race with cancels and claims, each goes once or is cancelled', async (harness) => {
    const { storage } = harness
    const now = await timeOf(storage)
    const ids = await accept(
      storage,
      TEN.map(() => delayed(now)),
    )
    const claims = TEN.map(() => claim(storage))
    const cancels = ids.slice(0, 5).map((id) => storage.notifications.cancel(id))
    const [moved, cancelled, claimed] = await Promise.all([
      Promise.all(TEN.map(() => judgeAgain(storage, ALL, 2))),
      Promise.all(cancels),
      Promise.all(claims),
    ])
    const gone = ids.filter((_, at) => cancelled[at]?.kind === 'cancelled')
    assert.ok(sum(moved.flat()) <= ids.length)
    await judgeAgain(storage)
    const went = [...claimed.flat().map((job) => idOf(job) ?? ''), ...(await claimedIds(storage))]
    assert.equal(new Set(went).size, went.length, 'one is claimed twice')
    const expected = ids.filter((id) => !gone.includes(id))
    assert.deepEqual([...new Set([...went, ...gone])].sort(), [...ids].sort())
    for (const id of expected) assert.ok(went.includes(id))
  })
}
