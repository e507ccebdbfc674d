// A process that handles reminders as they fall due: of each it leaves a trace in the commit that removes it. It ends by its own
// hand at a named point. It says "started", "ran <id>", "at <point>", "stopped" and "error <message>".
// Usage: node due.ts <options as JSON>
import { randomUUID } from 'node:crypto'
import { createDueRecords, type DueHandler } from '../../../src/core/due/due-records.ts'
import { createDeadline } from '../../../src/core/loop/deadline.ts'
import { systemClock } from '../../../src/core/loop/system-clock.ts'
import {
  CONTRACT_START,
  insertion,
  type Reminder,
  reminderKind,
} from '../../../src/testing/storage/record-fixtures.ts'
import { endingAt, type Point } from '../../support/faults/points.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface DueProgram {
  readonly location: StorageLocation
  readonly leaseMs: number
  /** What handling one takes. Default 0. */
  readonly takesMs?: number
  /** Where it ends; also when it handles one with the note `poison`. */
  readonly point?: Point | 'handling'
  /** How far its clock is off: at first, and then after each claim. The last one stays. */
  readonly clocksMs?: readonly number[]
  /** It is the storage's clock, too. Default true. */
  readonly sharesClock?: boolean
}

const options: DueProgram = JSON.parse(process.argv[2] ?? '')
const { location, leaseMs, takesMs = 0, point, sharesClock = true } = options
const clocksMs = [...(options.clocksMs ?? [0])]
const say = (line: string): void => void process.stdout.write(`${line}\n`)

function end(): void {
  say(`at ${point}`)
  process.kill(process.pid, 'SIGKILL')
}

const offMs = (): number => clocksMs[0] ?? 0
const opened = openStorage(location, sharesClock && options.clocksMs !== undefined ? offMs : undefined)
const stored = point === undefined || point === 'handling' ? opened : endingAt(opened, point, end)
const storage = {
  ...stored,
  records: {
    ...stored.records,
    async claimDue(request: Parameters<typeof stored.records.claimDue>[0]) {
      const answer = await stored.records.claimDue({ ...request, leaseMs })
      if (clocksMs.length > 1) clocksMs.shift()
      return answer
    },
  },
}
const system = systemClock()
const clock = { ...system, now: () => system.now() + offMs() }

const handler: DueHandler<Reminder> = {
  kind: reminderKind,
  async handle({ record: { id, value }, token, claims }) {
    say(`ran ${id}`)
    if (point === 'handling' || value.note === 'poison') end()
    await new Promise((resolve) => setTimeout(resolve, takesMs))
    return {
      writes: [
        { kind: reminderKind, do: 'remove', id, token },
        // Of a name of its own: a second run would leave a second trace.
        insertion(
          { group: 'traces', reminder: id, note: value.note, claims, process: process.pid },
          { id: randomUUID() },
        ),
      ],
    }
  },
}

const due = createDueRecords({
  storage,
  clock,
  pollMs: 50,
  random: Math.random,
  onError: (error) => say(`error ${error instanceof Error ? error.message : String(error)}`),
})
// Timers of the service keep no process alive.
const alive = setInterval(() => {}, 60_000)
await storage.start(CONTRACT_START)
process.on('SIGTERM', async () => {
  clearInterval(alive)
  await due.stop(createDeadline(5_000, system))
  await storage.stop()
  say('stopped')
})
say('started')
due.start([handler], {
  withRecords: async () => {
    throw new Error('It sends nothing.')
  },
})
