import { beforeEach, expect, test } from 'vitest'
import { configuredProvider } from '../../../../src/core/channels/providers.ts'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import type { Receipt } from '../../../../src/core/notification/receipt.ts'
import { silentLogger } from '../../../../src/core/observe/silent-logger.ts'
import type { ReceiptRecord } from '../../../../src/core/ports/storage/receipts.ts'
import { type Backpressure, createBackpressure } from '../../../../src/features/receipts/backpressure.ts'
import { createReceipts, type ReceiptServices } from '../../../../src/features/receipts/service.ts'
import { type FakeClock, fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { kindOf } from '../../../support/kinds.ts'
import { HASHES } from '../../../support/person-hashes.ts'

const COMMIT_MS = 10

let clock: FakeClock
let sets: { readonly at: number; readonly size: number }[]
let backpressure: Backpressure
let guilty: string

beforeEach(() => {
  clock = fakeClock()
  sets = []
  backpressure = createBackpressure(clock)
  guilty = ''
})

/** Receipts over a storage whose commits take some time; each request's body is the key of its one report. */
function receipts(about: Partial<Receipt> = { fact: { type: 'delivered' } }) {
  const storage = {
    ...inMemory(clock),
    async recordReceipts(records: readonly ReceiptRecord[]) {
      sets.push({ at: clock.monotonic(), size: records.length })
      await new Promise<void>((resolve) => void clock.timer(COMMIT_MS, resolve))
      return records.map(({ dedupeKey }) =>
        dedupeKey === guilty
          ? ({ kind: 'failed', error: new NotifierError('internal_server_error') } as const)
          : ({ kind: 'unmatched' } as const),
      )
    },
  }
  const provider = configuredProvider(
    recordingProvider({
      parseReceipts: async ({ body }) => ({
        kind: 'receipts',
        receipts: [{ dedupeKey: new TextDecoder().decode(body), ...about }],
      }),
    }),
    kindOf('email'),
  )
  const services: ReceiptServices = {
    storage,
    clock,
    hashes: HASHES,
    logger: silentLogger(),
    publicUrl: undefined,
    registry: { withInstance: (_where, work) => work(provider) },
    emit() {},
    wake() {},
    backpressure,
  }
  const { take } = createReceipts(services, { async optOut() {} })
  return (key: string) =>
    take(
      { channel: 'email', provider: 'recorder' },
      { method: 'POST', target: '/', host: undefined, headers: {}, body: new TextEncoder().encode(key) },
    )
}

/** Lets what was begun come as far as it can, then time go by. */
async function pass(ms: number): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await clock.advance(0)
  for (let left = ms; left > 0; left -= 1) await clock.advance(1)
}

const keys = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

test('all reports that arrive while a commit runs share the next one', async () => {
  const take = receipts()
  const first = take('first')
  await pass(1)
  const others = keys(300, 'other').map(take)
  await pass(3 * COMMIT_MS)
  await Promise.all([first, ...others])
  expect(sets.map(({ size }) => size)).toEqual([1, 300])
})

test('receipts follow each other without a pause while nobody sends', async () => {
  const take = receipts()
  for (const key of keys(4, 'report')) {
    const taken = take(key)
    await pass(COMMIT_MS)
    await taken
  }
  expect(sets.map(({ at }) => at)).toEqual([0, 10, 20, 30])
})

test('while others store, receipts rest after each set for eight times as long as it took', async () => {
  const take = receipts()
  const first = take('first')
  backpressure.stored(1)
  await pass(COMMIT_MS)
  const others = [take('second'), take('third')]
  await pass(8 * COMMIT_MS)
  await pass(COMMIT_MS)
  expect(sets).toEqual([
    { at: 0, size: 1 },
    { at: 90, size: 2 },
  ])
  await Promise.all([first, ...others])
})

test('they rest no longer than it takes the others to store ten for each of theirs', async () => {
  const take = receipts()
  const first = keys(5, 'first').map(take)
  backpressure.stored(1)
  await pass(COMMIT_MS)
  const second = take('second')
  await pass(3)
  backpressure.stored(49)
  await pass(3)
  expect(sets).toHaveLength(1)
  backpressure.stored(1)
  await pass(COMMIT_MS)
  expect(sets).toEqual([
    { at: 0, size: 5 },
    { at: 16, size: 1 },
  ])
  await Promise.all([...first, second])
})

const address = '+4915112345678'

test.each<[string, Partial<Receipt>]>([
  ['report', { fact: { type: 'delivered' } }],
  ['opt-out', { suppress: { address, reason: 'unsubscribe' } }],
  ['opt-in', { unsuppress: { address } }],
])('a %s that cannot be stored fails its own request alone', async (_what, about) => {
  const take = receipts(about)
  guilty = 'report-1'
  const ends = Promise.allSettled(keys(3, 'report').map(take))
  await pass(COMMIT_MS)
  expect((await ends).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(sets).toHaveLength(1)
})
