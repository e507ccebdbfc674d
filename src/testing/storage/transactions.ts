import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AcceptAnswer, AcceptRequest, Joined } from '../../core/ports/storage/accept.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { inTime } from '../in-time.ts'
import { type Accepting, accepting, checkWhileOpen, checkWithin } from './caller-transactions.ts'
import { accept, claim, claimOne, countOf, deliver, idOf, note, notes, TEN } from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'
import { find, insertion, item, itemKind, reminderKind, replacement } from './record-fixtures.ts'

const quota = { period: '2026-01', limit: 5 }

function request(change: Partial<AcceptRequest> = {}): AcceptRequest {
  return { organizationId: DEFAULT_ORGANIZATION, notifications: [note()], ...change }
}

function keyed(notifications: AcceptRequest['notifications'] = [note()]): AcceptRequest {
  const name = { organizationId: DEFAULT_ORGANIZATION, operation: 'send', key: 'order-17' } as const
  return request({
    notifications,
    idempotency: { ...name, fingerprint: 'f', result: '{}', ttlMs: 3_600_000 },
  })
}

/** Without a budget, which a transaction of a caller ignores. */
const joinedInsert = (...given: Parameters<typeof insertion>) => ({
  ...insertion(...given),
  budget: undefined,
})

const admittedOf = ({ answer }: Joined<AcceptAnswer>): number | string =>
  answer.kind === 'accepted' ? answer.admitted : answer.kind

