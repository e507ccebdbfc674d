import { describe, expect, it } from 'vitest'
import { createProviderRegistry } from '../../../../src/core/channels/provider-registry.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { type RecordingProvider, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { engineParts } from '../../../support/engine-parts.ts'
import { KINDS, kindOf } from '../../../support/kinds.ts'
import { mail } from '../../../support/notifier-world.ts'
import { MINUTE, ORGANIZATIONS, organizationWorld } from '../../../support/organization-world.ts'

describe('providers of an organization', () => {
  it('are made once and deliver its notifications only', async () => {
    const { send, ended, made, asked, notifier } = await organizationWorld()
    for (const id of ORGANIZATIONS) {
      const ids = [await send(id), await send(id)]
      for (const notification of ids) expect(await ended(notifier, notification, id)).toBe('sent')
    }
    expect(asked).toEqual(ORGANIZATIONS)
    for (const id of ORGANIZATIONS) {
      expect(made.get(id)?.calls.map(({ context }) => context.organizationId)).toEqual([id, id])
    }
    expect((await notifier.health()).providers).toMatchObject(
      ORGANIZATIONS.map((organizationId) => ({ name: 'own', organizationId, state: 'ready' })),
    )
  })

  it('are made once for many sends at once', async () => {
    const { send, asked, clock } = await organizationWorld(async (_id, channel) => {
      await new Promise((resolve) => setImmediate(resolve))
      return channel()
    })
    await Promise.all(Array.from({ length: 20 }, () => send('org_a')))
    await clock.advance(0)
    expect(asked).toEqual(['org_a'])
  })

  it('may share the messages by weight', async () => {
    const [one, two] = [recordingProvider({ name: 'one' }), recordingProvider({ name: 'two' })]
    const { notifier, clock } = await organizationWorld(() => ({
      providers: [one, two],
      distribution: 'weighted',
      weights: { one: 3, two: 1 },
    }))
    await notifier.organization('org_a').sendBatch(Array.from({ length: 8 }, () => mail))
    await clock.advance(0)
    expect([one.calls.length, two.calls.length]).toEqual([6, 2])
  })

  it('are asked whether they accept a recipient', async () => {
    const { notifier } = await organizationWorld((organizationId) =>
      recordingProvider({ accepts: (to) => organizationId === 'org_a' || !to.startsWith('ada') }),
    )
    await notifier.organization('org_a').send(mail)
    await expect(notifier.organization('org_b').send(mail)).rejects.toMatchObject({
      code: 'invalid_recipient',
    })
    const { items } = await notifier
      .organization('org_b')
      .sendBatch([mail, { ...mail, to: 'bob@example.com' }])
    expect(items).toMatchObject([{ error: { code: 'invalid_recipient' } }, { status: 'queued' }])
  })

  it('refuse the channel to this organization alone if there are none', async () => {
    const { notifier, send } = await organizationWorld((organizationId, channel) =>
      organizationId === 'org_a' ? null : channel(),
    )
    const refusal = { code: 'invalid_channel' }
    await expect(notifier.organization('org_a').send(mail)).rejects.toMatchObject(refusal)
    await expect(notifier.organization('org_a').validate(mail)).rejects.toMatchObject(refusal)
    const { items } = await notifier.organization('org_a').sendBatch([mail])
    expect(items).toMatchObject([{ error: refusal }])
    await send('org_b')
  })

  it('may be missing where there are shared ones', async () => {
    const shared = recordingProvider({ name: 'shared' })
    const { send, ended, made, notifier } = await organizationWorld(
      (organizationId, channel) => (organizationId === 'org_a' ? null : channel()),
      { shared },
    )
    expect(await ended(notifier, await send('org_a'), 'org_a')).toBe('sent')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(shared.calls.map(({ context }) => context.organizationId)).toEqual(['org_a'])
    expect(made.get('org_b')?.calls).toHaveLength(1)
  })

  it('delay no other organization when they hang', async () => {
    const { send, ended, made, notifier, clock } = await organizationWorld()
    await send('org_a')
    await clock.advance(0)
    made.get('org_a')?.behave(() => new Promise(() => {}))
    for (let number = 0; number < 50; number += 1) await send('org_a')
    await clock.advance(0)
    expect(made.get('org_a')?.calls).toHaveLength(6)
    const began = clock.monotonic()
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(clock.monotonic()).toBe(began)
  })

  it('are paused for this organization alone', async () => {
    const { send, ended, made, notifier, clock } = await organizationWorld()
    await send('org_a')
    await clock.advance(0)
    const retry = {
      kind: 'retry',
      code: 'provider_quota_exceeded',
      scope: 'account',
      retryAfterMs: 10 * MINUTE,
    }
    made.get('org_a')?.behave(async () => retry)
    const heard: unknown[] = []
    notifier.on('provider.paused', ({ data }) => void heard.push(data))
    await send('org_a')
    await clock.advance(0)
    await send('org_a')
    expect(await ended(notifier, await send('org_b'), 'org_b')).toBe('sent')
    expect(made.get('org_a')?.calls).toHaveLength(2)
    expect(heard).toEqual([
      {
        id: expect.any(String),
        channel: 'email',
        provider: 'own',
        organizationId: 'org_a',
        timestamp: expect.any(String),
        code: 'provider_quota_exceeded',
        message: 'provider_quota_exceeded',
        forMs: 10 * MINUTE,
      },
    ])
    expect((await notifier.health()).providers).toMatchObject([
      { organizationId: 'org_a', state: 'paused', code: 'provider_quota_exceeded' },
      { organizationId: 'org_b', state: 'ready', code: null, pausedUntil: null },
    ])
  })

  it('keep a pace of their own', async () => {
    const channels = new Map<string, RecordingProvider>()
    const { notifier, clock, made } = await organizationWorld((organizationId) => {
      const channel = recordingProvider({ maxPerSecond: 2 })
      channels.set(organizationId, channel)
      return channel
    })
    expect(made.size).toBe(0)
    for (const organizationId of ['org_a', 'org_b'])
      await notifier.organization(organizationId).sendBatch(Array.from({ length: 5 }, () => mail))
    await clock.advance(0)
    expect(['org_a', 'org_b'].map((id) => channels.get(id)?.calls.length)).toEqual([2, 2])
  })
})

