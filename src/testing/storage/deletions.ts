import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../domain/organization.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import {
  accept,
  claim,
  claimOne,
  deliver,
  ended,
  endpoint,
  newEndpoint,
  note,
  notes,
  organization,
  page,
  sent,
  start,
  unique,
} from './fixtures.ts'
import type { Check } from './harness.ts'

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
  await storage.suppressions.add({
    organizationId,
    channel: 'email',
    address: `${unique()}@example.com`,
    reason: 'hard_bounce',
    source: null,
  })
  await storage.apiKeys.create(apiKey(organizationId), Buffer.from(unique()))
  for (const id of [await template(storage, organizationId), await template(storage, organizationId)]) {
    await storage.templates.update(id, { body: 'Another' })
    if (Number(id.slice(4)) % 2 === 0) await storage.templates.delete(id)
  }
  const fact = { type: 'delivered', provider: 'own', providerMessageId: 'unknown' } as const
  await storage.recordReceipts([{ provider: 'own', organizationId, dedupeKey: unique(), fact }])
}

function apiKey(organizationId: string | null): Parameters<Storage['apiKeys']['create']>[0] {
  return {
    id: `key_${unique()}`,
    organizationId,
    name: 'Key',
    permission: 'Write',
    grants: [],
    prefix: 'sk_live_',
    last4: 'abcd',
    expiresAt: null,
    allowedIps: [],
  }
}

async function template(storage: Storage, organizationId: string): Promise<string> {
  const id = `tpl_${unique()}`
  const text = { subject: 'Hello', body: 'Hello', format: null, text: null, description: null }
  const created = await storage.templates.create({ id, organizationId, name: id, channel: 'email', ...text })
  assert.ok(created !== null)
  return id
}

