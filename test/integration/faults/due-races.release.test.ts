import { expect, it } from 'vitest'
import type { RecordInsert } from '../../../src/core/ports/storage/records.ts'
import { organization, TEN, timeOf } from '../../../src/testing/storage/fixtures.ts'
import {
  find,
  outcome,
  type Reminder,
  reminderKind,
  removal,
} from '../../../src/testing/storage/record-fixtures.ts'
import { DUE_STORAGES, dueWorld, missingFor, reminder } from '../../support/faults/due-world.ts'
import { describeEachWith } from '../../support/left-out.ts'

const COUNT = 400
/** The records fall due in this time. */
const SPREAD_MS = 2_000
/** Of processes that die. */
const LEASE_MS = 1_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describeEachWith(DUE_STORAGES, missingFor, 'ten processes on %s, of which half are killed', (name) => {
  it('handle each record once as it was last written, or it was cancelled, and never both', async () => {
    const world = await dueWorld(name)
    const { storage } = world
    const owners = [await organization(storage), await organization(storage), null, undefined]
    const processes = TEN.map(() => world.run({ leaseMs: LEASE_MS, takesMs: 50 }))
    for (const { said } of processes) await said('started')

    // Storing them takes a while.
    const begin = (await timeOf(storage)) + 1_000
    const reminders = Array.from({ length: COUNT }, (_, index) =>
      reminder(begin + (index / COUNT) * SPREAD_MS, owners[index % owners.length]),
    )
    await storage.records.write(reminders.map((each) => [each]))

    const cancelled = new Set<string>()
    const replaced = new Set<string>()
    async function cancel({ id }: RecordInsert<Reminder>): Promise<void> {
      const [answer] = await storage.records.write([[removal(reminderKind, id)]])
      if (answer?.kind === 'written' && answer.records[0] !== null) cancelled.add(id)
    }
    async function replace({ id }: RecordInsert<Reminder>): Promise<void> {
      const found = await find(storage, reminderKind, id)
      if (found === null) return
      const value = { at: found.readAt, note: 'second' }
      const stored = await outcome(storage, { kind: reminderKind, do: 'replace', id, revision: 1, value })
      if (stored === 'written') replaced.add(id)
    }
    const changes = [cancel, replace, async () => {}]
    const now = await timeOf(storage)
    const changing = reminders.map(async (each, index) => {
      // Around the time at which it is handled.
      await sleep(Math.max(0, (each.value.at ?? 0) - now + (index % 7) * 10))
      await changes[index % changes.length]?.(each)
    })
    const dying = processes.slice(0, 5).map(async ({ kill, ended }, index) => {
      await sleep(((index + 1) * SPREAD_MS) / 8)
      kill('SIGKILL')
      await ended
    })
    await Promise.all([...changing, ...dying])
    await world.allHandled(reminders)
    await world.stop(...processes.slice(5))

    const traces = await world.traces()
    const notes = reminders.map(({ id }) => [id, traces.get(id)?.map(({ note }) => note) ?? []])
    const expected = reminders.map(({ id }) => {
      if (cancelled.has(id)) return [id, []]
      return [id, [replaced.has(id) ? 'second' : 'first']]
    })
    expect(notes).toEqual(expected)
    expect(cancelled.size).toBeGreaterThan(0)
    expect(replaced.size).toBeGreaterThan(0)
    expect(new Set([...traces.values()].flat().map((trace) => trace.process)).size).toBeGreaterThan(1)
  })
})
