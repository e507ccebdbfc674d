import { expect, it } from 'vitest'
import type { OrganizationProviders } from '../../../../src/core/channels/channel-option.ts'
import { createInstances } from '../../../../src/core/channels/instances.ts'
import { createOpenPlugins } from '../../../../src/core/channels/plugins.ts'
import { type FakeClock, fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { kindOf } from '../../../support/kinds.ts'

const MINUTE = 60_000

type Made = Awaited<ReturnType<OrganizationProviders>> | undefined

/** What the providers of one channel are made by, one where it says nothing; and which of them have been closed. */
function create(make: (clock: FakeClock, made: number) => Made | Promise<Made>) {
  const clock = fakeClock()
  const closed: number[] = []
  const asked: number[] = []
  const instances = createInstances({
    kind: kindOf('email'),
    async make() {
      const number = asked.push(clock.monotonic())
      const given = await make(clock, number)
      return given === undefined ? recordingProvider({ close: () => void closed.push(number) }) : given
    },
    plugins: createOpenPlugins(() => {}),
    clock,
    leaseMs: 120_000,
    proxyFor: () => null,
    onError() {},
    changed() {},
  })
  const load = async () => {
    instances.load('org_a')
    await clock.advance(0)
  }
  return { clock, instances, closed, asked, load }
}

it('closes what comes when its organization has been forgotten', async () => {
  const { clock, instances, closed, load } = create(async (clock, number) => {
    if (number === 1) await new Promise<void>((resolve) => clock.timer(11 * MINUTE, resolve))
    return undefined
  })
  await load()
  await clock.advance(10 * MINUTE)
  expect(instances.known('org_a')).toBe(undefined)
  await load()
  await clock.advance(MINUTE)
  expect([closed, instances.known('org_a')?.kind]).toEqual([[1], 'loaded'])
})

it('keeps what is in use, and counts its idleness from then', async () => {
  const { clock, instances, closed, load } = create(() => undefined)
  await load()
  const letGo = instances.hold('org_a')
  await clock.advance(25 * MINUTE)
  expect(instances.known('org_a')?.kind).toBe('loaded')
  letGo()
  await clock.advance(9 * MINUTE)
  expect(closed).toEqual([])
  await clock.advance(11 * MINUTE)
  expect([closed, instances.known('org_a')]).toEqual([[1], undefined])
})

it('closes what was made anew when the last who uses it has let it go', async () => {
  const { instances, closed, load } = create(() => undefined)
  await load()
  const letGo = instances.hold('org_a')
  instances.renew('org_a', 0)
  await load()
  expect(closed).toEqual([])
  letGo()
  expect([closed, instances.known('org_a')?.kind]).toEqual([[1], 'loaded'])
})

it('closes once what is in use at the end, makes nothing more, and leaves no timer', async () => {
  const { clock, instances, closed, asked, load } = create(() => undefined)
  await load()
  const letGo = instances.hold('org_a')
  await instances.close()
  letGo()
  await load()
  expect([closed, asked.length, instances.stale('org_a')]).toEqual([[1], 1, false])
  await expect(clock.until(() => false)).rejects.toThrow('Not reached')
  expect(clock.monotonic()).toBe(0)
})

it('asks a function that fails more and more rarely, at most five minutes apart, and anew after a success', async () => {
  let down = true
  const { clock, instances, asked, load } = create(() => {
    if (down) throw new Error('No credentials.')
    return null
  })
  const askedIn = async (ms: number): Promise<number> => {
    const before = asked.length
    for (let second = 0; second < ms / 1_000; second += 1) {
      await load()
      await clock.advance(1_000)
    }
    return asked.length - before
  }
  expect(await askedIn(15 * MINUTE)).toBe(11)
  expect(await askedIn(15 * MINUTE)).toBe(3)
  down = false
  await askedIn(5 * MINUTE)
  expect(instances.known('org_a')).toMatchObject({ kind: 'loaded', set: null })
  down = true
  expect(await askedIn(16_000)).toBeGreaterThanOrEqual(4)
})
