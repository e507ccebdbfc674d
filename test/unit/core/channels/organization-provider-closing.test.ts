import { describe, expect, it } from 'vitest'
import { createProviderRegistry } from '../../../../src/core/channels/provider-registry.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { KINDS, kindOf } from '../../../support/kinds.ts'
import { MINUTE, ORGANIZATIONS, organizationWorld } from '../../../support/organization-world.ts'

describe('an idle organization', () => {
  it('has its providers closed, and made again on its next message', async () => {
    const { send, asked, closed, clock, ended, notifier } = await organizationWorld()
    expect(await ended(notifier, await send('org_a'), 'org_a')).toBe('sent')
    await clock.advance(25 * MINUTE)
    expect([asked, closed]).toEqual([['org_a'], ['org_a']])
    expect((await notifier.health()).providers).toEqual([])
    expect(await ended(notifier, await send('org_a'), 'org_a')).toBe('sent')
    expect([asked, closed]).toEqual([['org_a', 'org_a'], ['org_a']])
  })

  it('keeps its providers as long as a message is under way', async () => {
    let end = (): void => {}
    const { send, closed, clock } = await organizationWorld(
      (id) =>
        recordingProvider({
          timeoutMs: 55 * MINUTE,
          close: () => void log.push(id),
          send: () => new Promise((resolve) => (end = () => resolve({ kind: 'accepted' }))),
        }),
      { delivery: { leaseMs: 110 * MINUTE, pollMs: 60 * MINUTE } },
    )
    const log: string[] = []
    await send('org_a')
    await clock.advance(50 * MINUTE)
    expect(log).toEqual([])
    end()
    await clock.advance(25 * MINUTE)
    expect([log, closed]).toEqual([['org_a'], []])
  })

  it('shares a provider that closes with the last of its users', async () => {
    const closes: number[] = []
    const one = recordingProvider({ close: () => void closes.push(clock.monotonic()) })
    const { send, clock, notifier } = await organizationWorld(() => one)
    await send('org_a')
    await clock.advance(8 * MINUTE)
    await send('org_b')
    await clock.advance(8 * MINUTE)
    expect(closes).toHaveLength(0)
    await notifier.stop()
    expect(closes).toHaveLength(1)
  })
})

describe('more organizations than may have open providers', () => {
  it('lose the providers that were used longest ago and are idle', async () => {
    const clock = fakeClock()
    const closed: string[] = []
    const registry = createProviderRegistry({
      kinds: KINDS,
      sources: new Map([
        [
          'email',
          {
            kind: kindOf('email'),
            shared: null,
            perOrganization: (id: string) => recordingProvider({ close: () => void closed.push(id) }),
          },
        ],
      ]),
      clock,
      leaseMs: MINUTE,
      proxyFor: () => null,
      onError() {},
    })
    const letGo = await useOf('org_0')
    async function useOf(id: string): Promise<() => void> {
      await registry.warm('email', id)
      return registry.own('email')?.hold(id) ?? (() => {})
    }
    for (let number = 1; number < 1_000; number += 1) await registry.warm('email', `org_${number}`)
    expect(closed).toEqual([])
    await registry.warm('email', 'org_1')
    await registry.warm('email', 'org_1000')
    await registry.warm('email', 'org_1001')
    expect(closed).toEqual(['org_2', 'org_3'])
    letGo()
    await registry.close()
    expect(closed).toHaveLength(1_002)
    expect(new Set(closed).size).toBe(1_002)
  })

  it('are all served when their messages are due at once, by providers that are made once', async () => {
    const { notifier, send, clock, storage, asked, closed } = await organizationWorld()
    const ids = Array.from({ length: 1_200 }, (_, number) => `org_${number}`)
    const sendAt = new Date(clock.now() + MINUTE)
    for (const id of ids) {
      await notifier.organizations.create({ id, name: id })
      await send(id, { sendAt })
    }
    expect(asked).toEqual(ids)
    await clock.advance(MINUTE)
    await clock.until(async () => (await storage.claim({ lanes: [], leaseMs: MINUTE })).lanes.length === 0)
    for (const organizationId of ids) {
      const { items } = await notifier.organization(organizationId).notifications.list()
      expect(items.map(({ status }) => status)).toEqual(['sent'])
    }
    expect(asked.length).toBeLessThanOrEqual(2 * ids.length)
    expect(closed.length).toBeGreaterThanOrEqual(asked.length - 1_001)
  })
})

describe('refused credentials', () => {
  it('are replaced after the pause, and the old providers closed', async () => {
    let good = false
    const { send, ended, notifier, asked, closed, clock } = await organizationWorld((_id, channel) => {
      const made = channel()
      const accepts = good
      made.behave(async () =>
        accepts ? { kind: 'accepted' } : { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' },
      )
      return made
    })
    const id = await send('org_a')
    await clock.advance(0)
    good = true
    expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect(asked.length).toBeGreaterThanOrEqual(2)
    expect(closed.length).toBe(asked.length - 1)
  })

  it('are asked for at the end of the pause, even if more is sent during it', async () => {
    let good = false
    const { send, ended, notifier, asked, clock } = await organizationWorld((_id, channel) => {
      const made = channel()
      const accepts = good
      made.behave(async () =>
        accepts ? { kind: 'accepted' } : { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' },
      )
      return made
    })
    const ids = [await send('org_a')]
    await clock.advance(10_000)
    ids.push(await send('org_a'))
    await clock.advance(10_000)
    expect(asked).toEqual(['org_a'])
    good = true
    for (const id of ids) expect(await ended(notifier, id, 'org_a')).toBe('sent')
    expect(asked).toEqual(['org_a', 'org_a'])
    for (const id of ids) {
      const { timeline } = await notifier.organization('org_a').notifications.get(id)
      expect(timeline.filter(({ event }) => event === 'attempt_failed').length).toBeLessThanOrEqual(1)
    }
  })
})

describe('stop', () => {
  it('closes every provider once', async () => {
    const { send, notifier, closed, clock } = await organizationWorld()
    for (const id of ORGANIZATIONS) await send(id)
    await clock.advance(0)
    await notifier.stop()
    expect(closed.toSorted()).toEqual(ORGANIZATIONS)
  })

  it('closes providers that arrive after it', async () => {
    let arrive = (): void => {}
    const { send, notifier, clock, closed } = await organizationWorld(
      (_id, channel) => new Promise((resolve) => (arrive = () => resolve(channel()))),
    )
    const sending = send('org_a')
    await clock.advance(10_000)
    await sending
    const stopped = notifier.stop()
    await clock.advance(20_000)
    await stopped
    expect(closed).toEqual([])
    arrive()
    await clock.advance(0)
    expect(closed).toEqual(['org_a'])
  })
})
