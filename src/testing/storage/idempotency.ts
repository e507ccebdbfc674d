import assert from 'node:assert/strict'
import type { AcceptRequest, IdempotencyContent, IdempotencyKey } from '../../core/ports/storage/accept.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { countOf, note, notes, organization, TEN } from './fixtures.ts'
import type { Check } from './harness.ts'

const HOUR = 3_600_000
const NAME: IdempotencyKey = { organizationId: DEFAULT_ORGANIZATION, operation: 'send', key: 'order-17' }

function keyed(
  change: Partial<IdempotencyKey & IdempotencyContent> = {},
  notifications: AcceptRequest['notifications'] = [note()],
): AcceptRequest {
  const idempotency = { ...NAME, fingerprint: 'fingerprint', result: '{"id":1}', ttlMs: HOUR, ...change }
  return { organizationId: idempotency.organizationId, notifications, idempotency }
}

export function idempotencyChecks(check: Check): void {
  check('a repeated key is answered from its record', async ({ storage, secondDoor }) => {
    const [first] = await storage.accept([keyed({}, notes(3))])
    assert.ok(first?.kind === 'accepted')
    const [second] = await storage.accept([keyed({ fingerprint: 'another', result: 'another' })])
    assert.deepEqual(second, {
      kind: 'replayed',
      record: { fingerprint: 'fingerprint', result: '{"id":1}', admitted: 3, createdAt: first.createdAt },
    })
    assert.equal((await secondDoor.notifications()).length, 3)
    assert.deepEqual(await secondDoor.idempotency(), [{ fingerprint: 'fingerprint', admitted: 3 }])
  })

  check('equal keys within one set store once', async ({ storage, secondDoor }) => {
    const answers = await storage.accept([keyed(), keyed(), keyed({ key: 'order-18' })])
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['accepted', 'replayed', 'accepted'],
    )
    assert.equal((await secondDoor.notifications()).length, 2)
  })

  check('ten parallel equal requests store once', async ({ storage, secondDoor }) => {
    const answers = (await Promise.all(TEN.map(() => storage.accept([keyed()])))).flat()
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'accepted'),
      1,
    )
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'replayed'),
      9,
    )
    assert.equal((await secondDoor.notifications()).length, 1)
    assert.equal((await secondDoor.jobs()).length, 1)
  })

  check('organization, operation and key name a record together', async ({ storage, secondDoor }) => {
    const other = await organization(storage)
    const answers = await storage.accept([
      keyed(),
      keyed({ operation: 'batch' }),
      keyed({ operation: 'resend' }),
      keyed({ key: 'ORDER-17' }),
      keyed({ organizationId: other }),
    ])
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'accepted'),
      5,
    )
    assert.equal((await secondDoor.idempotency()).length, 5)
  })

  check('an expired record is replaced', async (harness) => {
    const { storage, secondDoor } = harness
    await storage.accept([keyed()])
    await harness.advance(HOUR + 1)
    assert.deepEqual(await storage.findIdempotent([NAME]), [null])
    const [again] = await storage.accept([keyed({ fingerprint: 'new' })])
    assert.equal(again?.kind, 'accepted')
    assert.equal((await secondDoor.notifications()).length, 2)
    assert.equal((await storage.findIdempotent([NAME]))[0]?.fingerprint, 'new')
  })

  check('a record lives as long as it was said to', async (harness) => {
    await harness.storage.accept([keyed({ ttlMs: 10_000 })])
    await harness.advance(8_000)
    assert.notEqual((await harness.storage.findIdempotent([NAME]))[0], null)
    await harness.advance(2_001)
    assert.deepEqual(await harness.storage.findIdempotent([NAME]), [null])
  })

  check('findIdempotent sees nothing of another organization or operation', async ({ storage }) => {
    await storage.accept([keyed()])
    const others: IdempotencyKey[] = [
      { ...NAME, organizationId: await organization(storage) },
      { ...NAME, operation: 'batch' },
    ]
    assert.deepEqual(await storage.findIdempotent(others), [null, null])
  })

  check('findIdempotent answers in order', async ({ storage }) => {
    await storage.accept([keyed({ key: 'a', result: 'A' }), keyed({ key: 'b', result: 'B' })])
    const found = await storage.findIdempotent(['b', 'x', 'a'].map((key) => ({ ...NAME, key })))
    assert.deepEqual(
      found.map((record) => record?.result ?? null),
      ['B', null, 'A'],
    )
  })

  check(
    'a record says how many the quota admitted; none is kept for none',
    async ({ storage, secondDoor }) => {
      const quota = { period: '2026-01', limit: 2 }
      const [some, none] = await storage.accept([
        { ...keyed({}, notes(5)), quota },
        { ...keyed({ key: 'order-18' }, notes(5)), quota },
      ])
      assert.ok(some?.kind === 'accepted' && none?.kind === 'accepted')
      assert.deepEqual([some.admitted, none.admitted], [2, 0])
      assert.deepEqual(await secondDoor.idempotency(), [{ fingerprint: 'fingerprint', admitted: 2 }])
    },
  )

  check('a request without notifications is remembered', async ({ storage }) => {
    await storage.accept([keyed({ operation: 'batch' }, [])])
    const [again] = await storage.accept([keyed({ operation: 'batch' }, [])])
    assert.equal(again?.kind, 'replayed')
  })

  check('a failed request leaves no record', async ({ storage, secondDoor }) => {
    const taken = note()
    await storage.accept([{ organizationId: DEFAULT_ORGANIZATION, notifications: [taken] }])
    const [answer] = await storage.accept([keyed({}, [note(), taken])])
    assert.equal(answer?.kind, 'failed')
    assert.deepEqual(await secondDoor.idempotency(), [])
  })
}
