import { test } from 'node:test'
import { storageContract } from 'carillon/testing'
import { smallStorage } from '../small-storage/index.ts'
import { createState } from '../small-storage/state.ts'
import { secondDoor } from './second-door.ts'

storageContract(test, async () => {
  let now = Date.now()
  const state = createState(() => now)
  return {
    storage: smallStorage(state),
    advance(ms) {
      now += ms
    },
    another: () => smallStorage(state),
    secondDoor: secondDoor(state),
  }
})
