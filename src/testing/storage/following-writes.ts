import assert from 'node:assert/strict'
import type { Fact, FactType } from '../../core/notification/facts.ts'
import type { ReceiptRecord } from '../../core/ports/storage/receipts.ts'
import type { FollowingWrite } from '../../core/ports/storage/records.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  note,
  organization,
  page,
  sent,
  TEN,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'
import {
  CONTRACT_START,
  find,
  follow,
  keeping,
  otherKind,
  reasons,
  recipientId,
  removal,
  write,
} from './record-fixtures.ts'

const ADA = recipientId('ada@example.com')

/** @param fact about the message `m-1` of `smtp` */
function report(
  fact: Partial<Fact> & { readonly type: FactType },
  change: { readonly notificationId?: string } = {},
): ReceiptRecord {
  return {
    provider: 'smtp',
    organizationId: null,
    dedupeKey: unique(),
    fact: { provider: 'smtp', providerMessageId: 'm-1', ...fact },
    ...change,
  }
}

function consent(writes: readonly FollowingWrite[], organizationId = DEFAULT_ORGANIZATION): ReceiptRecord {
  return { provider: 'smtp', organizationId, dedupeKey: unique(), consent: writes }
}

const optOut = (id: string, organizationId = DEFAULT_ORGANIZATION): FollowingWrite =>
  keeping(id, organizationId, { reason: 'unsubscribe', source: 'smtp' })

const optIn = (id: string): FollowingWrite => removal(otherKind, id, { reason: 'unsubscribe' })

async function record(storage: Storage, ...receipts: readonly ReceiptRecord[]): Promise<string[]> {
  return (await storage.recordReceipts(receipts)).map(({ kind }) => kind)
}