it('metrics count the providers of organizations under their channel, and name no organization', async () => {
  const { send, notifier, clock, made } = await organizationWorld()
  await send('org_c')
  await clock.advance(0)
  made.get('org_c')?.behave(() => new Promise(() => {}))
  for (const organizationId of ['org_a', 'org_b', 'org_c'])
    await send(organizationId, { sendAt: new Date(clock.now() + 60 * MINUTE) })
  await send('org_c')
  await clock.advance(0)
  const metrics = await notifier.metrics()
  expect(metrics.backlog?.lanes).toEqual([
    { lane: 'email', due: 0, scheduled: 3, leased: 1, oldestDueMs: null },
  ])
  expect(JSON.stringify([metrics.backlog, metrics.counters, metrics.histograms])).not.toContain('org_')
})

describe('an instance for receipts', () => {
  it('is found by organization, channel and name, made on demand, and not closed while in use', async () => {
    const clock = fakeClock()
    const log: string[] = []
    const own = () => recordingProvider({ name: 'own', close: () => void log.push('closed') })
    const shared = recordingProvider({ name: 'shared' })
    const registry = createProviderRegistry({
      kinds: KINDS,
      clock,
      leaseMs: MINUTE,
      proxyFor: () => null,
      onError() {},
      sources: new Map([
        [
          'email',
          {
            kind: kindOf('email'),
            shared: {
              providers: [engineParts(shared, clock).registry.shared('email')?.providers[0] as never],
              weights: null,
            },
            perOrganization: (id: string) => (id === 'org_a' ? own() : null),
          },
        ],
      ]),
    })
    const find = (organizationId: string | null, name: string) =>
      registry.withInstance({ organizationId, channel: 'email', name }, async (provider) => {
        if (organizationId !== null) await clock.advance(60 * MINUTE)
        return [provider.name, provider.organizationId, [...log]]
      })
    expect(await find(null, 'shared')).toEqual(['shared', null, []])
    expect(await find('org_a', 'own')).toEqual(['own', 'org_a', []])
    expect(await find('org_a', 'shared')).toBe(null)
    expect(await find('org_b', 'own')).toBe(null)
    expect(
      await registry.withInstance({ organizationId: null, channel: 'sms', name: 'x' }, async () => 1),
    ).toBe(null)
  })
})
