import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { API_KEY_PATTERN, isWellFormedApiKey, newApiKey } from '../../../../src/core/access/key-format.ts'
import { apiKeyKind } from '../../../../src/core/access/key-kind.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { watchReads } from '../../../support/record-reads.ts'

describe('the form of a key', () => {
  it('has its prefix, 38 characters of base 62, and no two are alike', () => {
    const keys = Array.from({ length: 2_000 }, (_, n) => newApiKey(n % 2 === 0 ? 'organization' : 'operator'))
    expect(keys.every((key) => API_KEY_PATTERN.test(key) && isWellFormedApiKey(key))).toBe(true)
    expect(new Set(keys).size).toBe(2_000)
  })

  it('uses every character about as often as any other', () => {
    const counts = new Map<string, number>()
    for (let n = 0; n < 2_000; n += 1) {
      for (const character of newApiKey('organization').slice(4, 36))
        counts.set(character, (counts.get(character) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    const expected = (2_000 * 32) / 62
    for (const [character, count] of counts) expect(count / expected, character).toBeGreaterThan(0.75)
  })

  it.each(['organization', 'operator'] as const)('of an %s refuses any one character changed', (kind) => {
    const key = newApiKey(kind)
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: key.length - 1 }),
        fc.constantFrom(...'0123456789ABCxyz'),
        (at, character) => {
          const changed = key.slice(0, at) + character + key.slice(at + 1)
          expect(isWellFormedApiKey(changed)).toBe(changed === key)
        },
      ),
    )
  })

  it.each([
    '',
    'crl_',
    'crl_x',
    'crlop_',
    newApiKey('operator').replace('op', ''),
    newApiKey('organization').replace('crl', 'crlop'),
    `${'a'.repeat(42)}`,
    `crl_${'0'.repeat(38)}`,
    `${newApiKey('organization')} `,
    `${newApiKey('organization')}\n`,
  ])('refuses %j', (text) => {
    expect(isWellFormedApiKey(text)).toBe(false)
  })
})