/** Purges in steps until nothing changes; returns the result of each step. */
async function purgeAll(storage: Storage, id: string, most = 100): Promise<string> {
  for (let steps = 0; steps < 200; steps += 1) {
    const { notifications, left } = await storage.organizations.purge(id, most)
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
        assert.equal(await storage.organizations.beginDeletion(id, true), 0)
        assert.equal(await purgeAll(storage, id, most), 'nothing')
        assert.deepEqual(await secondDoor.owned(id), {})
        assert.deepEqual(await secondDoor.owned(other), before)
        const { handovers, unmatchedReceipts } = await secondDoor.dependents()
        assert.deepEqual([handovers, unmatchedReceipts], [1, 1])
        assert.equal(await storage.organizations.get(id), null)
        assert.equal((await claim(storage)).length, 2)
      },
    )
  }

  check('without force it does not begin while jobs wait', async ({ storage }) => {
    const id = await organization(storage)
    const key = await storage.apiKeys.create(apiKey(id), Buffer.from(unique()))
    await accept(storage, notes(3), id)
    assert.equal(await storage.organizations.beginDeletion(id, false), 3)
    assert.equal((await storage.organizations.get(id))?.deleting, undefined)
    assert.notEqual(await storage.apiKeys.get(key.id), null)
    assert.equal(await kindOf(storage, id), 'accepted')
    assert.deepEqual(await storage.organizations.purge(id, 100), { notifications: 0, left: 'nothing' })
    assert.notEqual(await storage.organizations.get(id), null)
    assert.equal(await storage.organizations.beginDeletion('org_unknown', false), null)
  })

  check('from its begin on keys are gone, and nothing is accepted, created or changed', async (harness) => {
    const { storage } = harness
    const id = await organization(storage)
    const hash = Buffer.from(unique())
    await storage.apiKeys.create(apiKey(id), hash)
    const operator = await storage.apiKeys.create(apiKey(null), Buffer.from(unique()))
    assert.equal(await kindOf(storage, id), 'accepted')
    await deliver(storage)
    assert.equal(await storage.organizations.beginDeletion(id, false), 0)
    assert.deepEqual(await storage.apiKeys.findByHash([hash]), [null])
    assert.equal((await storage.apiKeys.get(operator.id))?.organizationId, null)
    assert.equal(await kindOf(storage, id), 'not_found')
    const [first, second] = await storage.accept([
      { organizationId: id, notifications: [note()], quota: QUOTA },
      { organizationId: DEFAULT_ORGANIZATION, notifications: [note()], quota: QUOTA },
    ])
    assert.deepEqual([first?.kind, second?.kind], ['failed', 'accepted'])
    for (const create of [
      () => storage.apiKeys.create(apiKey(id), Buffer.from(unique())),
      () => storage.webhookEndpoints.create(newEndpoint({ organizationId: id }), 100),
      () => template(storage, id),
      () =>
        storage.suppressions.add({
          organizationId: id,
          channel: 'email',
          address: 'ada@example.com',
          reason: 'manual',
          source: null,
        }),
    ]) {
      await assert.rejects(create, { code: 'not_found' })
    }
    assert.equal(await storage.organizations.update(id, { name: 'x' }), null)
    assert.equal((await storage.organizations.get(id))?.deleting, true)
    const listed = await storage.organizations.list(page())
    assert.equal(listed.items.find((one) => one.id === id)?.deleting, true)
  })

  check('what has a job yet is delivered first, unless force is added', async ({ storage, secondDoor }) => {
    const id = await organization(storage)
    await endpoint(storage, { organizationId: id, events: ['notification.delivered'] })
    const [sentId = ''] = await accept(storage, [note()], id)
    await deliver(storage, [sent({ providerMessageId: 'm-late' })])
    assert.equal(await storage.organizations.beginDeletion(id, false), 0)
    const fact = { type: 'delivered', provider: 'smtp', providerMessageId: 'm-late' } as const
    await storage.recordReceipts([{ provider: 'smtp', organizationId: null, dedupeKey: unique(), fact }])
    assert.equal(await purgeAll(storage, id), 'jobs')
    assert.equal((await secondDoor.notifications()).length, 1)
    assert.notEqual(await storage.notifications.get(sentId), null)
    assert.equal(await storage.organizations.beginDeletion(id, false), 0)
    assert.equal(await purgeAll(storage, id), 'jobs')
    assert.equal(await storage.organizations.beginDeletion(id, true), 0)
    assert.equal(await storage.organizations.beginDeletion(id, false), 0)
    assert.equal(await purgeAll(storage, id), 'nothing')
    assert.deepEqual(await secondDoor.owned(id), {})
  })

  check('an attempt under way finds its job gone', async ({ storage, secondDoor }) => {
    const id = await organization(storage)
    await accept(storage, notes(2), id)
    const job = await claimOne(storage)
    assert.deepEqual(await start(storage, [job]), [true])
    assert.equal(await storage.organizations.beginDeletion(id, true), 0)
    assert.equal(await purgeAll(storage, id), 'nothing')
    const facts = [sent({ suppress: 'hard_bounce', providerMessageId: 'm-1' })]
    const [answer] = await storage.settle([ended(job, facts)])
    assert.equal(answer?.kind, 'stale')
    assert.deepEqual(await secondDoor.owned(id), {})
  })

  check(
    'what a recipient wants of one that is gone is heeded by nothing',
    async ({ storage, secondDoor }) => {
      const id = await organization(storage)
      assert.equal(await storage.organizations.beginDeletion(id, false), 0)
      assert.equal(await purgeAll(storage, id), 'nothing')
      const key = { organizationId: id, channel: 'email', address: 'ada@example.com' } as const
      const consent = { kind: 'suppress', entry: { ...key, reason: 'unsubscribe', source: null } } as const
      const [answer] = await storage.recordReceipts([
        { provider: 'carillon', organizationId: id, dedupeKey: unique(), consent },
      ])
      assert.equal(answer?.kind, 'heeded')
      assert.deepEqual(await secondDoor.owned(id), {})
      assert.equal(await storage.organizations.beginDeletion(id, false), null)
      assert.notEqual(await organization(storage, id), null)
      assert.equal(await kindOf(storage, id), 'accepted')
    },
  )

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
      assert.equal(await storage.organizations.beginDeletion(id, true), 0)
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
