import { describe, expect, it } from 'vitest'
import { smtp } from '../../../../adapters/channels/smtp/send.ts'
import { email, sms } from '../../../../src/core/channels/built-in.ts'
import type { OrganizationProviders } from '../../../../src/core/channels/channel-option.ts'
import { perOrganization } from '../../../../src/core/channels/channel-option.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { servedNotifier } from '../../../../src/served-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { kindOf } from '../../../support/kinds.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'
import { MINUTE, organizationWorld, unavailable } from '../../../support/organization-world.ts'

describe('a function for providers', () => {
  it.each<[string, () => unknown]>([
    ['rejects', unavailable],
    [
      'throws',
      () => {
        throw new Error('The vault is sealed.')
      },
    ],
    ['answers no provider', () => ({})],
    ['answers one of another channel', () => ({ ...recordingProvider(), kind: sms }) as never],
    ['answers one whose timeout exceeds the lease', () => recordingProvider({ timeoutMs: 70_000 })],
  ])('that %s makes its notifications wait visibly, and is called again', async (_name, fail) => {
    let down = true
    const { send, ended, history, notifier, clock, errors } = await organizationWorld((id, channel) =>
      down && id === 'org_a' ? fail() : channel(),
    )
    const ids = [await send('org_a'), await send('org_a'), await send('org_a')]
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    await clock.advance(20_000)
    for (const id of ids)
      expect((await notifier.organization('org_a').notifications.get(id)).status).toBe('queued')
    expect((await history(notifier, ids[0] as string, 'org_a')).slice(0, 2)).toEqual([
      'queued',
      'attempt_failed: provider_unavailable',
    ])
    expect((await notifier.health()).waiting).toEqual([{ lane: 'email@org_a', reason: 'unavailable' }])
    expect(errors.length).toBeGreaterThan(0)
    // Nothing of what it threw is shown to the organization.
    const { timeline } = await notifier.organization('org_a').notifications.get(ids[0] as string)
    expect(JSON.stringify(timeline)).not.toContain('vault')
    down = false
    for (const id of ids) expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect((await notifier.health()).waiting).toEqual([])
  })

  const unusable = ', returned an invalid provider: see `cause`.'

  it.each<[string, OrganizationProviders, object]>([
    ['a function that throws', unavailable, { message: unusable }],
    ['an `open` that throws', () => recordingProvider({ open: unavailable }), { message: unusable }],
    [
      'a factory that was not called',
      smtp as never,
      { code: 'invalid_configuration', message: ': smtp: "options": must be an object; its fields are' },
    ],
  ])(
    'that fails is reported with its place and organization: %s',
    async (_name, email, { message, ...rest }: { message?: string }) => {
      const errors: Error[] = []
      const { start } = notifierWorld()
      const notifier = await start({ channels: { email: perOrganization(kindOf('email'), email) } })
      notifier.on('error', (error) => errors.push(error))
      await notifier.send(mail)
      const called = 'The function channels.email, called with "org_default"'
      expect(errors[0]).toMatchObject({
        ...rest,
        message: expect.stringContaining(`${called}${message}`),
        cause: expect.any(Error),
      })
    },
  )

  it('that throws a value without a text affects no other organization, even if the logger throws too', async () => {
    const broken = (): never => {
      throw new Error('The disk is full.')
    }
    const { send, ended, notifier } = await organizationWorld(
      (id, channel) => (id === 'org_a' ? Promise.reject(Object.create(null)) : channel()),
      { logger: { debug: broken, info: broken, warn: broken, error: broken } },
    )
    await send('org_a')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(await ended(notifier, await send('org_c'), 'org_c')).toBe('sent')
  })

  it('that fails after a crash leaves the policy of the former provider in force', async () => {
    let [crashed, down] = [true, false]
    const clock = fakeClock()
    const inner = inMemory(clock)
    // The outcome never reaches the storage: the lease runs out, as after the death of the process.
    const settle: Storage['settle'] = async (settlements) =>
      crashed ? settlements.map(() => ({ kind: 'stale' as const })) : inner.settle(settlements)
    const calls: string[] = []
    const { send, ended, history, notifier } = await organizationWorld(
      (organizationId) =>
        down && organizationId === 'org_a'
          ? unavailable()
          : recordingProvider({
              onAmbiguous: 'fail',
              send: async () => {
                calls.push(organizationId)
                // New credentials are asked for, and their store is away.
                return crashed
                  ? { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' }
                  : { kind: 'accepted' }
              },
            }),
      {
        world: notifierWorld({ clock, storage: { ...inner, settle } }),
        delivery: { leaseMs: MINUTE, pollMs: 1_000 },
      },
    )
    const id = await send('org_a')
    await clock.until(() => calls.length > 0)
    await clock.advance(1)
    ;[crashed, down] = [false, true]
    await clock.advance(3 * MINUTE)
    // While it waits others are served.
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    down = false
    expect(await ended(notifier, id, 'org_a')).toBe('failed')
    const events = await history(notifier, id, 'org_a')
    expect(events.slice(0, 3)).toEqual([
      'queued',
      'attempt_ambiguous: delivery_unknown',
      'attempt_failed: provider_unavailable',
    ])
    expect(events.at(-1)).toBe('failed: delivery_unknown')
    expect(calls).toEqual(['org_a', 'org_b'])
  })

  it('that fails does not keep expired messages', async () => {
    const { send, notifier, clock } = await organizationWorld(unavailable)
    const until = clock.now() + 3_000
    const ids: string[] = []
    for (let number = 0; number < 20; number += 1)
      ids.push(await send('org_a', { expiresAt: new Date(until) }))
    await clock.advance(20_000)
    for (const id of ids) {
      const { status, error } = await notifier.organization('org_a').notifications.get(id)
      expect([status, error?.code]).toEqual(['failed', 'expired'])
    }
  })

  it('that fails is not called again at once, however many messages wait', async () => {
    const { send, asked, clock } = await organizationWorld(unavailable)
    for (let number = 0; number < 30; number += 1) {
      await send('org_a')
      await clock.advance(1_000)
    }
    expect(asked.length).toBeLessThanOrEqual(6)
  })

  it('that hangs delays no other organization, neither in accepts nor in deliveries', async () => {
    const { send, ended, notifier, clock, asked } = await organizationWorld((id, channel) =>
      id === 'org_a' ? new Promise(() => {}) : channel(),
    )
    const sending = send('org_a')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(clock.monotonic()).toBe(0)
    await clock.advance(10_000)
    expect(await sending).toMatch(/^notif_/)
    await clock.advance(MINUTE)
    expect(asked.filter((id) => id === 'org_b')).toHaveLength(1)
  })

  it('that hangs for several channels delays a batch no longer than for one', async () => {
    const { start, clock } = notifierWorld()
    const hangs = () => new Promise<never>(() => {})
    const notifier = await start({
      channels: { email: perOrganization(email, hangs), sms: perOrganization(sms, hangs) },
    })
    const sending = notifier.sendBatch([mail, { channel: 'sms', to: '+14155550123', body: 'Hello' }])
    await clock.advance(10_000)
    expect((await sending).accepted).toBe(2)
  })

  it('that hangs is reported and called again, and no message outlives its expiry', async () => {
    let hangs = true
    const { send, ended, history, notifier, clock, asked, errors } = await organizationWorld(
      (_id, channel) => (hangs ? new Promise(() => {}) : channel()),
    )
    const ids = [send('org_a', { expiresAt: new Date(clock.now() + 12_000) }), send('org_a')]
    await clock.advance(10_000)
    const [expiring = '', id = ''] = await Promise.all(ids)
    expect((await notifier.health()).waiting).toEqual([{ lane: 'email@org_a', reason: 'unavailable' }])
    expect(errors.map(({ message }) => message)).toEqual([
      'channels.email(org_a) has not answered within 10 seconds.',
    ])
    await clock.advance(2 * MINUTE)
    expect((await notifier.health()).waiting).toEqual([{ lane: 'email@org_a', reason: 'unavailable' }])
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.length).toBeLessThan(8)
    expect((await history(notifier, expiring, 'org_a')).at(-1)).toBe('failed: expired')
    hangs = false
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect((await notifier.health()).waiting).toEqual([])
  })

  it('that answers late is still used, and the providers of its other calls are closed', async () => {
    const answers: (() => void)[] = []
    const { send, ended, notifier, clock, closed, made } = await organizationWorld(
      (_id, channel) => new Promise((resolve) => answers.push(() => resolve(channel()))),
    )
    const sending = send('org_a')
    await clock.advance(12_000)
    const id = await sending
    expect(answers).toHaveLength(2)
    answers[0]?.()
    await clock.advance(0)
    const first = made.get('org_a')
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
    answers[1]?.()
    await clock.advance(0)
    expect(closed).toEqual(['org_a'])
    await send('org_a')
    await clock.advance(0)
    expect(first?.calls).toHaveLength(2)
  })
})

it('a report for an organization whose providers cannot be made delays no other', async () => {
  const { notifier } = await organizationWorld((organizationId, channel) =>
    organizationId === 'org_a'
      ? new Promise(() => {})
      : { ...channel(), parseReceipts: async () => ({ kind: 'receipts', receipts: [] }) },
  )
  const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body: new Uint8Array() }
  const source = { channel: 'email', provider: 'own' } as const
  for (let report = 0; report < 20; report += 1) {
    servedNotifier(notifier)
      .receipts.take({ ...source, organizationId: 'org_a' }, arrival)
      .catch(() => {})
  }
  const reply = await servedNotifier(notifier).receipts.take({ ...source, organizationId: 'org_b' }, arrival)
  expect(reply.body).toBe('')
})
