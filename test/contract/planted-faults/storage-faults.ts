import { expect, it } from 'vitest'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import type { StorageHarness } from '../../../src/testing/storage/harness.ts'
import { storageContract } from '../../../src/testing/storage-contract.ts'
import type { State } from '../../map-storage/state.ts'
import { mapHarness } from '../../map-storage-contract/harness.ts'

/** Breaks one promise of a storage. Each instance of the same data is broken alike. */
export type Fault = (good: Storage, state: State) => Storage

/** Faults by their names, each with a part of the titles of checks that find it. */
export type Faults = Readonly<Record<string, readonly [found: string, fault: Fault]>>

/**
 * Declares a test for each fault: the checks pass without it, and one of them fails with it.
 *
 * @param right what passes. Default: the storage as it is
 * @param change adds to the harness
 */
export function eachIsFound(
  faults: Faults,
  right: Fault = (good) => good,
  change: (harness: StorageHarness) => StorageHarness = (harness) => harness,
): void {
  it.each(Object.entries(faults))('%s: found', async (_name, [part, fault]) => {
    expect(await failuresOf(part, right)).toEqual([])
    expect(await failuresOf(part, fault)).not.toEqual([])
  })

  const failuresOf = (part: string, storage: Fault): Promise<string[]> =>
    failures(part, async () => change(mapHarness(storage)))
}

/** The titles of the checks with this part that a storage does not pass. */
export async function failures(part: string, create: () => Promise<StorageHarness>): Promise<string[]> {
  const checks: [title: string, run: () => Promise<void>][] = []
  storageContract((title, run) => title.includes(part) && checks.push([title, run]), create)
  const failed: string[] = []
  for (const [title, run] of checks) await run().catch(() => failed.push(title))
  return failed
}

/** Keeps the keys of reports that wait for their hand-over, and forgets what they say. */
export function forgetUnmatched(state: State): void {
  for (const [key, { at }] of state.receipts) state.receipts.set(key, { at, unmatched: null })
}

/** Lets other calls run: what was read before may be wrong behind it. */
export const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Runs the calls of one instance one after the other. */
export function ownLock(): <Answer>(work: () => Promise<Answer>) => Promise<Answer> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const answer = last.then(work)
    last = answer.catch(() => {})
    return answer
  }
}
