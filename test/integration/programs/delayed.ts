// A process in which a judge lets messages wait: one from the accept on, one before its first attempt. It ends by its own hand
// at a named point. It says "waiting" when both wait, and "at <point>".
// Usage: node delayed.ts <options as JSON>
import type { AnyFeature } from '../../../src/core/feature.ts'
import { GO, type Judge } from '../../../src/core/gate/verdict.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import { FEATURES } from '../../../src/features/index.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import { endingAt, type Point } from '../../support/faults/points.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface DelayedProgram {
  readonly location: StorageLocation
  /** Until when they wait, in epoch milliseconds. */
  readonly until: number
  /** Where it ends. Default: nowhere. */
  readonly point?: Point
}

const { location, until, point }: DelayedProgram = JSON.parse(process.argv[2] ?? '')
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const message = { channel: 'email', body: 'Hello' } as const

/** Lets the message to `late` go at its accept only. */
const accepted = new Set<string>()
const judge: Judge = (asked) =>
  asked.map(({ to }) => {
    if (to === 'late@example.com' && !accepted.has(to)) {
      accepted.add(to)
      return GO
    }
    return { kind: 'wait', until, reason: 'Not yet.' }
  })
const judging: AnyFeature = { name: 'judging', create: () => ({ api: {}, judge }) }
const features = FEATURES as unknown as AnyFeature[]
features.push(judging)

function end(): void {
  say(`at ${point}`)
  process.kill(process.pid, 'SIGKILL')
}

const stored = openStorage(location)
const notifier = createNotifier({
  channels: { email: recordingProvider() },
  storage: point === undefined ? stored : endingAt(stored, point, end),
  delivery: { pollMs: 20 },
})
await notifier.start()
const early = await notifier.send({ ...message, to: 'early@example.com' })
const late = await notifier.send({ ...message, to: 'late@example.com' })
for (const { id } of [early, late])
  await eventually(async () => (await notifier.notifications.get(id)).waiting?.reason === 'delayed')
say('waiting')
