import assert from 'node:assert/strict'
import type { KeepingInsert } from '../../core/ports/storage/records.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION, OPEN, organizationKind } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  goneAndBack,
  newEndpoint,
  note,
  notes,
  organization,
  page,
  sent,
  start,
  TEN,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'
import {
  find,
  insertion,
  item,
  itemKind,
  keeping,
  otherKind,
  outcome,
  removal,
  replacement,
  write,
} from './record-fixtures.ts'

const QUOTA = { period: '2026-11', limit: 1_000 }

/** A delivered notification with a pending event. */
async function fillHistory(storage: Storage, organizationId: string): Promise<void> {
  await endpoint(storage, { organizationId })
  await storage.accept([{ organizationId, notifications: [note()], quota: QUOTA }])
  await deliver(storage, [sent({ providerMessageId: `m-${unique()}` })])
}

/** Two waiting notifications and a row of every other kind. */
async function fillOthers(storage: Storage, organizationId: string): Promise<void> {
  await storage.accept([{ organizationId, notifications: notes(2), quota: QUOTA }])
  await write(storage, ...[1, 2, 3].map((n) => insertion({ name: `n${n}`, group: 'g' }, { organizationId })))
  await write(storage, keepingFor(organizationId))
  const fact = { type: 'delivered', provider: 'own', providerMessageId: 'unknown' } as const
  await storage.recordReceipts([{ provider: 'own', organizationId, dedupeKey: unique(), fact }])
}

function keepingFor(organizationId: string | null): KeepingInsert {
  return keeping(unique(), organizationId, { reason: 'manual', source: null })
}

/** Begins a deletion that removes the others at once. */
function begin(storage: Storage, id: string, force: boolean): Promise<number | null> {
  return storage.deletions.begin(id, { force, kinds: [otherKind] })
}

async function deletingOf(storage: Storage, id: string): Promise<string | null | undefined> {
  return (await find(storage, organizationKind, id))?.value.deleting
}

/** Purges in steps until nothing changes; returns the result of each step. */
async function purgeAll(storage: Storage, id: string, most = 100): Promise<string> {
  for (let steps = 0; steps < 200; steps += 1) {
    const { notifications, left } = await storage.deletions.purge(id, most)
    assert.ok(notifications <= most)
    if (left !== 'more' && left !== 'transactions') return left
  }
  assert.fail('the purge does not end')
}

async function kindOf(storage: Storage, organizationId: string): Promise<string> {
  const [answer] = await storage.accept([{ organizationId, notifications: [note()] }])
  return answer?.kind === 'failed' ? answer.error.code : String(answer?.kind)
}

