import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Fact, FactType } from '../../core/notification/facts.ts'
import { MAX_MESSAGE_ID } from '../../core/notification/outcome.ts'
import type { ReceiptRecord } from '../../core/ports/storage/receipts.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  claimOne,
  countOf,
  deliver,
  ended,
  endpoint,
  note,
  notes,
  organization,
  sent,
  TEN,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const FIFTEEN_MINUTES = 900_000

/** @param fact `providerMessageId` `m-1` unless it says otherwise */
function receipt(
  fact: Partial<Fact> & { readonly type: FactType },
  change: Partial<ReceiptRecord> = {},
): ReceiptRecord {
  return {
    provider: 'smtp',
    organizationId: null,
    dedupeKey: `report-${unique()}`,
    fact: { provider: 'smtp', providerMessageId: 'm-1', ...fact },
    ...change,
  }
}

async function sendOne(
  storage: Storage,
  providerMessageId: string,
  organizationId?: string,
): Promise<string> {
  const [id = ''] = await accept(storage, [note()], organizationId)
  await deliver(storage, [sent({ providerMessageId })])
  return id
}

export function receiptChecks(check: Check): void {
  check("a receipt is matched by the provider's message id", async ({ storage, secondDoor }) => {
    await endpoint(storage)
    const id = await sendOne(storage, 'm-1')
    const [answer] = await storage.recordReceipts([receipt({ type: 'delivered' })])
    assert.ok(answer?.kind === 'recorded')
    assert.equal(answer.notificationId, id)
    assert.deepEqual(
      answer.events.map(({ event, data }) => [event, data.sequence, data.status]),
      [['notification.delivered', 3, 'delivered']],
    )
    assert.equal((await storage.notifications.get(id))?.status, 'delivered')
    assert.equal((await secondDoor.deliveries()).length, 2)
  })

  check('a receipt is matched by our own id first', async ({ storage }) => {
    const [first, second] = [await sendOne(storage, 'm-1'), await sendOne(storage, 'm-2')]
    const [answer] = await storage.recordReceipts([
      receipt({ type: 'delivered' }, { notificationId: second }),
    ])
    assert.ok(answer?.kind === 'recorded')
    assert.equal(answer.notificationId, second)
    assert.equal((await storage.notifications.get(first))?.status, 'sent')
  })

  check('an unknown id of ours falls back to the message id', async ({ storage }) => {
    const id = await sendOne(storage, 'm-1')
    const [answer] = await storage.recordReceipts([
      receipt({ type: 'delivered' }, { notificationId: 'notif_0' }),
    ])
    assert.ok(answer?.kind === 'recorded')
    assert.equal(answer.notificationId, id)
  })

  check('the longest message ids are stored, and found by early and late receipts', async ({ storage }) => {
    const longest = [
      randomBytes(MAX_MESSAGE_ID).toString('base64').slice(0, MAX_MESSAGE_ID),
      // In incompressible text, each character takes three bytes.
      randomText(Math.floor(MAX_MESSAGE_ID / 3)),
      '\u0000'.repeat(MAX_MESSAGE_ID),
      '\u001b'.repeat(MAX_MESSAGE_ID),
    ]
    for (const providerMessageId of longest) {
      const [id = ''] = await accept(storage, [note()])
      const early = receipt({ type: 'delivered', providerMessageId })
      assert.deepEqual(await storage.recordReceipts([early]), [{ kind: 'unmatched' }])
      await deliver(storage, [sent({ providerMessageId })])
      assert.equal((await storage.notifications.get(id))?.status, 'delivered')
      const [late] = await storage.recordReceipts([receipt({ type: 'opened', providerMessageId })])
      assert.equal(late?.kind === 'recorded' && late.notificationId, id)
      assert.equal((await storage.notifications.get(id))?.providerMessageId, providerMessageId)
    }
  })

  check('a message id belongs to its provider', async ({ storage }) => {
    await sendOne(storage, 'm-1')
    const [answer] = await storage.recordReceipts([receipt({ type: 'delivered' }, { provider: 'other' })])
    assert.deepEqual(answer, { kind: 'unmatched' })
  })

  check('a receipt of an earlier hand-over is matched, too', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    await storage.settle([
      { ...ended(job, [sent({ providerMessageId: 'm-1' })]), next: { kind: 'retry', delayMs: 0 } },
    ])
    await deliver(storage, [sent({ providerMessageId: 'm-2', attempt: 2 })])
    const [answer] = await storage.recordReceipts([receipt({ type: 'delivered' })])
    assert.ok(answer?.kind === 'recorded')
    assert.equal(answer.notificationId, id)
  })

  check('where two have one message id, a receipt speaks of the newest notification', async ({ storage }) => {
    const other = await organization(storage)
    const ids = await accept(storage, notes(3))
    await accept(storage, [note()], other)
    const jobs = await claim(storage, 4)
    // In any order of hand-overs.
    for (const id of [1, 2, 0].map((index) => ids[index])) {
      const job = jobs.find((one) => one.kind === 'notification' && one.notification.id === id)
      assert.ok(job !== undefined)
      await storage.settle([ended(job, [sent({ providerMessageId: 'm-1' })])])
    }
    const rest = jobs.filter(({ organizationId }) => organizationId === other)
    await storage.settle(rest.map((job) => ended(job, [sent({ providerMessageId: 'm-1' })])))
    const organizationId = DEFAULT_ORGANIZATION
    const [answer] = await storage.recordReceipts([receipt({ type: 'delivered' }, { organizationId })])
    assert.ok(answer?.kind === 'recorded')
    assert.equal(answer.notificationId, ids[2])
  })

  check('a repetition is a duplicate and changes nothing', async ({ storage, secondDoor }) => {
    const id = await sendOne(storage, 'm-1')
    const report = receipt({ type: 'opened' })
    const answers = await storage.recordReceipts([report, report])
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['recorded', 'duplicate'],
    )
    assert.deepEqual(await storage.recordReceipts([report]), [{ kind: 'duplicate' }])
    assert.equal((await secondDoor.events()).length, 2)
    assert.equal((await storage.notifications.get(id))?.status, 'opened')
  })

  check('of ten equal receipts in a race one is recorded', async ({ storage, secondDoor }) => {
    await sendOne(storage, 'm-1')
    const report = receipt({ type: 'clicked' })
    const answers = (await Promise.all(TEN.map(() => storage.recordReceipts([report])))).flat()
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'recorded'),
      1,
    )
    assert.equal(
      countOf(answers, ({ kind }) => kind === 'duplicate'),
      9,
    )
    assert.equal((await secondDoor.events()).length, 2)
  })

  check('different providers may use the same key', async ({ storage }) => {
    const id = await sendOne(storage, 'm-1')
    const answers = await storage.recordReceipts(
      ['smtp', 'other'].map((provider) =>
        receipt({ type: 'opened' }, { provider, dedupeKey: 'same', notificationId: id }),
      ),
    )
    assert.deepEqual(
      answers.map(({ kind }) => kind),
      ['recorded', 'recorded'],
    )
    const later = receipt({ type: 'opened' }, { provider: 'third', dedupeKey: 'same', notificationId: id })
    assert.equal((await storage.recordReceipts([later]))[0]?.kind, 'recorded')
  })

  check('a receipt before `sent` waits for it, by message id', async (harness) => {
    const { storage } = harness
    const [id = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    assert.deepEqual(
      await storage.recordReceipts([receipt({ type: 'opened' }), receipt({ type: 'delivered' })]),
      [{ kind: 'unmatched' }, { kind: 'unmatched' }],
    )
    await harness.advance(50_000)
    const [answer] = await storage.settle([ended(job, [sent({ providerMessageId: 'm-1' })])])
    assert.ok(answer?.kind === 'settled')
    assert.deepEqual(
      answer.events.map(({ event }) => event),
      ['notification.sent', 'notification.opened', 'notification.delivered'],
    )
    assert.equal((await storage.notifications.get(id))?.status, 'opened')
    assert.deepEqual(
      (await storage.notifications.timeline(id)).map(({ sequence, type }) => [sequence, type]),
      [
        [1, 'queued'],
        [2, 'sent'],
        [3, 'opened'],
        [4, 'delivered'],
      ],
    )
  })

  check('an unmatched receipt is applied once, and its repetition is a duplicate', async ({ storage }) => {
    await accept(storage, notes(3))
    const [first, second, third] = await claim(storage)
    assert.ok(first !== undefined && second !== undefined && third !== undefined)
    const report = receipt({ type: 'delivered' })
    await storage.recordReceipts([report])
    assert.deepEqual(await storage.recordReceipts([report]), [{ kind: 'duplicate' }])
    const fact = sent({ providerMessageId: 'm-1' })
    const answers = await storage.settle([ended(first, [fact]), ended(second, [fact])])
    assert.deepEqual(
      answers.map((answer) => (answer.kind === 'settled' ? answer.events.length : answer.kind)),
      [2, 1],
    )
    const [later] = await storage.settle([ended(third, [fact])])
    assert.ok(later?.kind === 'settled')
    assert.equal(later.events.length, 1)
  })

  check('an unmatched receipt is kept for fifteen minutes at least', async (harness) => {
    const { storage } = harness
    await accept(storage, [note()])
    await storage.recordReceipts([receipt({ type: 'delivered' })])
    await harness.advance(FIFTEEN_MINUTES)
    await storage.recordReceipts([receipt({ type: 'delivered', providerMessageId: 'm-9' })])
    const [answer] = await storage.settle([
      ended(await claimOne(storage), [sent({ providerMessageId: 'm-1' })]),
    ])
    assert.ok(answer?.kind === 'settled')
    assert.equal(answer.events.length, 2)
  })

  check('a receipt that names our id and no message speaks of the newest hand-over', async ({ storage }) => {
    const bounced = { type: 'bounced', provider: 'smtp', code: 'invalid_recipient' } as const
    const after = await sendOne(storage, 'm-1')
    const report = { provider: 'smtp', organizationId: null, fact: bounced } as const
    await storage.recordReceipts([{ ...report, dedupeKey: 'r-after', notificationId: after }])
    assert.equal((await storage.notifications.get(after))?.status, 'failed')
    const [before = ''] = await accept(storage, [note()])
    await storage.recordReceipts([{ ...report, dedupeKey: 'r-before', notificationId: before }])
    await deliver(storage, [sent({ providerMessageId: 'm-2' })])
    assert.equal((await storage.notifications.get(before))?.status, 'failed')
  })

  check('a receipt before `sent` is recorded at once where it names our id', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note()])
    const [answer] = await storage.recordReceipts([receipt({ type: 'delivered' }, { notificationId: id })])
    assert.equal(answer?.kind, 'recorded')
    await deliver(storage, [sent({ providerMessageId: 'm-1' })])
    assert.equal((await storage.notifications.get(id))?.status, 'delivered')
  })

  check(
    "an organization's instance cannot speak of another's notifications",
    async ({ storage, secondDoor }) => {
      const other = await organization(storage)
      const id = await sendOne(storage, 'm-1')
      const before = await secondDoor.events()
      const answers = await storage.recordReceipts([
        receipt({ type: 'bounced' }, { organizationId: other }),
        receipt({ type: 'bounced' }, { organizationId: other, notificationId: id }),
      ])
      assert.deepEqual(answers, [{ kind: 'unmatched' }, { kind: 'unmatched' }])
      assert.deepEqual(await secondDoor.events(), before)
      await sendOne(storage, 'm-1')
      assert.equal(
        countOf(await secondDoor.events(), ({ type }) => type === 'bounced'),
        0,
      )
      const theirs = await sendOne(storage, 'm-1', other)
      assert.equal((await storage.notifications.get(theirs))?.status, 'failed')
    },
  )

  check(
    "an organization's instance finds its own notification among equal message ids",
    async ({ storage }) => {
      const other = await organization(storage)
      const theirs = await sendOne(storage, 'm-1', other)
      const ours = await sendOne(storage, 'm-1')
      const answers = await storage.recordReceipts([
        receipt({ type: 'delivered' }, { organizationId: other, dedupeKey: 'same' }),
        receipt({ type: 'delivered' }, { organizationId: DEFAULT_ORGANIZATION, dedupeKey: 'same' }),
      ])
      assert.deepEqual(
        answers.map((answer) => answer.kind === 'recorded' && answer.notificationId),
        [theirs, ours],
      )
    },
  )

  check('all 720 orders of six reports end in one state', async ({ storage, secondDoor }) => {
    const types: FactType[] = ['sent', 'deferred', 'delivered', 'opened', 'bounced', 'clicked']
    const orders = permutations(types)
    assert.equal(orders.length, 720)
    const ids = await accept(storage, notes(orders.length))
    for (let first = 0; first < orders.length; first += 120) {
      const records = orders
        .slice(first, first + 120)
        .flatMap((order, index) =>
          order.map((type) => receipt({ type, attempt: 1 }, { notificationId: ids[first + index] ?? '' })),
        )
      const answers = await storage.recordReceipts(records)
      assert.equal(
        countOf(answers, ({ kind }) => kind === 'recorded'),
        records.length,
      )
    }
    const rows = await secondDoor.notifications()
    assert.deepEqual([...new Set(rows.map(({ status }) => status))], ['clicked'])
    for (const id of [ids[0], ids[333], ids[719]]) {
      const { provider, providerMessageId, error } = (await storage.notifications.get(id ?? '')) ?? {}
      assert.deepEqual([provider, providerMessageId, error], ['smtp', 'm-1', null])
      const sequences = (await storage.notifications.timeline(id ?? '')).map(({ sequence }) => sequence)
      assert.deepEqual(sequences, [1, 2, 3, 4, 5, 6, 7])
    }
  })

  check('a bounce after delivery, and before it, end alike', async ({ storage }) => {
    const [a, b] = [await sendOne(storage, 'm-1'), await sendOne(storage, 'm-2')]
    const bounced = { type: 'bounced', code: 'mailbox_full', message: 'Full.' } as const
    await storage.recordReceipts([
      receipt({ type: 'delivered' }),
      receipt(bounced),
      receipt({ ...bounced, providerMessageId: 'm-2' }),
      receipt({ type: 'delivered', providerMessageId: 'm-2' }),
    ])
    for (const id of [a, b]) {
      const stored = await storage.notifications.get(id)
      assert.deepEqual([stored?.status, stored?.error?.code], ['failed', 'mailbox_full'])
    }
  })
}

function randomText(characters: number): string {
  const bytes = randomBytes(2 * characters)
  return Array.from({ length: characters }, (_, index) =>
    String.fromCodePoint(0x4e00 + (bytes.readUInt16LE(2 * index) % 0x5000)),
  ).join('')
}

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  )
}