export function followingWriteChecks(check: Check): void {
  check('what follows from a report is stored with it, once', async ({ storage }) => {
    const own = await organization(storage)
    const [id = ''] = await accept(storage, [note()], own)
    await deliver(storage, [sent({ providerMessageId: 'm-1' })])
    await record(
      storage,
      report({ type: 'bounced', code: 'invalid_recipient', suppress: 'hard_bounce' }),
      report({ type: 'complained', suppress: 'complaint' }),
    )
    const { items } = await storage.records.list(otherKind, { organizationId: own }, page())
    assert.deepEqual(
      items.map((one) => [one.id, one.organizationId, one.revision, one.value]),
      [[recipientId('ada@example.com', own), own, 1, { reason: 'hard_bounce', source: 'smtp' }]],
    )
    assert.equal((await storage.notifications.get(id))?.status, 'failed')
    assert.deepEqual(await reasons(storage, [ADA]), [null])
  })

  check(
    'what follows from a report that came too early is stored when it is matched',
    async ({ storage }) => {
      await accept(storage, [note()])
      await record(storage, report({ type: 'unsubscribed', suppress: 'unsubscribe' }))
      assert.deepEqual(await reasons(storage, [ADA]), [null])
      await deliver(storage, [sent({ providerMessageId: 'm-1' })])
      assert.deepEqual(await reasons(storage, [ADA]), ['unsubscribe'])
    },
  )

  check('what follows from a settlement is stored with it', async (harness) => {
    const { storage } = harness
    await accept(storage, [note({ to: 'a' }), note({ to: 'b', channel: 'sms' }), note({ to: 'c' })])
    const jobs = await claim(storage)
    const failed = {
      type: 'failed',
      provider: 'smtp',
      code: 'unsubscribed',
      suppress: 'unsubscribe',
    } as const
    await storage.settle(jobs.map((job, index) => ended(job, index === 2 ? [sent()] : [sent(), failed])))
    const [a, b] = [recipientId('a'), recipientId('b', DEFAULT_ORGANIZATION, 'sms')]
    assert.deepEqual(await reasons(storage, [a, b, recipientId('c')]), ['unsubscribe', 'unsubscribe', null])
  })

  check('what is stored for a recipient already is kept', async (harness) => {
    const { storage } = harness
    const [first] = await write(
      storage,
      keeping(ADA, DEFAULT_ORGANIZATION, { reason: 'manual', source: null }),
    )
    await harness.advance(1_000)
    await accept(storage, [note()])
    await deliver(storage, [sent({ suppress: 'hard_bounce' })])
    assert.deepEqual(await record(storage, consent([optOut(ADA)])), ['applied'])
    const stored = await find(storage, otherKind, ADA)
    assert.deepEqual(stored, { ...first, readAt: (first?.createdAt ?? 0) + 1_000 })
  })

  check('a fact can remove what has certain fields', async ({ storage }) => {
    const ids = ['a', 'b'].map((to) => recipientId(to))
    for (const [index, reason] of ['manual', 'complaint'].entries()) {
      await write(storage, keeping(ids[index] ?? '', DEFAULT_ORGANIZATION, { reason, source: null }))
    }
    const [a = '', b = ''] = await accept(storage, [note({ to: 'a' }), note({ to: 'b' })])
    const clicked = { type: 'clicked', providerMessageId: undefined } as const
    await record(storage, report(clicked, { notificationId: a }), report(clicked, { notificationId: b }))
    assert.deepEqual(await reasons(storage, ids), [null, 'complaint'])
  })

  check("a recipient's consent is applied once", async ({ storage }) => {
    const [takeIn, takeOut] = [consent([optIn(ADA)]), consent([optOut(ADA)])]
    assert.deepEqual(await record(storage, takeIn), ['applied'])
    assert.deepEqual(await record(storage, takeOut), ['applied'])
    assert.deepEqual(await record(storage, takeIn), ['duplicate'])
    assert.deepEqual(await reasons(storage, [ADA]), ['unsubscribe'])
    const again = consent([optIn(ADA)])
    assert.deepEqual(await record(storage, again, consent([optOut(ADA)]), again), [
      'applied',
      'applied',
      'duplicate',
    ])
    assert.deepEqual(await reasons(storage, [ADA]), ['unsubscribe'])
    assert.deepEqual(await record(storage, consent([optIn(ADA)]), takeOut), ['applied', 'duplicate'])
    assert.deepEqual(await reasons(storage, [ADA]), [null])
    await write(storage, keeping(ADA, DEFAULT_ORGANIZATION, { reason: 'complaint', source: null }))
    assert.deepEqual(await record(storage, consent([optIn(ADA)])), ['applied'])
    assert.deepEqual(await reasons(storage, [ADA]), ['complaint'])
    assert.deepEqual(await record(storage, consent([])), ['applied'])
  })

  check('reports and consents of one set are applied in their order', async ({ storage }) => {
    const names = ['a', 'b', 'c']
    const ids = names.map((to) => recipientId(to))
    const receipts: ReceiptRecord[] = []
    for (const [index, to] of names.entries()) {
      const id = ids[index] ?? ''
      await write(storage, keeping(id, DEFAULT_ORGANIZATION, { reason: 'unsubscribe', source: null }))
      const [notificationId = ''] = await accept(storage, [note({ to })])
      const bounced = { type: 'bounced', providerMessageId: undefined, suppress: 'hard_bounce' } as const
      const pair = [consent([optIn(id)]), report(bounced, { notificationId })]
      receipts.push(...(to === 'b' ? pair.reverse() : pair))
    }
    await record(storage, ...receipts)
    assert.deepEqual(await reasons(storage, ids), ['hard_bounce', null, 'hard_bounce'])
  })

  check('nothing follows for an organization that is gone or being deleted', async ({ storage }) => {
    const own = await organization(storage)
    const [, bounced = ''] = await accept(storage, [note(), note()], own)
    const [first] = await claim(storage)
    assert.ok(first !== undefined)
    const id = recipientId('ada@example.com', own)
    assert.equal(await storage.deletions.begin(own, { force: true, kinds: [] }), 0)
    const fact = { type: 'bounced', providerMessageId: undefined, suppress: 'hard_bounce' } as const
    const [answer] = await storage.settle([ended(first, [sent({ suppress: 'complaint' })])])
    assert.equal(answer?.kind, 'settled')
    assert.deepEqual(
      await record(
        storage,
        report(fact, { notificationId: bounced }),
        consent([optOut(id, own), optOut(ADA)], own),
        consent([optOut('gone', 'org_unknown')], 'org_unknown'),
      ),
      ['recorded', 'applied', 'applied'],
    )
    assert.deepEqual(await reasons(storage, [id, 'gone', ADA]), [null, null, 'unsubscribe'])
    assert.equal((await storage.notifications.get(bounced))?.status, 'failed')
  })

  check('nothing follows from a settlement that comes too late', async ({ storage }) => {
    await accept(storage, [note()])
    const job = await claimOne(storage)
    await storage.settle([ended(job)])
    const [late] = await storage.settle([ended(job, [sent({ suppress: 'complaint' })])])
    assert.equal(late?.kind, 'stale')
    assert.deepEqual(await reasons(storage, [ADA]), [null])
  })

  check('of a receipt or a settlement that fails nothing follows, of the others all', async (harness) => {
    const { storage, secondDoor } = harness
    const tooLong = 'x'.repeat(251)
    const bad = consent([optOut('beside'), optOut(tooLong)])
    const set = [consent([optOut('one')]), bad, consent([optOut('three')])]
    assert.deepEqual(await record(storage, ...set), ['applied', 'failed', 'applied'])
    assert.deepEqual(await record(storage, ...set), ['duplicate', 'failed', 'duplicate'])
    assert.deepEqual(await reasons(storage, ['one', 'beside', 'three']), ['unsubscribe', null, 'unsubscribe'])

    await storage.start({
      ...CONTRACT_START,
      follow: (about, facts) => [
        ...follow(about, facts),
        ...(about.to === 'b' ? [optOut(tooLong, about.organizationId)] : []),
      ],
    })
    await accept(
      storage,
      ['a', 'b', 'c'].map((to) => note({ to })),
    )
    const jobs = await claim(storage)
    const settle = async () =>
      (await storage.settle(jobs.map((job) => ended(job, [sent({ suppress: 'complaint' })])))).map(
        ({ kind }) => kind,
      )
    assert.deepEqual(await settle(), ['settled', 'failed', 'settled'])
    assert.deepEqual(
      await reasons(
        storage,
        ['a', 'b', 'c'].map((to) => recipientId(to)),
      ),
      ['complaint', null, 'complaint'],
    )
    assert.equal((await secondDoor.events()).length, 2)
    await storage.start(CONTRACT_START)
    assert.deepEqual(await settle(), ['stale', 'settled', 'stale'])
    assert.deepEqual(await reasons(storage, [recipientId('b')]), ['complaint'])
  })

  check('ten reports about one recipient in a race store one, and all are recorded', async ({ storage }) => {
    const ids = await accept(
      storage,
      TEN.map(() => note()),
    )
    const recorded = await Promise.all([
      ...ids.map((notificationId, index) => {
        const suppress = index % 2 === 0 ? 'hard_bounce' : 'complaint'
        const fact = { type: 'bounced', providerMessageId: undefined, suppress } as const
        return record(storage, report(fact, { notificationId }), consent([optOut('beside'), optOut(ADA)]))
      }),
    ])
    assert.deepEqual(recorded, Array(10).fill(['recorded', 'applied']))
    const { items } = await storage.records.list(otherKind, { organizationId: DEFAULT_ORGANIZATION }, page())
    assert.deepEqual(items.map(({ id }) => id).sort(), ['beside', ADA].sort())
  })
}
