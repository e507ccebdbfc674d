import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createNotifier, type Notifier, perMinutePlans } from 'carillon'
import { sqlite } from 'carillon/sqlite'
import { describeMachine, median, record, withFolder } from './lib/measure.ts'
import { acceptingNotifier, backlogFile, mails } from './lib/notifiers.ts'

/**
 * Concurrent accepts and deliveries, each beside its rate alone. Also measures how long a batch's accept blocks the
 * event loop.
 */

/** More than one window delivers. */
const BACKLOG = 60_000
const WINDOW_MS = 2_000
const ROUNDS = 5
const CALLERS = 50
const CONCURRENT = 100
const BATCH = 10_000

interface Window {
  readonly accepted: number
  readonly delivered: number
}

/** Events per second within one window. */
async function watch(notifier: Notifier, accept: boolean, deliver: boolean): Promise<Window> {
  const counts = { accepted: 0, delivered: 0 }
  notifier.on('notification.sent', () => {
    counts.delivered += 1
  })
  await notifier.start({ deliver })
  const began = performance.now()
  const open = (): boolean => performance.now() - began < WINDOW_MS
  const callers = Array.from({ length: accept ? CALLERS : 0 }, async () => {
    while (open()) {
      await notifier.send({
        channel: 'email',
        to: 'ada@example.com',
        subject: 'Your parcel',
        body: 'Your parcel was handed to the carrier today and should reach you within two days.',
      })
      counts.accepted += 1
    }
  })
  if (accept) await Promise.all(callers)
  else await sleep(WINDOW_MS)
  const seconds = (performance.now() - began) / 1000
  return { accepted: counts.accepted / seconds, delivered: counts.delivered / seconds }
}

async function stalls(notifier: Notifier): Promise<{ readonly timer: number; readonly histogram: number }> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 1)
  delay.enable()
  const messages = mails(BATCH)
  // Both need a tick to measure from, and one after the last stall.
  await sleep(10)
  longest = 0
  await notifier.sendBatch(messages)
  await sleep(10)
  delay.disable()
  clearInterval(timer)
  return { timer: longest, histogram: delay.max / 1e6 }
}

await withFolder(async (folder) => {
  const backlog = join(folder, 'backlog.db')
  const file = join(folder, 'run.db')
  await backlogFile(backlog, BACKLOG)

  async function run(accept: boolean, deliver: boolean): Promise<Window> {
    copyFileSync(backlog, file)
    const notifier = createNotifier({
      storage: sqlite({ file }),
      plans: perMinutePlans,
      channels: {
        email: {
          name: 'none',
          channel: 'email',
          maxConcurrent: CONCURRENT,
          send: async () => ({ kind: 'accepted' }),
        },
      },
    })
    try {
      return await watch(notifier, accept, deliver)
    } finally {
      await notifier.stop()
    }
  }

  const seen = { accepting: [] as Window[], delivering: [] as Window[], both: [] as Window[] }
  for (let round = -1; round < ROUNDS; round += 1) {
    const accepting = await run(true, false)
    const delivering = await run(false, true)
    const both = await run(true, true)
    if (round < 0) continue
    seen.accepting.push(accepting)
    seen.delivering.push(delivering)
    seen.both.push(both)
  }
  const accepts = median(seen.accepting.map(({ accepted }) => accepted))
  const deliveries = median(seen.delivering.map(({ delivered }) => delivered))
  const acceptsToo = median(seen.both.map(({ accepted }) => accepted))
  const deliveriesToo = median(seen.both.map(({ delivered }) => delivered))

  const stalling = await acceptingNotifier(join(folder, 'stalls.db'), 'unlimited')
  const longest: { timer: number; histogram: number }[] = []
  for (let round = -2; round < 9; round += 1) {
    const stall = await stalls(stalling)
    if (round >= 0) longest.push(stall)
  }
  await stalling.stop()

  for (const [name, rate, alone] of [
    ['accepts', acceptsToo, accepts],
    ['deliveries', deliveriesToo, deliveries],
  ] as const) {
    const title = 'Accepting and delivering in one process'
    record({ title, name, value: rate, unit: `${name}/s`, floor: 'alone', ratio: rate / alone })
  }

  const rounded = (rate: number): string => Math.round(rate).toLocaleString('en')
  console.log(describeMachine())
  console.table([
    {
      'Accepting and delivering': 'accepts/s',
      alone: rounded(accepts),
      together: rounded(acceptsToo),
      ratio: (acceptsToo / accepts).toFixed(2),
    },
    {
      'Accepting and delivering': 'deliveries/s',
      alone: rounded(deliveries),
      together: rounded(deliveriesToo),
      ratio: (deliveriesToo / deliveries).toFixed(2),
    },
  ])
  console.log(`The ratios add up to ${(acceptsToo / accepts + deliveriesToo / deliveries).toFixed(2)}.`)
  console.log(
    `Longest stall of the event loop while a batch of ${BATCH.toLocaleString('en')} is accepted (median of ${longest.length}): ` +
      `${median(longest.map(({ timer }) => timer)).toFixed(0)} ms by a timer, ` +
      `${median(longest.map(({ histogram }) => histogram)).toFixed(0)} ms by monitorEventLoopDelay.`,
  )
})
