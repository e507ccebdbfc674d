import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../domain/organization.ts'
import { SUPPRESSION_REASONS } from '../../domain/suppression.ts'
import type { ReceiptRecord } from '../../ports/storage/receipts.ts'
import type { Suppression, SuppressionKey } from '../../ports/storage/suppressions.ts'
import { accept, note, organization, page, readAll, TEN, unique } from './fixtures.ts'
import type { Check } from './harness.ts'

function key(change: Partial<SuppressionKey> = {}): SuppressionKey {
  return { organizationId: DEFAULT_ORGANIZATION, channel: 'email', address: 'ada@example.com', ...change }
}

function entry(change: Partial<Suppression> = {}): Omit<Suppression, 'createdAt'> {
  return { ...key(), reason: 'manual', source: null, ...change }
}

export function suppressionChecks(check: Check): void {
  check("a recipient's own word changes the list once", async ({ storage }) => {
    const organizationId = await organization(storage)
    const key = { organizationId, channel: 'sms', address: '+15550000001' } as const
    const from = { provider: 'twilio', organizationId }
    const optIn = { ...from, dedupeKey: 'SM1', consent: { kind: 'unsuppress', key } } as const
    const entry = { ...key, reason: 'unsubscribe', source: 'twilio' } as const
    const optOut = { ...from, dedupeKey: 'SM2', consent: { kind: 'suppress', entry } } as const
    const again = { ...optIn, dedupeKey: 'SM3' }
    const told = async (...records: ReceiptRecord[]) =>
      (await storage.recordReceipts(records)).map(({ kind }) => kind)
    const reasons = () => storage.suppressions.match([key])

    assert.deepEqual(await told(optIn), ['heeded'])
    assert.deepEqual(await told(optOut), ['heeded'])
    assert.deepEqual(await told(optIn), ['duplicate'])
    assert.deepEqual(await reasons(), ['unsubscribe'])
    assert.deepEqual(await told(again, { ...optOut, dedupeKey: 'SM4' }, again), [
      'heeded',
      'heeded',
      'duplicate',
    ])
    assert.deepEqual(await reasons(), ['unsubscribe'])
    assert.deepEqual(await told({ ...again, dedupeKey: 'SM5' }, optOut), ['heeded', 'duplicate'])
    assert.deepEqual(await reasons(), [null])
    await storage.suppressions.add({ ...entry, reason: 'complaint' })
    assert.deepEqual(await told({ ...again, dedupeKey: 'SM6' }), ['heeded'])
    assert.deepEqual(await reasons(), ['complaint'])
  })

  check('a suppression is stored as it was given, and matched', async ({ storage }) => {
    for (const reason of SUPPRESSION_REASONS) {
      const given = entry({ address: `${reason}@example.com`, reason, source: `the ${reason} of today` })
      const added = await storage.suppressions.add(given)
      assert.deepEqual(added, { ...given, createdAt: added.createdAt })
      assert.equal(typeof added.createdAt, 'number')
      assert.deepEqual((await storage.suppressions.list(DEFAULT_ORGANIZATION, {}, page())).items[0], added)
      assert.deepEqual(await storage.suppressions.match([given]), [reason])
    }
  })

  check('a set of addresses is matched in order', async ({ storage }) => {
    const keys = ['b', 'x', 'a', 'b'].map((address) => key({ address }))
    assert.deepEqual(await storage.suppressions.match(keys), [null, null, null, null])
    await storage.suppressions.add(entry({ address: 'a', reason: 'complaint' }))
    await storage.suppressions.add(entry({ address: 'b', reason: 'unsubscribe' }))
    assert.deepEqual(await storage.suppressions.match(keys), [
      'unsubscribe',
      null,
      'complaint',
      'unsubscribe',
    ])
    assert.deepEqual(await storage.suppressions.match([]), [])
  })

  check('an entry is for one organization, one channel and one address', async ({ storage }) => {
    const other = await organization(storage)
    await storage.suppressions.add(entry({ address: "a'%_\n☃" }))
    const keys = [
      key({ address: "a'%_\n☃" }),
      key({ address: "a'%_\n☃", organizationId: other }),
      key({ address: "a'%_\n☃", channel: 'push' }),
      key({ address: "A'%_\n☃" }),
      key({ address: "a'%_" }),
      key({ address: "a'%_\n☃", organizationId: 'org_unknown' }),
    ]
    assert.deepEqual(await storage.suppressions.match(keys), ['manual', null, null, null, null, null])
    assert.deepEqual((await storage.suppressions.list(other, {}, page())).items, [])
    assert.equal(await storage.suppressions.remove(other, 'email', "a'%_\n☃"), false)
    assert.equal(await storage.suppressions.remove(DEFAULT_ORGANIZATION, 'push', "a'%_\n☃"), false)
    assert.deepEqual(await storage.suppressions.match(keys.slice(0, 1)), ['manual'])
  })

  check('the first entry for an address stays', async (harness) => {
    const { storage } = harness
    const first = await storage.suppressions.add(entry({ reason: 'unsubscribe', source: 'first' }))
    await harness.advance(1_000)
    assert.deepEqual(await storage.suppressions.add(entry({ reason: 'hard_bounce', source: 'later' })), first)
    assert.deepEqual(await storage.suppressions.match([key()]), ['unsubscribe'])
    const probe = await storage.suppressions.add(entry({ address: 'probe' }))
    assert.equal(probe.createdAt, first.createdAt + 1_000)
  })

  check('reports and consents of one set are heeded in their order', async ({ storage }) => {
    const report = { provider: 'smtp', organizationId: null } as const
    const optIn = (address: string) =>
      ({ ...report, dedupeKey: unique(), consent: { kind: 'unsuppress', key: key({ address }) } }) as const
    const reports = async (address: string) => {
      const [notificationId = ''] = await accept(storage, [note({ to: address })])
      const fact = { type: 'bounced', provider: 'smtp', suppress: 'hard_bounce' } as const
      return { ...report, dedupeKey: unique(), notificationId, fact }
    }
    const addresses = ['a@example.com', 'b@example.com', 'c@example.com']
    const receipts: ReceiptRecord[] = []
    for (const address of addresses) {
      await storage.suppressions.add(entry({ address, reason: 'unsubscribe' }))
      const pair = [optIn(address), await reports(address)]
      receipts.push(...(address === addresses[1] ? pair.reverse() : pair))
    }
    await storage.recordReceipts(receipts)
    const keys = addresses.map((address) => key({ address }))
    assert.deepEqual(await storage.suppressions.match(keys), ['hard_bounce', null, 'hard_bounce'])
  })

  check('of ten adds of one address in a race one is stored, and all get it', async ({ storage }) => {
    const answers = await Promise.all(
      TEN.map((index) => storage.suppressions.add(entry({ source: String(index) }))),
    )
    const { items } = await storage.suppressions.list(DEFAULT_ORGANIZATION, {}, page())
    assert.equal(items.length, 1)
    for (const answer of answers) assert.deepEqual(answer, items[0])
  })

  check('what is removed matches no more, and can be added anew', async ({ storage }) => {
    await storage.suppressions.add(entry())
    const { organizationId, channel, address } = key()
    const answers = await Promise.all(
      TEN.map(() => storage.suppressions.remove(organizationId, channel, address)),
    )
    assert.equal(answers.filter(Boolean).length, 1)
    assert.deepEqual(await storage.suppressions.match([key()]), [null])
    await storage.suppressions.add(entry({ reason: 'complaint' }))
    assert.deepEqual(await storage.suppressions.match([key()]), ['complaint'])
  })

  check('a suppression of an unknown organization is refused', async ({ storage }) => {
    const unknown = { organizationId: 'org_unknown' }
    await assert.rejects(storage.suppressions.add(entry(unknown)), { code: 'not_found' })
    assert.deepEqual(await storage.suppressions.match([key(unknown)]), [null])
  })

  check('suppressions are listed newest first, in pages, each channel its own', async ({ storage }) => {
    const other = await organization(storage)
    const add = async (change: Partial<Suppression> = {}): Promise<string> =>
      (await storage.suppressions.add(entry({ address: unique(), ...change }))).address
    const mails: string[] = []
    const pushes: string[] = []
    for (let index = 0; index < 5; index += 1) {
      mails.unshift(await add())
      pushes.unshift(await add({ channel: 'push' }))
    }
    await add({ organizationId: other })
    const addresses = async (filter: { channel?: 'email' | 'push' }, change: 'email' | 'push') => {
      const read = await readAll(
        (request) => storage.suppressions.list(DEFAULT_ORGANIZATION, filter, request),
        2,
        async () => void (await add({ channel: change })),
      )
      return read.map(({ address }) => address)
    }
    assert.deepEqual(await addresses({ channel: 'email' }, 'email'), mails)
    assert.deepEqual((await addresses({ channel: 'push' }, 'email')).join(), pushes.join())
    const all = await addresses({}, 'push')
    assert.deepEqual(
      all.filter((address) => mails.includes(address) || pushes.includes(address)),
      mails.flatMap((mail, index) => [pushes[index], mail]),
    )
    assert.equal((await storage.suppressions.list(other, {}, page())).items.length, 1)
  })
}