/** Checks of accepts in `join`, or that a storage without it says so. */
export function transactionChecks(check: Check): void {
  const within = (
    title: string,
    run: (harness: StorageHarness, transactions: Accepting) => Promise<void>,
  ): void => checkWithin(check, title, (harness, transactions) => run(harness, accepting(transactions)))
  const whileOpen = (title: string, run: Parameters<typeof checkWhileOpen>[2]): void =>
    checkWhileOpen(check, title, run)

  within('what is committed is stored together with the caller’s data', async (harness, transactions) => {
    const { storage, secondDoor } = harness
    const notifications = notes(3)
    const ids = notifications.map(({ id }) => id)
    const joined = await transactions.commit(request({ notifications }), 'order 17')
    assert.equal(admittedOf(joined), 3)
    assert.equal(await joined.committed, true)
    assert.deepEqual(await transactions.rows(), ['order 17'])
    assert.deepEqual((await secondDoor.notifications()).map(({ id }) => id).sort(), ids.toSorted())
    assert.deepEqual((await claim(storage)).map(idOf), ids)
  })

  within('what is rolled back was never sent', async (harness, transactions) => {
    const { storage, secondDoor } = harness
    await transactions.rollBack({ ...keyed(notes(3)), quota }, 'order 17')
    assert.deepEqual(await transactions.rows(), [])
    assert.deepEqual(await secondDoor.notifications(), [])
    assert.deepEqual(await secondDoor.jobs(), [])
    assert.deepEqual(await secondDoor.idempotency(), [])
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 0)
    assert.deepEqual(await claim(storage), [])
    const [again] = await storage.accept([{ ...keyed(notes(5)), quota }])
    assert.ok(again?.kind === 'accepted')
    assert.equal(again.admitted, 5)
  })

  within('it keeps attachments apart, as an accept does', async ({ storage }, transactions) => {
    const file = { filename: 'a.txt', contentType: 'text/plain', content: 'aGVsbG8=' }
    const content = { body: 'B', parts: { attachments: [file] } }
    const stored = note({ content })
    await transactions.commit(request({ notifications: [stored] }), 'order 17')
    assert.deepEqual((await storage.notifications.get(stored.id))?.content, content)
    const { items } = await storage.notifications.list(
      { organizationId: DEFAULT_ORGANIZATION },
      { limit: 1, offset: 0 },
    )
    assert.deepEqual(items[0]?.content.parts, { attachments: [] })
  })

  within('it stores what an accept stores', async ({ storage, secondDoor }, transactions) => {
    const given = {
      channel: 'sms',
      to: '+491711234567',
      content: {
        template: { id: 'tpl_1', name: 'welcome', version: 3 },
        variables: { name: 'Ada', text: 'ü "quoted" \\ \u0000 \u{1F600} \ud800 $1 ? \u001b' },
        format: 'text',
      },
      priority: 'high',
      sendAt: 4_000_000_000_000,
      expiresAt: 4_000_000_000_001,
      resendOf: 'notif_1',
      trace: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    } as const
    const [one, other] = [note(given), note({ ...given, dueAt: 4_000_000_000_002 })]
    await storage.accept([request({ notifications: [one] })])
    await transactions.commit(request({ notifications: [other] }), 'a row')
    const stored = await Promise.all([one, other].map(({ id }) => storage.notifications.get(id)))
    const [first, second] = stored.map((found) => ({ ...found, id: '', createdAt: 0 }))
    assert.deepEqual(second, first)
    assert.deepEqual(
      (await secondDoor.jobs()).map(({ state, lane }) => [state, lane]),
      [0, 1].map(() => ['waiting', one.lane]),
    )
    const [{ dueAt } = {}] = (await storage.countJobs({ notificationId: other.id }, 1)).counts
    assert.equal(dueAt, other.dueAt)
  })

  within('records are stored and removed with it', async ({ storage }, transactions) => {
    const [before, gone] = [await item(storage, { name: 'taken' }), await item(storage)]
    const inserted = joinedInsert({ name: 'new' })
    const kept = joinedInsert({ name: 'taken' }, { ifTaken: 'keep' })
    const reminder = { ...joinedInsert(), kind: reminderKind, value: { at: 0 } }
    const removed = { kind: itemKind, do: 'remove', id: gone.id } as const
    const nothing = { kind: itemKind, do: 'remove', id: 'unknown' } as const
    const records = [inserted, kept, removed, nothing, reminder]
    const stored = note()
    await transactions.rollBack(request({ records }), 'undone')
    assert.equal(await find(storage, itemKind, inserted.id), null)
    assert.notEqual(await find(storage, itemKind, gone.id), null)
    const joined = await transactions.commit(request({ notifications: [stored], records }), 'order 17')
    assert.equal(admittedOf(joined), 1)
    assert.deepEqual((await find(storage, itemKind, inserted.id))?.value, { name: 'new' })
    assert.equal(await find(storage, itemKind, gone.id), null)
    assert.equal(await find(storage, itemKind, kept.id), null)
    assert.deepEqual((await find(storage, itemKind, before.id))?.revision, 1)
    const { due } = await storage.records.claimDue({ kinds: [reminderKind], most: 10, leaseMs: 1_000 })
    assert.deepEqual(
      due.map(({ record }) => record.id),
      [reminder.id],
    )
    assert.notEqual(await storage.notifications.get(stored.id), null)
  })

  within(
    'a record that is refused stores nothing of the request',
    async ({ storage, secondDoor }, transactions) => {
      await item(storage, { name: 'taken' })
      const other = joinedInsert({ name: 'other' })
      const cases = [
        [joinedInsert({ name: 'taken' }), 'taken'],
        [joinedInsert({}, { organizationId: 'org_unknown' }), 'no_organization'],
      ] as const
      for (const [refused, kind] of cases) {
        const { answer, committed } = await transactions.commit(
          { ...keyed(), quota, records: [other, refused] },
          `a row with ${kind}`,
        )
        assert.deepEqual(answer, { kind: 'refused', write: { kind, at: 1 } })
        assert.equal(await committed, false)
      }
      assert.equal(await find(storage, itemKind, other.id), null)
      assert.deepEqual(await secondDoor.notifications(), [])
      assert.deepEqual(await secondDoor.idempotency(), [])
      assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 0)
      assert.equal(
        (await transactions.commit({ ...keyed(), records: [other] }, 'a row')).answer.kind,
        'accepted',
      )
      assert.equal(
        (await transactions.commit({ ...keyed(), records: [other] }, 'again')).answer.kind,
        'replayed',
      )
    },
  )

  within('its trace goes along to the delivery', async ({ storage }, transactions) => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    await transactions.commit(request({ notifications: [note({ trace })] }), 'a row')
    const job = await claimOne(storage)
    assert.ok(job.kind === 'notification')
    assert.equal(job.notification.trace, trace)
  })

  within('the quota is counted in both', async ({ storage }, transactions) => {
    await storage.accept([request({ notifications: notes(2), quota })])
    const some = await transactions.commit(request({ notifications: notes(2), quota }), 'some')
    assert.equal(admittedOf(some), 2)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 4)
    const [rest] = await storage.accept([request({ notifications: notes(4), quota })])
    assert.ok(rest?.kind === 'accepted')
    assert.equal(rest.admitted, 1)
    const none = await transactions.commit(keyedWith(quota), 'none')
    assert.equal(admittedOf(none), 0)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 5)
    assert.equal((await storage.findIdempotent([nameOf(keyed())]))[0], null)
  })

  within('the quota counts each addressee in both', async ({ storage }, transactions) => {
    const copied = { ...note(), addressees: 3 }
    const some = await transactions.commit(
      request({ notifications: [copied, note(), copied], quota }),
      'some',
    )
    assert.equal(admittedOf(some), 2)
    const none = await transactions.commit(
      request({ notifications: [{ ...note(), addressees: 2 }], quota }),
      'none',
    )
    assert.equal(admittedOf(none), 0)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 4)
  })

  within('the quota admits a request with records as a whole', async ({ storage }, transactions) => {
    const [none, all] = [joinedInsert(), joinedInsert()]
    const over = await transactions.commit(
      request({ notifications: notes(6), quota, records: [none] }),
      'over',
    )
    assert.equal(admittedOf(over), 0)
    assert.equal(await find(storage, itemKind, none.id), null)
    const within = await transactions.commit(
      request({ notifications: notes(5), quota, records: [all] }),
      'within',
    )
    assert.equal(admittedOf(within), 5)
    assert.notEqual(await find(storage, itemKind, all.id), null)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 5)
  })

  within('the quota admits a group as a whole in both', async ({ storage }, transactions) => {
    const grouped = Array.from({ length: 3 }, () => note({ recipient: 'user:1', groupId: 'grp_1' }))
    const some = await transactions.commit(
      request({ notifications: [...notes(3), ...grouped], quota }),
      'some',
    )
    assert.equal(admittedOf(some), 3)
    const none = await transactions.commit(request({ notifications: grouped, quota }), 'none')
    assert.equal(admittedOf(none), 0)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 3)
  })

  within('a key is used once over both', async ({ storage, secondDoor }, transactions) => {
    const joined = await transactions.commit(keyed(notes(2)), 'first')
    assert.ok(joined.answer.kind === 'accepted')
    const record = { fingerprint: 'f', result: '{}', admitted: 2, createdAt: joined.answer.createdAt }
    const [replayed] = await storage.accept([keyed()])
    assert.deepEqual(replayed, { kind: 'replayed', record })
    const again = await transactions.commit(keyed(), 'again')
    assert.deepEqual(again.answer, { kind: 'replayed', record })
    assert.equal((await secondDoor.notifications()).length, 2)
  })

  within('ten that race for one key store once', async ({ secondDoor }, transactions) => {
    const answers = await Promise.all(TEN.map((index) => transactions.commit(keyed(), String(index))))
    assert.equal(
      countOf(answers, ({ answer }) => answer.kind === 'accepted'),
      1,
    )
    assert.equal(
      countOf(answers, ({ answer }) => answer.kind === 'replayed'),
      9,
    )
    assert.equal((await secondDoor.notifications()).length, 1)
  })

  within('ten at once count what they store', async ({ storage, secondDoor }, transactions) => {
    const answers = await Promise.all(
      TEN.map((index) =>
        transactions.commit(
          request({ notifications: notes(4), quota: { ...quota, limit: 100 } }),
          String(index),
        ),
      ),
    )
    assert.deepEqual(
      answers.map(admittedOf),
      TEN.map(() => 4),
    )
    assert.equal((await secondDoor.notifications()).length, 40)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 40)
  })

  whileOpen(
    'an open one holds up no other work',
    async ({ storage, secondDoor, transactions }, begin, end) => {
      const metered = { quota: { ...quota, limit: 100 } }
      const open = await begin('open')
      await open.joined.accept({ ...keyed(notes(2)), ...metered })
      const others: Readonly<Record<string, () => Promise<unknown>>> = {
        'an accept': () => storage.accept([request(metered)]),
        "another transaction of a caller's": async () =>
          transactions?.commit((joined) => joined.accept(request(metered)), 'beside'),
        'a whole delivery': () => deliver(storage),
        'a record': () => item(storage),
        'a cancellation': async () =>
          storage.notifications.cancel((await accept(storage, [note()]))[0] ?? ''),
      }
      for (const [what, work] of Object.entries(others))
        await inTime(work(), `${what} waits for an open transaction of a caller's`)
      assert.equal((await secondDoor.notifications()).length, 3)
      await end(open, 'commit')
      assert.equal((await secondDoor.notifications()).length, 5)
    },
  )

  whileOpen('records that it wrote keep no others waiting', async ({ storage }, begin, end) => {
    const [held, other] = [await item(storage), await item(storage)]
    const due = { ...joinedInsert(), kind: reminderKind, value: { at: 0 } }
    await storage.records.write([[due]])
    const open = await begin('open')
    const removed = [held, due].map(({ id }) => ({ do: 'remove', id }) as const)
    const [first, second] = removed as [(typeof removed)[0], (typeof removed)[0]]
    const records = [{ kind: itemKind, ...first }, { kind: reminderKind, ...second }, joinedInsert()]
    assert.equal((await open.joined.accept(request({ records }))).answer.kind, 'accepted')
    const sets = [[replacement(held, { name: 'late' })], [replacement(other, { name: 'new' }), insertion()]]
    const [refused, written] = await inTime(
      storage.records.write(sets),
      'a write waits for an open transaction',
    )
    assert.ok(refused?.kind === 'failed')
    assert.deepEqual([refused.error.code, written?.kind], ['service_unavailable', 'written'])
    const claimDue = () => storage.records.claimDue({ kinds: [reminderKind], most: 1, leaseMs: 60_000 })
    assert.deepEqual((await inTime(claimDue(), 'a claim waits for an open transaction')).due, [])
    await end(open, 'rollBack')
    assert.equal((await claimDue()).due[0]?.record.id, due.id)
    assert.equal((await storage.records.write(sets.slice(0, 1)))[0]?.kind, 'written')
  })

  whileOpen(
    'a key that was stored since it began is replayed',
    async ({ storage, secondDoor }, begin, end) => {
      const open = await begin('open')
      const before = await open.joined.reads?.findIdempotent([nameOf(keyed())])
      assert.deepEqual(before ?? [null], [null])
      const [first] = await storage.accept([keyed(notes(2))])
      assert.ok(first?.kind === 'accepted')
      const { answer } = await open.joined.accept(keyed())
      const record = { fingerprint: 'f', result: '{}', admitted: 2, createdAt: first.createdAt }
      assert.deepEqual(answer, { kind: 'replayed', record })
      await end(open, 'commit')
      assert.equal((await secondDoor.notifications()).length, 2)
    },
  )

  for (const how of ['commit', 'rollBack'] as const) {
    const meaning = how === 'commit' ? 'replayed once that is committed' : 'free once that is rolled back'
    whileOpen(`a key that another stores is ${meaning}`, async ({ secondDoor }, begin, end) => {
      const first = await begin('first')
      const stored = await first.joined.accept(keyed(notes(2)))
      assert.ok(stored.answer.kind === 'accepted')
      const second = await begin('second')
      const coming = second.joined.accept(keyed())
      // Long enough for the call to wait inside the database.
      await Promise.race([coming, sleep(100)])
      await end(first, how)
      const { answer } = await inTime(coming, 'it still waits for a transaction that has ended')
      await end(second, 'commit')
      const { createdAt } = stored.answer
      const record = { fingerprint: 'f', result: '{}', admitted: 2, createdAt }
      if (how === 'commit') assert.deepEqual(answer, { kind: 'replayed', record })
      else assert.equal(answer.kind, 'accepted')
      assert.equal((await secondDoor.notifications()).length, how === 'commit' ? 2 : 1)
    })
  }

  within('a request that fails stores nothing of itself', async ({ storage, secondDoor }, transactions) => {
    const taken = note()
    await storage.accept([request({ notifications: [taken] })])
    const failed = await transactions.commit({ ...keyed([note(), taken]), quota }, 'a row')
    assert.ok(failed.answer.kind === 'failed')
    assert.equal(failed.answer.error.code, 'already_exists')
    assert.equal(await failed.committed, false)
    const unknown = await transactions.commit(request({ organizationId: 'org_unknown' }), 'a row')
    assert.ok(unknown.answer.kind === 'failed')
    assert.equal(unknown.answer.error.code, 'not_found')
    assert.equal((await secondDoor.notifications()).length, 1)
    assert.equal((await secondDoor.jobs()).length, 1)
    assert.deepEqual(await secondDoor.idempotency(), [])
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 0)
    assert.equal(admittedOf(await transactions.commit(request(), 'a row')), 1)
  })
}

function keyedWith(metered: NonNullable<AcceptRequest['quota']>): AcceptRequest {
  return { ...keyed(), quota: metered }
}

function nameOf({ idempotency }: AcceptRequest): NonNullable<AcceptRequest['idempotency']> {
  assert.ok(idempotency !== undefined)
  return idempotency
}