export function deletionChecks(check: Check): void {
  for (const most of [1, 100]) {
    check(
      `a forced deletion in steps of ${most} leaves nothing of it, and all of others`,
      async (harness) => {
        const { storage, secondDoor } = harness
        const [id, other] = [await organization(storage), await organization(storage)]
        for (const one of [id, other]) await fillHistory(storage, one)
        for (const one of [id, other]) await fillOthers(storage, one)
        const before = await secondDoor.owned(other)
        assert.deepEqual(await secondDoor.owned(id), before)
        assert.equal(await begin(storage, id, true), 0)
        assert.equal(await purgeAll(storage, id, most), 'nothing')
        assert.deepEqual(await secondDoor.owned(id), {})
        assert.deepEqual(await secondDoor.owned(other), before)
        const { handovers, unmatchedReceipts } = await secondDoor.dependents()
        assert.deepEqual([handovers, unmatchedReceipts], [1, 1])
        assert.equal(await deletingOf(storage, id), undefined)
        assert.equal((await claim(storage)).length, 2)
      },
    )
  }

  check(
    'a deletion leaves an organization whose id begins with that of the deleted one',
    async ({ storage }) => {
      const id = await organization(storage)
      const longer = await organization(storage, `${id}0`)
      for (const organizationId of [id, longer])
        await storage.accept([{ organizationId, notifications: [note()], quota: QUOTA }])
      assert.equal(await begin(storage, id, true), 0)
      assert.equal(await purgeAll(storage, id), 'nothing')
      assert.equal(await storage.quotaUsed(longer, QUOTA.period), 1)
      assert.equal((await claimOne(storage)).organizationId, longer)
    },
  )

  check('a deletion removes all events about its endpoints', async ({ storage, secondDoor }) => {
    const id = await organization(storage)
    const [lost] = [
      await endpoint(storage, { organizationId: id }),
      await endpoint(storage, { organizationId: id }),
    ]
    for (let times = 0; times < 3; times += 1) await goneAndBack(storage, lost)
    assert.equal(await begin(storage, id, true), 0)
    assert.equal(await purgeAll(storage, id), 'nothing')
    assert.deepEqual(await secondDoor.owned(id), {})
  })

  check('without force it does not begin while jobs wait', async ({ storage }) => {
    const id = await organization(storage)
    const [kept] = await write(storage, keepingFor(id))
    await accept(storage, notes(3), id)
    assert.equal(await begin(storage, id, false), 3)
    assert.equal(await deletingOf(storage, id), null)
    assert.deepEqual(await find(storage, otherKind, kept?.id ?? ''), kept)
    assert.equal(await kindOf(storage, id), 'accepted')
    assert.deepEqual(await storage.deletions.purge(id, 100), { notifications: 0, left: 'nothing' })
    assert.equal(await deletingOf(storage, id), null)
    assert.equal(await begin(storage, 'org_unknown', false), null)
  })

  check('what is stored with the begin of a deletion is stored, and not without it', async ({ storage }) => {
    const id = await organization(storage)
    const [early, late] = [keepingFor(null), keepingFor(null)]
    const start = (also: KeepingInsert, force: boolean, of = id) =>
      storage.deletions.begin(of, { force, kinds: [], also: [also] })
    await accept(storage, notes(1), id)
    assert.equal(await start(early, false), 1)
    assert.equal(await start(early, true, 'org_unknown'), null)
    assert.equal(await find(storage, otherKind, early.id), null)
    assert.equal(await start(late, true), 0)
    assert.deepEqual((await find(storage, otherKind, late.id))?.value, late.value)
  })

  check('from its begin on nothing is accepted, created or changed', async ({ storage }) => {
    const id = await organization(storage)
    const before = await find(storage, organizationKind, id)
    assert.ok(before !== null)
    const stored = await item(storage, {}, { organizationId: id })
    assert.equal(await kindOf(storage, id), 'accepted')
    await deliver(storage)
    assert.equal(await begin(storage, id, false), 0)
    assert.equal(await kindOf(storage, id), 'not_found')
    const [first, second] = await storage.accept([
      { organizationId: id, notifications: [note()], quota: QUOTA },
      { organizationId: DEFAULT_ORGANIZATION, notifications: [note()], quota: QUOTA },
    ])
    assert.deepEqual([first?.kind, second?.kind], ['failed', 'accepted'])
    await assert.rejects(storage.webhookEndpoints.create(newEndpoint({ organizationId: id }), 100), {
      code: 'not_found',
    })
    for (const refused of [
      insertion({}, { organizationId: id }),
      keepingFor(id),
      replacement(stored, { changed: true }),
    ]) {
      assert.equal(await outcome(storage, refused), 'no_organization 0')
    }
    const { revision, value } = before
    const renaming = { kind: organizationKind, do: 'replace', id, revision, value } as const
    assert.equal(await outcome(storage, renaming), 'stale 0')
    assert.deepEqual(await write(storage, removal(itemKind, stored.id)), [stored])
  })

  check(
    'at its begin it leaves the open organizations, and records of some kinds go',
    async ({ storage }) => {
      const [id, other] = [await organization(storage), await organization(storage)]
      const kept = [await item(storage, {}, { organizationId: id })]
      const owners = [id, id, other, null]
      const others = await write(storage, ...owners.map((owner) => keepingFor(owner)))
      assert.equal(await begin(storage, id, false), 0)
      const refs = others.map((record) => ({ id: record?.id ?? '' }))
      assert.deepEqual(await storage.records.get(otherKind, refs), [null, null, ...others.slice(2)])
      assert.deepEqual((await storage.records.list(itemKind, { organizationId: id }, page())).items, kept)
      const listed = async (list?: string) => {
        const { items } = await storage.records.list(organizationKind, { organizationId: null, list }, page())
        return items.map((one) => [one.id, one.value.deleting])
      }
      assert.deepEqual(await listed(), [
        [other, null],
        [id, 'plain'],
        [DEFAULT_ORGANIZATION, null],
      ])
      assert.deepEqual(await listed(OPEN), [
        [other, null],
        [DEFAULT_ORGANIZATION, null],
      ])
      assert.equal(await begin(storage, id, true), 0)
      assert.equal(await deletingOf(storage, id), 'force')
      assert.equal(await begin(storage, id, false), 0)
      assert.equal(await deletingOf(storage, id), 'force')
    },
  )

  check('what has a job yet is delivered first, unless force is added', async ({ storage, secondDoor }) => {
    const id = await organization(storage)
    await endpoint(storage, { organizationId: id, events: ['notification.delivered'] })
    const [sentId = ''] = await accept(storage, [note()], id)
    await deliver(storage, [sent({ providerMessageId: 'm-late' })])
    assert.equal(await begin(storage, id, false), 0)
    const fact = { type: 'delivered', provider: 'smtp', providerMessageId: 'm-late' } as const
    await storage.recordReceipts([{ provider: 'smtp', organizationId: null, dedupeKey: unique(), fact }])
    assert.equal(await purgeAll(storage, id), 'jobs')
    assert.equal((await secondDoor.notifications()).length, 1)
    assert.notEqual(await storage.notifications.get(sentId), null)
    assert.equal(await begin(storage, id, false), 0)
    assert.equal(await purgeAll(storage, id), 'jobs')
    assert.equal(await begin(storage, id, true), 0)
    assert.equal(await begin(storage, id, false), 0)
    assert.equal(await purgeAll(storage, id), 'nothing')
    assert.deepEqual(await secondDoor.owned(id), {})
  })

  check('an attempt under way finds its job gone', async ({ storage, secondDoor }) => {
    const id = await organization(storage)
    await accept(storage, notes(2), id)
    const job = await claimOne(storage)
    assert.deepEqual(await start(storage, [job]), [true])
    assert.equal(await begin(storage, id, true), 0)
    assert.equal(await purgeAll(storage, id), 'nothing')
    const facts = [sent({ suppress: 'hard_bounce', providerMessageId: 'm-1' })]
    const [answer] = await storage.settle([ended(job, facts)])
    assert.equal(answer?.kind, 'stale')
    assert.deepEqual(await secondDoor.owned(id), {})
  })

  check('preferences for one that is gone affect nothing', async ({ storage, secondDoor }) => {
    const id = await organization(storage)
    assert.equal(await begin(storage, id, false), 0)
    assert.equal(await purgeAll(storage, id), 'nothing')
    const consent = [keepingFor(id), removal(otherKind, 'unknown')]
    const [answer] = await storage.recordReceipts([
      { provider: 'carillon', organizationId: id, dedupeKey: unique(), consent },
    ])
    assert.equal(answer?.kind, 'applied')
    assert.deepEqual(await secondDoor.owned(id), {})
    assert.equal(await begin(storage, id, false), null)
    assert.notEqual(await organization(storage, id), null)
    assert.equal(await kindOf(storage, id), 'accepted')
  })

  check('records that race a deletion are refused or gone', async ({ storage, secondDoor }) => {
    const id = await organization(storage)
    const records = await Promise.all(TEN.map(() => item(storage, {}, { organizationId: id })))
    const own = () => insertion({}, { organizationId: id })
    const writes = records.flatMap((record) => [
      outcome(storage, own(), own(), own(), keepingFor(id)),
      outcome(storage, own(), replacement(record, { changed: true })),
    ])
    assert.equal(await begin(storage, id, false), 0)
    for (const one of await Promise.all(writes)) assert.match(one, /^(written|no_organization \d)$/)
    // What its begin removes is gone after every race.
    const left = await storage.records.list(otherKind, { organizationId: id }, page())
    assert.deepEqual(left.items, [])
    assert.equal(await purgeAll(storage, id, 3), 'nothing')
    assert.deepEqual(await secondDoor.owned(id), {})
    assert.equal(await outcome(storage, own()), 'no_organization 0')
  })

  check('accepts that race a forced deletion are refused or gone, and leave nothing', async (harness) => {
    const { storage, secondDoor } = harness
    const id = await organization(storage)
    assert.equal(await kindOf(storage, id), 'accepted')
    const accepts = Array.from({ length: 30 }, async (_, index) => {
      const idempotency = { operation: 'send', key: `k-${index}`, fingerprint: 'f', result: '', ttlMs: 1_000 }
      const notifications = notes(3)
      const [answer] = await storage.accept([
        index % 2 === 0
          ? { organizationId: id, notifications, quota: QUOTA }
          : {
              organizationId: id,
              notifications,
              idempotency: { ...idempotency, organizationId: id, operation: 'send' },
            },
      ])
      return answer?.kind === 'failed' ? answer.error.code : answer?.kind
    })
    const deletion = (async () => {
      assert.equal(await begin(storage, id, true), 0)
      return purgeAll(storage, id, 10)
    })()
    const answers = new Set(await Promise.all(accepts))
    for (const answer of answers) assert.ok(answer === 'accepted' || answer === 'not_found', String(answer))
    assert.equal(await deletion, 'nothing')
    assert.equal(await kindOf(storage, id), 'not_found')
    assert.deepEqual(await secondDoor.owned(id), {})
    assert.deepEqual([await secondDoor.jobs(), await secondDoor.notifications()], [[], []])
  })
}