describe('API keys', () => {
  async function start({ firstReplaceFails = false } = {}) {
    const clock = fakeClock()
    const storage = inMemory(clock)
    const notifier = createNotifier({ channels: {}, storage, clock })
    await notifier.start()
    const reads = watchReads(storage, apiKeyKind)
    /** The ids of each commit that replaces keys. */
    const marked: (readonly string[])[] = []
    const { write } = storage.records
    storage.records.write = async (sets) => {
      if (sets[0]?.[0]?.do !== 'replace') return write(sets)
      marked.push(sets.flatMap((set) => set.map(({ id }) => id)))
      if (firstReplaceFails && marked.length === 1) throw new Error('the storage is away')
      return write(sets)
    }
    const byHash = () => reads.filter((refs) => refs.some(({ key }) => key !== undefined)).length
    return { clock, notifier, storage, marked, lookUps: byHash }
  }

  it('are found by their secret, which is shown once and stored nowhere', async () => {
    const { notifier, storage } = await start()
    const created = await notifier.apiKeys.create({ name: 'CI', permission: 'Write' })
    const { secret, ...record } = created
    expect(record.hint).toBe(`${secret.slice(0, 8)}…${secret.slice(-4)}`)
    expect(await notifier.apiKeys.verify(secret)).toEqual(record)
    const listed = await notifier.apiKeys.list()
    expect(listed.items).toEqual([record])
    expect(
      JSON.stringify([listed, await storage.records.get(apiKeyKind, [{ id: record.id }])]),
    ).not.toContain(secret.slice(8, -4))
    await notifier.stop()
  })

  it('are at most 1,000 per organization, also of concurrent creations', async () => {
    const { notifier } = await start()
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const create = (of = notifier.organization('org_a')) =>
      of.apiKeys.create({ name: 'x', permission: 'Write' })
    await Promise.all(Array.from({ length: 995 }, () => create()))
    const answers = await Promise.allSettled(Array.from({ length: 10 }, () => create()))
    const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
    const error = { code: 'key_limit_reached', status: 409, details: { limit: 1_000 } }
    expect(refused).toMatchObject([error, error, error, error, error])
    const [kept] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    await notifier.organization('org_a').apiKeys.delete(kept?.id ?? '')
    const last = await create()
    await expect(create()).rejects.toMatchObject(error)
    await expect(notifier.organization('org_a').apiKeys.rotate(last.id)).rejects.toMatchObject(error)
    await create(notifier.organization('org_default'))
    await notifier.stop()
  })

  const DAY = 86_400_000

  it.each(['apiKeys', 'operatorKeys'] as const)(
    'rotate: %s keep rights and expiry, and the old one works for a day',
    async (kind) => {
      const { clock, notifier } = await start({ firstReplaceFails: true })
      const keys = notifier[kind]
      const given = {
        name: 'Billing',
        permission: 'Read Only',
        grants: ['content'],
        allowedIps: ['203.0.113.0/24'],
        expiresAt: new Date(clock.now() + DAY + 1_000).toISOString(),
      } as const
      const old = await keys.create(given)
      // Both keys are written, or neither.
      await expect(keys.rotate(old.id)).rejects.toMatchObject({ code: 'service_unavailable' })
      expect((await keys.list()).items).toMatchObject([{ id: old.id, replacedBy: null }])
      const { secret, ...next } = await keys.rotate(old.id)
      expect(next).toMatchObject(given)
      expect(next).toMatchObject({ replacedBy: null, lastUsedAt: null })
      expect(next.id).not.toBe(old.id)
      const { items } = await keys.list()
      expect(items.find(({ id }) => id === old.id)).toMatchObject({
        replacedBy: next.id,
        expiresAt: new Date(clock.now() + DAY).toISOString(),
      })
      clock.correct(DAY - 1)
      for (const one of [old.secret, secret])
        expect(await keys.verify(one)).toMatchObject({ name: 'Billing' })
      clock.correct(1)
      await expect(keys.verify(old.secret)).rejects.toMatchObject({ code: 'expired_api_key' })
      expect(await keys.verify(secret)).toMatchObject(given)
      await expect(keys.rotate(old.id)).rejects.toMatchObject({ code: 'key_already_rotated' })
      await clock.advance(1_000)
      await expect(keys.rotate(old.id)).rejects.toMatchObject({
        code: 'invalid_parameter',
        message: '"id" must be that of a key that has not expired: create a new one.',
      })
      await expect(keys.rotate('key_unknown')).rejects.toMatchObject({ code: 'not_found' })
      await notifier.stop()
    },
  )

  it.each(['apiKeys', 'operatorKeys'] as const)(
    'rotate once: %s name their successor to a repetition, and there is a way on after a lost answer',
    async (kind) => {
      const { clock, notifier } = await start()
      const keys = notifier[kind]
      const old = await keys.create({ name: 'x', permission: 'Write' })
      const answers = await Promise.allSettled([keys.rotate(old.id), keys.rotate(old.id)])
      const [first] = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
      const id = first?.id ?? ''
      const refused = {
        code: 'key_already_rotated',
        status: 409,
        message: expect.stringContaining(`"${id}" replaces it. Rotate that key, or delete it`),
        details: { replacedBy: id },
      }
      expect(answers).toMatchObject(
        expect.arrayContaining([
          { status: 'rejected', reason: expect.objectContaining({ code: 'key_already_rotated' }) },
        ]),
      )
      await clock.advance(1_000)
      await expect(keys.rotate(old.id)).rejects.toMatchObject(refused)
      expect((await keys.list()).items).toHaveLength(2)
      const again = await keys.rotate(id, { overlapMs: 0 })
      expect(again.expiresAt).toBeNull()
      for (const each of [id, again.id]) await keys.delete(each)
      const next = await keys.rotate(old.id)
      expect(next.expiresAt).toBeNull()
      const { items } = await keys.list()
      const stored = items.find((key) => key.id === old.id)
      expect(stored?.replacedBy).toBe(next.id)
      expect(stored?.expiresAt).toBe(new Date(clock.now() - 1_000 + DAY).toISOString())
      await notifier.stop()
    },
  )

  it('work on after a rotation as long as asked for, and never beyond their own expiry', async () => {
    const { clock, notifier } = await start()
    const { apiKeys } = notifier
    const endless = await apiKeys.create({ name: 'x', permission: 'Write' })
    const successor = await apiKeys.rotate(endless.id, { overlapMs: 0 })
    expect(successor.expiresAt).toBeNull()
    await expect(apiKeys.verify(endless.secret)).rejects.toMatchObject({ code: 'expired_api_key' })
    await expect(apiKeys.rotate(endless.id)).rejects.toMatchObject({ code: 'key_already_rotated' })
    await apiKeys.delete(successor.id)
    // The old key stays stopped, whatever the overlap of the repetition.
    expect((await apiKeys.rotate(endless.id)).expiresAt).toBeNull()
    await expect(apiKeys.verify(endless.secret)).rejects.toMatchObject({ code: 'expired_api_key' })
    const expiresAt = new Date(clock.now() + 3_600_000).toISOString()
    const short = await apiKeys.create({ name: 'y', permission: 'Write', expiresAt })
    await apiKeys.rotate(short.id)
    expect((await apiKeys.get(short.id)).expiresAt).toBe(expiresAt)
    for (const overlapMs of [-1, 1.5, 31 * DAY])
      await expect(apiKeys.rotate(short.id, { overlapMs })).rejects.toMatchObject({
        code: 'invalid_parameter',
      })
    await notifier.stop()
  })

  it('tell when they were last used, which is recorded in sets and seldom', async () => {
    const { clock, notifier, marked } = await start({ firstReplaceFails: true })
    const [a, b, unused] = await Promise.all(
      ['a', 'b', 'c'].map((name) => notifier.apiKeys.create({ name, permission: 'Write' })),
    )
    const { verify, get } = notifier.apiKeys
    const use = async () => {
      for (const key of [a, b, a]) await verify(key?.secret ?? '')
    }
    const lastUsed = async (key = a) => (await get(key?.id ?? '')).lastUsedAt
    await use()
    expect(marked).toEqual([])
    await clock.advance(1_000)
    expect(await lastUsed()).toBeNull()
    // What could not be recorded is recorded with the next use.
    await use()
    await clock.advance(1_000)
    const ids = [a?.id, b?.id]
    expect(marked).toEqual([ids, ids])
    const recorded = await lastUsed()
    expect(Date.parse(recorded ?? '')).toBe(clock.now())
    await clock.advance(4 * 60_000)
    await use()
    await clock.advance(1_000)
    expect([marked.length, await lastUsed()]).toEqual([2, recorded])
    await clock.advance(60_000)
    await use()
    await clock.advance(1_000)
    expect(Date.parse((await lastUsed(b)) ?? '')).toBe(clock.now())
    expect([marked.length, await lastUsed(unused)]).toEqual([3, null])
    await expect(get('key_unknown')).rejects.toMatchObject({ code: 'not_found' })
    await notifier.stop()
  })

  it('that are garbage are refused without a look-up', async () => {
    const { notifier, lookUps } = await start()
    const { secret } = await notifier.apiKeys.create({ name: 'CI', permission: 'Write' })
    const last = secret.endsWith('0') ? '1' : '0'
    for (const text of ['', 'x', 'x'.repeat(1e6), `${secret.slice(0, -1)}${last}`, undefined, null, 5])
      await expect(notifier.apiKeys.verify(text as string)).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(lookUps()).toBe(0)
    await expect(notifier.apiKeys.verify(newApiKey('organization'))).rejects.toMatchObject({
      code: 'invalid_api_key',
    })
    expect(lookUps()).toBe(1)
    await notifier.stop()
  })

  it('share a look-up when they come together, and each gets its own', async () => {
    const { notifier, lookUps } = await start()
    const keys = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        notifier.apiKeys.create({ name: `${n}`, permission: 'Read Only' }),
      ),
    )
    const found = await Promise.all(keys.map(({ secret }) => notifier.apiKeys.verify(secret)))
    expect(found.map(({ id }) => id)).toEqual(keys.map(({ id }) => id))
    expect(lookUps()).toBe(1)
    await notifier.stop()
  })

  it('stop working at once when they are deleted, and cannot come back', async () => {
    const { notifier } = await start()
    const { id, secret } = await notifier.apiKeys.create({ name: 'CI', permission: 'Write' })
    await notifier.apiKeys.verify(secret)
    await notifier.apiKeys.delete(id)
    await expect(notifier.apiKeys.verify(secret)).rejects.toMatchObject({
      code: 'invalid_api_key',
      status: 401,
    })
    await expect(notifier.apiKeys.delete(id)).rejects.toMatchObject({ code: 'not_found' })
    await notifier.stop()
  })

  it('expire at their time', async () => {
    const { notifier, clock } = await start()
    const expiresAt = new Date(clock.now() + 1_000)
    const { secret } = await notifier.apiKeys.create({ name: 'CI', permission: 'Write', expiresAt })
    await clock.advance(999)
    await notifier.apiKeys.verify(secret)
    clock.correct(1)
    await expect(notifier.apiKeys.verify(secret)).rejects.toMatchObject({
      code: 'expired_api_key',
      status: 401,
    })
    await notifier.stop()
  })

  it('cannot be made expired', async () => {
    const { notifier, clock } = await start()
    const now = clock.now()
    for (const expiresAt of [new Date(now), new Date(now - 1).toISOString()]) {
      const made = notifier.apiKeys.create({ name: 'CI', permission: 'Write', expiresAt })
      await expect(made).rejects.toMatchObject({
        code: 'invalid_parameter',
        message: '"expiresAt" must be in the future.',
        details: { field: 'expiresAt' },
      })
    }
    expect((await notifier.apiKeys.list()).items).toEqual([])
    await notifier.apiKeys.create({ name: 'CI', permission: 'Write', expiresAt: new Date(now + 1) })
    await notifier.stop()
  })

  it('belong to one organization', async () => {
    const { notifier } = await start()
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
    const { id, secret } = await notifier
      .organization(organizationId)
      .apiKeys.create({ name: 'CI', permission: 'Write' })
    expect((await notifier.apiKeys.verify(secret)).organizationId).toBe(organizationId)
    await expect(notifier.apiKeys.delete(id)).rejects.toMatchObject({ code: 'organization_mismatch' })
    expect((await notifier.apiKeys.list()).items).toEqual([])
    const unknown = notifier.organization('org_none').apiKeys.create({ name: 'CI', permission: 'Write' })
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' })
    await notifier.stop()
  })
})
