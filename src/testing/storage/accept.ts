import assert from 'node:assert/strict'
import type { AcceptRequest } from '../../core/ports/storage/accept.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { accept, claim, countOf, ended, idOf, NO_LABELS, note, notes, organization, TEN } from './fixtures.ts'
import type { Check } from './harness.ts'

function request(change: Partial<AcceptRequest> = {}): AcceptRequest {
  return { organizationId: DEFAULT_ORGANIZATION, notifications: [note()], ...change }
}

export function acceptChecks(check: Check): void {
  check('accept stores the notification as it was given, with a job', async ({ storage, secondDoor }) => {
    const notification = note({
      channel: 'sms',
      to: '+491711234567',
      content: {
        template: { id: 'tpl_1', name: 'welcome', version: 3 },
        variables: {
          name: 'Ada',
          nested: { list: [1, 'zwei', null, true] },
          text: 'ü "quoted" \u0000 \u{1F600}',
        },
        format: 'text',
      },
      priority: 'high',
      expiresAt: 4_000_000_000_000,
    })
    const [answer] = await storage.accept([request({ notifications: [notification] })])
    assert.ok(answer?.kind === 'accepted')
    assert.equal(answer.admitted, 1)
    const { lane, ...stored } = notification
    assert.deepEqual(await storage.notifications.get(notification.id), {
      ...stored,
      ...NO_LABELS,
      organizationId: DEFAULT_ORGANIZATION,
      resendOf: null,
      status: 'queued',
      provider: null,
      providerMessageId: null,
      error: null,
      createdAt: answer.createdAt,
    })
    const [row, ...others] = await secondDoor.notifications()
    assert.deepEqual(others, [])
    assert.deepEqual([row?.id, row?.status], [notification.id, 'queued'])
    const [job] = await secondDoor.jobs()
    assert.deepEqual([job?.lane, job?.state, job?.attempts], [lane, 'ready', 0])
  })

  check('accept shares nothing with its caller', async ({ storage }) => {
    const variables = { name: 'Ada' }
    const content = { template: { id: 'tpl_1', name: 'welcome', version: 1 }, variables }
    const [id = ''] = await accept(storage, [note({ content })])
    variables.name = 'Eve'
    assert.deepEqual((await storage.notifications.get(id))?.content, {
      ...content,
      variables: { name: 'Ada' },
    })
  })

  check('accept answers each request of a set, in order', async ({ storage, secondDoor }) => {
    const other = await organization(storage)
    const answers = await storage.accept([
      request({ notifications: notes(3) }),
      request({ notifications: [] }),
      request({ organizationId: other, notifications: notes(2) }),
    ])
    assert.deepEqual(
      answers.map((answer) => (answer.kind === 'accepted' ? answer.admitted : answer.kind)),
      [3, 0, 2],
    )
    const rows = await secondDoor.notifications()
    assert.equal(
      countOf(rows, ({ organizationId }) => organizationId === other),
      2,
    )
    assert.equal(
      countOf(rows, ({ organizationId }) => organizationId === DEFAULT_ORGANIZATION),
      3,
    )
  })

  check('accept keeps the order in which notifications were sent', async ({ storage }) => {
    const ids = await accept(storage, notes(20))
    assert.deepEqual((await claim(storage)).map(idOf), ids)
  })

  check('accept of an empty set stores nothing', async ({ storage }) => {
    assert.deepEqual(await storage.accept([]), [])
  })

  check(
    'accept fails a request of an unknown organization, and it alone',
    async ({ storage, secondDoor }) => {
      const answers = await storage.accept([request(), request({ organizationId: 'org_unknown' }), request()])
      assert.deepEqual(
        answers.map(({ kind }) => kind),
        ['accepted', 'failed', 'accepted'],
      )
      assert.ok(answers[1]?.kind === 'failed')
      assert.equal(answers[1].error.code, 'not_found')
      assert.equal((await secondDoor.notifications()).length, 2)
    },
  )

  check('accept fails a request with a taken id whole, and it alone', async ({ storage, secondDoor }) => {
    const taken = note()
    await accept(storage, [taken])
    const quota = { period: '2026-01', limit: 100 }
    const answers = await storage.accept([
      request({ notifications: notes(2), quota }),
      request({ notifications: [note(), taken, note()], quota }),
      request({ notifications: notes(3), quota }),
    ])
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['accepted', 'failed', 'accepted'],
    )
    assert.ok(answers[1]?.kind === 'failed')
    assert.equal(answers[1].error.code, 'already_exists')
    assert.equal((await secondDoor.notifications()).length, 6)
    assert.equal((await secondDoor.jobs()).length, 6)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, '2026-01'), 5)
  })

  check('a notification with a due time is first claimed then, and queued until then', async (harness) => {
    const { storage, secondDoor } = harness
    const [probe] = await storage.accept([request({ notifications: [] })])
    assert.ok(probe?.kind === 'accepted')
    const { createdAt } = probe
    const ids = await accept(storage, [
      note({ dueAt: createdAt + 60_000 }),
      note({ dueAt: createdAt + 60_000, sendAt: createdAt + 120_000 }),
      note({ dueAt: createdAt + 60_000, sendAt: createdAt + 30_000 }),
      note({ dueAt: createdAt - 60_000 }),
    ])
    const found = await Promise.all(ids.map((id) => storage.notifications.get(id)))
    assert.deepEqual(
      found.map((one) => one?.status),
      ['queued', 'scheduled', 'scheduled', 'queued'],
    )
    assert.deepEqual((await secondDoor.jobs()).map(({ state }) => state).sort(), [
      'ready',
      'waiting',
      'waiting',
      'waiting',
    ])
    async function deliverDue(): Promise<(string | undefined)[]> {
      const jobs = await claim(storage)
      await storage.settle(jobs.map((job) => ended(job)))
      return jobs.map(idOf).sort()
    }
    assert.deepEqual(await deliverDue(), [ids[3]])
    await harness.advance(61_000)
    assert.deepEqual(await deliverDue(), [ids[0], ids[2]].sort())
    await harness.advance(60_000)
    assert.deepEqual(await deliverDue(), [ids[1]])
  })

  check(
    'accept makes a notification of the future scheduled, and one of the past queued',
    async (harness) => {
      const { storage, secondDoor } = harness
      const [probe] = await storage.accept([request({ notifications: [] })])
      assert.ok(probe?.kind === 'accepted')
      const [later = '', earlier = ''] = await accept(storage, [
        note({ sendAt: probe.createdAt + 60_000 }),
        note({ sendAt: probe.createdAt - 60_000 }),
      ])
      assert.equal((await storage.notifications.get(later))?.status, 'scheduled')
      assert.equal((await storage.notifications.get(earlier))?.status, 'queued')
      assert.deepEqual(
        (await storage.notifications.timeline(later)).map(({ type }) => type),
        ['scheduled'],
      )
      assert.deepEqual((await secondDoor.jobs()).map(({ state }) => state).sort(), ['ready', 'waiting'])
      const [job] = await claim(storage)
      assert.ok(job !== undefined)
      assert.equal(idOf(job), earlier)
      await storage.settle([ended(job)])
      await harness.advance(60_001)
      assert.deepEqual((await claim(storage)).map(idOf), [later])
    },
  )

  check('all notifications of a large request are stored', async ({ storage, secondDoor }) => {
    const ids = await accept(storage, notes(2_500))
    const stored = (await secondDoor.notifications()).map(({ id }) => id)
    assert.deepEqual(stored.sort(), ids.sort())
    assert.equal((await secondDoor.jobs()).length, 2_500)
  })

  check('the quota admits in order until it is used up', async ({ storage, secondDoor }) => {
    const quota = { period: '2026-01', limit: 5 }
    const [first, second, third] = [notes(2), notes(4), notes(1)]
    const answers = await storage.accept(
      [first, second, third].map((notifications) => request({ notifications, quota })),
    )
    assert.deepEqual(
      answers.map((answer) => answer.kind === 'accepted' && answer.admitted),
      [2, 3, 0],
    )
    const stored = (await secondDoor.notifications()).map(({ id }) => id).sort()
    assert.deepEqual(stored, [...first, ...second.slice(0, 3)].map(({ id }) => id).sort())
    assert.equal((await secondDoor.jobs()).length, 5)
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, '2026-01'), 5)
  })

  check('the quota counts each period and organization apart', async ({ storage }) => {
    const other = await organization(storage)
    const quota = { period: '2026-01', limit: 1 }
    const answers = await storage.accept([
      request({ quota }),
      request({ quota: { ...quota, period: '2026-02' } }),
      request({ quota, organizationId: other }),
      request({ quota }),
      request(),
    ])
    assert.deepEqual(
      answers.map((answer) => answer.kind === 'accepted' && answer.admitted),
      [1, 1, 1, 0, 1],
    )
    assert.equal(await storage.quotaUsed(other, '2026-01'), 1)
    assert.equal(await storage.quotaUsed(other, '2026-02'), 0)
  })

  check('a lowered quota admits nothing more', async ({ storage }) => {
    await storage.accept([request({ notifications: notes(3), quota: { period: 'p', limit: 5 } })])
    const [answer] = await storage.accept([request({ quota: { period: 'p', limit: 2 } })])
    assert.ok(answer?.kind === 'accepted')
    assert.equal(answer.admitted, 0)
  })

  check('ten accepts in a race never exceed the quota', async ({ storage, secondDoor }) => {
    const quota = { period: '2026-01', limit: 25 }
    const answers = await Promise.all(
      TEN.map(() => storage.accept([request({ notifications: notes(4), quota })])),
    )
    const admitted = answers.flat().map((answer) => (answer.kind === 'accepted' ? answer.admitted : 0))
    assert.equal(
      admitted.reduce((sum, one) => sum + one, 0),
      25,
    )
    assert.equal((await secondDoor.notifications()).length, 25)
  })
}
