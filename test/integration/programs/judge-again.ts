// A process that delivers, and judges delayed messages again one by one. It ends by its own hand after so many steps. It says
// "started".
// Usage: node judge-again.ts <options as JSON>

import { systemClock } from '../../../src/core/loop/system-clock.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface JudgeAgainProgram {
  readonly location: StorageLocation
  /** How far all its clocks are off. */
  readonly offMs: number
  /** Steps before it ends. Default: it goes on. */
  readonly steps?: number | undefined
}

const {
  location,
  offMs,
  steps = Number.POSITIVE_INFINITY,
}: JudgeAgainProgram = JSON.parse(process.argv[2] ?? '')
const storage = openStorage(location, offMs)
const system = systemClock()
let done = 0
const notifier = createNotifier({
  channels: { email: recordingProvider() },
  clock: { ...system, now: () => system.now() + offMs },
  storage: {
    ...storage,
    notifications: {
      ...storage.notifications,
      async judgeAgain(request) {
        if (done >= steps) process.kill(process.pid, 'SIGKILL')
        const answer = await storage.notifications.judgeAgain({ ...request, most: 1 })
        done += 1
        return answer
      },
    },
  },
  delivery: { pollMs: 20 },
})
await notifier.start()
process.stdout.write('started\n')
