import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SendsWithRecords } from '../../../../src/core/accept/with-records.ts'
import { createDueRecords, type DueHandler } from '../../../../src/core/due/due-records.ts'
import { createDeadline } from '../../../../src/core/loop/deadline.ts'
import { systemClock } from '../../../../src/core/loop/system-clock.ts'
import type { RecordInsert } from '../../../../src/core/ports/storage/records.ts'
import { createRecordStores } from '../../../../src/core/records/record-stores.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { type Reminder, reminderKind } from '../../../../src/testing/storage/record-fixtures.ts'
import { inMemory } from '../../../support/in-memory.ts'

const MINUTE = 60_000
const POLL_MS = 10 * MINUTE

async function start(handle: DueHandler<Reminder>['handle']) {
  const withRecords = vi.fn<SendsWithRecords['withRecords']>()
  const clock = fakeClock()
  const storage = inMemory(clock)
  await storage.start({ kinds: [reminderKind] })
  const errors: Error[] = []
  const options = {
    storage,
    clock,
    pollMs: POLL_MS,
    // In the order of the claim.
    random: () => 0,
    onError: (error: unknown) => void errors.push(error as Error),
  }
  const due = createDueRecords(options)
  const handlers = [{ kind: reminderKind, handle }]
  due.start(handlers, { withRecords })
  onTestFinished(() => due.stop(createDeadline(0, systemClock())))
  const stores = createRecordStores(storage.records, () => null, due.wake)
  const store = stores.of(reminderKind)
  const remind = (id: string, inMs: number) =>
    store.insert({ id, organizationId: null, value: { at: clock.now() + inMs } })
  return { clock, storage, due, errors, store, remind, options, handlers, withRecords }
}

const removal: DueHandler<Reminder>['handle'] = async ({ record: { id }, token }) => ({
  writes: [{ kind: reminderKind, do: 'remove', id, token }],
})

const NEXT_MS = 10_000

const replacement: DueHandler<Reminder>['handle'] = async ({ record: { id, revision, readAt }, token }) => ({
  writes: [{ kind: reminderKind, do: 'replace', id, revision, token, value: { at: readAt + NEXT_MS } }],
})

