import { expect, it } from 'vitest'
import { timeOf } from '../../../src/testing/storage/fixtures.ts'
import { find, reminderKind, write } from '../../../src/testing/storage/record-fixtures.ts'
import { DUE_STORAGES, dueWorld, LEASE_MS, missingFor, reminder } from '../../support/faults/due-world.ts'
import { describeEachWith } from '../../support/left-out.ts'
import type { Program } from '../../support/program.ts'
import type { DueProgram } from '../programs/due.ts'

const HOUR = 3_600_000
const STEPS: readonly NonNullable<DueProgram['point']>[] = ['after:claim-due', 'handling', 'before:write-due']

const runsOf = (programs: readonly Program[]): string[] =>
  programs.flatMap(({ lines }) => lines.filter((line) => line.startsWith('ran ')))

describeEachWith(DUE_STORAGES, missingFor, 'a record that falls due on %s', (name) => {
  it.each(STEPS)(
    'whose process is killed twice (%s) is handled once, and backs off visibly',
    async (point) => {
      const world = await dueWorld(name)
      const one = reminder(0)
      await write(world.storage, one)
      // The second time is after the first lease, the third after the second one, which is twice as long.
      const [first, second, third] = [0, 2 * LEASE_MS, 5 * LEASE_MS] as const
      await world.die({ point, clocksMs: [first] })
      expect(await world.nextDueInMs(first)).toBeLessThanOrEqual(LEASE_MS)
      await world.die({ point, clocksMs: [second] })
      expect(await world.nextDueInMs(second)).toBeGreaterThan(LEASE_MS)
      expect(await world.traces()).toEqual(new Map())
      const successor = world.run({ clocksMs: [third] })
      await world.allHandled([one])
      await world.stop(successor)
      expect((await world.traces()).get(one.id)?.map(({ claims }) => claims)).toEqual([3])
    },
  )

  it('that ends its process does not keep its neighbours', async () => {
    const world = await dueWorld(name)
    const neighbours = Array.from({ length: 10 }, () => reminder(0))
    const poison = { ...reminder(0), value: { at: 0, note: 'poison' } }
    await write(world.storage, ...neighbours.slice(5), poison, ...neighbours.slice(0, 5))
    let clockMs = 0
    for (let claims = 1; (await world.traces()).size < neighbours.length; claims += 1) {
      await world.die({ clocksMs: [clockMs], takesMs: 10 })
      clockMs += Math.min(LEASE_MS * 2 ** claims, 2 * HOUR)
    }
    expect(await find(world.storage, reminderKind, poison.id)).not.toBeNull()
  })

  it('whose process is killed after the commit of its result is not handled again', async () => {
    const world = await dueWorld(name)
    const one = reminder(0)
    await write(world.storage, one)
    await world.die({ point: 'after:write-due' })
    expect(await world.nextDueInMs(2 * LEASE_MS)).toBeNull()
    expect((await world.traces()).get(one.id)?.map(({ claims }) => claims)).toEqual([1])
  })

  it.each([
    [3 * HOUR, 0],
    [-3 * HOUR, 0],
    [HOUR, HOUR + 2 * LEASE_MS],
  ])(
    'is taken over from a dead process whose clock was %i ms off, by one that is %i ms off',
    async (was, is) => {
      const world = await dueWorld(name)
      const one = reminder(0)
      await write(world.storage, one)
      await world.die({ point: 'handling', clocksMs: [was] })
      // No lease is that long but those of a clock that ran ahead by more than two hours.
      if (is > 0) expect(await world.nextDueInMs(0)).toBeGreaterThan(HOUR - LEASE_MS)
      const successor = world.run({ clocksMs: [is] })
      await world.allHandled([one])
      await world.stop(successor)
      expect((await world.traces()).get(one.id)?.map(({ claims }) => claims)).toEqual([2])
    },
  )

  it('that was written by a clock running ahead is handled when the clock has come there', async () => {
    const world = await dueWorld(name)
    const ahead = await world.at(3 * HOUR)
    const one = reminder(await timeOf(ahead))
    await write(ahead, one)
    expect(await world.nextDueInMs(0)).toBeGreaterThan(2 * HOUR)
    const jumping = world.run({ clocksMs: [0, 0, 3 * HOUR + LEASE_MS] })
    await world.allHandled([one])
    await world.stop(jumping)
    expect((await world.traces()).get(one.id)?.map(({ claims }) => claims)).toEqual([1])
  })
})

const JUMPS: readonly (readonly number[])[] = [
  [0, 3 * HOUR, 0, -3 * HOUR, HOUR, -HOUR, 0],
  [HOUR, 0, -3 * HOUR, 0, 3 * HOUR, 0],
]

describeEachWith(
  DUE_STORAGES,
  missingFor,
  'records that fall due on %s while clocks jump by hours',
  (name) => {
    async function handle(sharesClock: boolean) {
      const world = await dueWorld(name)
      const reminders = Array.from({ length: 60 }, () => reminder(0))
      await write(world.storage, ...reminders)
      const programs = JUMPS.map((clocksMs) => world.run({ clocksMs, sharesClock, takesMs: 50 }))
      await world.allHandled(reminders)
      await world.stop(...programs)
      const traces = await world.traces()
      expect(reminders.map(({ id }) => traces.get(id)?.length)).toEqual(reminders.map(() => 1))
      return { reminders, runs: runsOf(programs) }
    }

    it('are each handled once, and their results stored once', async () => {
      const { reminders, runs } = await handle(false)
      expect(runs.sort()).toEqual(reminders.map(({ id }) => `ran ${id}`).sort())
    })

    it("are each stored once if the storage's clock jumps, too", async () => {
      await handle(true)
    })
  },
)
