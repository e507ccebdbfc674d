import { inspect } from 'node:util'
import type { Storage } from 'carillon'
import type { StorageHarness } from 'carillon/testing'
import { mapStorage } from '../map-storage/index.ts'
import { createState, type State } from '../map-storage/state.ts'
import { secondDoor } from './second-door.ts'

/** @param change makes another storage of each instance, for example one with a fault */
export function mapHarness(
  change: (storage: Storage, state: State) => Storage = (storage) => storage,
): StorageHarness {
  let now = Date.now()
  const state = createState({ now: () => now })
  const open = () => change(mapStorage(state), state)
  return {
    storage: open(),
    advance(ms) {
      now += ms
    },
    another: open,
    dump: () => inspect(state, { depth: null, maxArrayLength: null, maxStringLength: null }),
    secondDoor: secondDoor(state),
    // As `scanPage` does.
    examines: 2_000,
  }
}