describe('due records', () => {
  it('are handled at their time, also those that were written after the last look', async () => {
    const handle = vi.fn(removal)
    const { clock, errors, store, remind } = await start(handle)
    await remind('later', 2 * MINUTE)
    await remind('soon', MINUTE)
    await clock.advance(MINUTE - 1)
    expect(handle).not.toHaveBeenCalled()
    await clock.advance(1)
    expect(handle.mock.calls.map(([{ record, claims }]) => [record.id, claims])).toEqual([['soon', 1]])
    await clock.advance(MINUTE)
    expect(handle).toHaveBeenCalledTimes(2)
    expect(await store.findAll([{ id: 'soon' }, { id: 'later' }])).toEqual([null, null])
    expect(errors).toEqual([])
  })

  it('of another process are found by the poll', async () => {
    const handle = vi.fn(removal)
    const { clock, storage } = await start(handle)
    const insert: RecordInsert<Reminder> = {
      kind: reminderKind,
      do: 'insert',
      id: 'theirs',
      organizationId: null,
      value: { at: 0 },
    }
    await storage.records.write([[insert]])
    await clock.advance(POLL_MS)
    expect(handle).toHaveBeenCalledOnce()
  })

  it('that are not handled come again after their lease, and the fault says so', async () => {
    const handle = vi.fn(removal).mockRejectedValueOnce(new Error('The moon is full.'))
    const { clock, errors, remind } = await start(handle)
    await remind('r1', 0)
    await clock.advance(MINUTE - 1)
    expect(errors.map(({ message }) => message)).toEqual([
      'The record "r1" of "contract_reminders" fell due, and its handler stored nothing (attempt 1): The moon is full. It ' +
        'is handed out again in 60 seconds.',
    ])
    expect(errors[0]?.cause).toEqual(new Error('The moon is full.'))
    expect(handle).toHaveBeenCalledTimes(1)
    await clock.advance(1)
    expect(handle.mock.calls.map(([{ claims }]) => claims)).toEqual([1, 2])
    await clock.advance(60 * MINUTE)
    expect(handle).toHaveBeenCalledTimes(2)
  })

  it('of a handler that hangs come again, and its late result is not stored', async () => {
    const results: (() => void)[] = []
    const signals: AbortSignal[] = []
    const { clock, errors, remind, store } = await start(async (due, signal) => {
      signals.push(signal)
      if (due.claims === 1) await new Promise<void>((resolve) => results.push(resolve))
      else await new Promise(() => {})
      return removal(due, signal)
    })
    await remind('r1', 0)
    await clock.advance(MINUTE)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('lease has ended')])
    results[0]?.()
    await clock.advance(1)
    expect(await store.find({ id: 'r1' })).not.toBeNull()
  })

  it.each([
    ['removes', removal],
    ['replaces', replacement],
  ])('that are cancelled meanwhile are no fault of a handler that %s them', async (_does, result) => {
    const cancelled: (() => Promise<unknown>)[] = []
    const { clock, errors, remind, store } = await start(async (due, signal) => {
      await cancelled[0]?.()
      return result(due, signal)
    })
    cancelled.push(() => store.remove('r1'))
    await remind('r1', 0)
    await clock.advance(5 * MINUTE)
    expect(errors).toEqual([])
    expect(await store.find({ id: 'r1' })).toBeNull()
  })

  it('whose handler also writes a record that has changed are reported, and come again', async () => {
    const other = {
      kind: reminderKind,
      do: 'replace',
      id: 'other',
      revision: 7,
      value: { at: null },
    } as const
    const { clock, errors, remind, store } = await start(async (due, signal) => {
      const { writes } = await removal(due, signal)
      return { writes: due.claims === 1 ? [...writes, other] : writes }
    })
    await store.insert({ id: 'other', organizationId: null, value: { at: null } })
    await remind('r1', 0)
    await clock.advance(MINUTE - 1)
    expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining('refused as "stale"')])
    await clock.advance(1)
    expect(await store.find({ id: 'r1' })).toBeNull()
  })

  it('are handled at the time that their last handling gave them, before the next poll', async () => {
    const handle = vi.fn(replacement)
    const { clock, remind } = await start(handle)
    await remind('r1', 0)
    await clock.advance(NEXT_MS)
    expect(handle.mock.calls.map(([{ claims }]) => claims)).toEqual([1, 1])
  })

  it('beyond one claim are handled while earlier ones hang', async () => {
    const seen = new Set<string>()
    const { clock, remind } = await start(async (due, signal) => {
      seen.add(due.record.id)
      if (due.record.id.startsWith('hanging')) await new Promise(() => {})
      return removal(due, signal)
    })
    for (let number = 0; number < 15; number += 1) await remind(`hanging ${number}`, 0)
    for (let number = 0; number < 30; number += 1) await remind(`quick ${number}`, 1)
    await clock.advance(1_000)
    expect(seen.size).toBe(45)
  })

  it('are handled twenty at once, also if all hang, and others when their leases end', async () => {
    let handled = 0
    const { clock, remind } = await start(async () => {
      handled += 1
      await new Promise(() => {})
      return { writes: [] }
    })
    for (let number = 0; number < 70; number += 1) await remind(`r${number}`, 0)
    await clock.advance(MINUTE - 1)
    expect(handled).toBe(20)
    await clock.advance(2)
    expect(handled).toBe(40)
  })

  it('that come again are handled one after another, each within a second', async () => {
    const started: string[] = []
    const { clock, remind } = await start(async (due, signal) => {
      if (due.claims === 1) throw new Error('Not yet.')
      started.push(due.record.id)
      if (due.record.id === 'hanging') await new Promise(() => {})
      return removal(due, signal)
    })
    const ids = ['r1', 'hanging', 'r2', 'r3']
    for (const id of ids) await remind(id, 0)
    await clock.advance(MINUTE + 999)
    expect(started).toEqual(['r1', 'hanging'])
    await clock.advance(1)
    expect(started).toEqual(ids)
  })

  it('survive the end of their process', async () => {
    const { clock, due, errors, options, remind, store, withRecords } = await start(
      (_due, signal) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    await remind('r1', 0)
    await clock.advance(1)
    await due.stop(createDeadline(0, systemClock()))
    expect(errors).toEqual([])
    const next = createDueRecords(options)
    next.start([{ kind: reminderKind, handle: removal }], { withRecords })
    onTestFinished(() => next.stop(createDeadline(0, systemClock())))
    await clock.advance(MINUTE)
    expect(await store.find({ id: 'r1' })).toBeNull()
  })

  it('wait for a storage that fails, and are handled afterwards', async () => {
    const handle = vi.fn(removal)
    const { clock, storage, errors, remind } = await start(handle)
    vi.spyOn(storage.records, 'claimDue').mockRejectedValueOnce(new Error('down'))
    await remind('r1', 0)
    await clock.advance(1)
    expect(errors).toEqual([new Error('down')])
    await clock.advance(POLL_MS)
    expect(handle).toHaveBeenCalledOnce()
  })

  const message = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
  const sending: DueHandler<Reminder>['handle'] = async (due, signal) => ({
    ...(await removal(due, signal)),
    sends: [message],
  })
  const owned = { organizationId: 'org_default', value: { at: 0 } }

  it('send with the writes of their result', async () => {
    const { clock, errors, store, withRecords } = await start(sending)
    withRecords.mockResolvedValue([])
    await store.insert({ id: 'r1', ...owned })
    await clock.advance(1)
    const write = { kind: reminderKind, do: 'remove', id: 'r1', token: 1 }
    expect(withRecords.mock.calls).toEqual([['org_default', [message], [write]]])
    expect(errors).toEqual([])
  })

  it('that are cancelled before they send are no fault; a refused message or other record is one', async () => {
    const { clock, errors, store, withRecords } = await start(sending)
    withRecords
      .mockResolvedValueOnce({ kind: 'stale', at: 0 })
      .mockRejectedValueOnce(new Error('Over the quota.'))
      .mockResolvedValueOnce({ kind: 'taken', at: 0 })
      .mockResolvedValue([])
    await store.insert({ id: 'r1', ...owned })
    await clock.advance(7 * MINUTE)
    expect(withRecords).toHaveBeenCalledTimes(4)
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringContaining('(attempt 2): Over the quota.'),
      expect.stringContaining('(attempt 3): A write was refused as "taken".'),
    ])
  })

  it('send nothing if they belong to no organization, or if their claim would not end', async () => {
    const { clock, errors, store, remind, withRecords } = await start(async (due, signal) => ({
      ...(await sending(due, signal)),
      ...(due.record.id === 'kept' && { writes: [] }),
    }))
    await remind('nobody', 0)
    await store.insert({ id: 'kept', ...owned })
    await clock.advance(1)
    expect(withRecords).not.toHaveBeenCalled()
    expect(errors.map(({ message }) => message).sort()).toEqual([
      expect.stringContaining('"kept"'),
      expect.stringContaining('"nobody"'),
    ])
  })
})
