import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createNotifier, type Notifier, perMinutePlans } from 'carillon'
import { describeMachine, median, withFolder } from './lib/measure.ts'
import { acceptingNotifier, mails } from './lib/notifiers.ts'

/** Memory of waiting notifications, and the time from a restart to the first hand-over. */

const QUEUED = 100_000
const BATCH = 10_000
const WARM_UP = 3 * BATCH
const RESTARTS = 5

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

interface Memory {
  readonly rss: number
  readonly heap: number
}

function memory(): Memory {
  collectGarbage()
  collectGarbage()
  const { rss, heapUsed, external } = process.memoryUsage()
  return { rss, heap: heapUsed + external }
}

/** Bytes of this process per accepted and undelivered notification. */
async function bytesEach(notifier: Notifier): Promise<Memory> {
  const queue = async (): Promise<void> => {
    await notifier.sendBatch(mails(BATCH))
  }
  // Excludes the effects of the first batches: compiled code, spare heap, the database's cache.
  for (let queued = 0; queued < WARM_UP; queued += BATCH) await queue()
  const before = memory()
  for (let queued = 0; queued < QUEUED; queued += BATCH) await queue()
  const after = memory()
  return { rss: (after.rss - before.rss) / QUEUED, heap: (after.heap - before.heap) / QUEUED }
}

function memoryNotifier(): Notifier {
  return createNotifier({
    channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
    plans: perMinutePlans,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
}

interface Restart {
  readonly firstMs: number
  readonly startedMs: number
}

async function restart(file: string): Promise<Restart> {
  const child = fork(fileURLToPath(new URL('lib/restart-process.ts', import.meta.url)), [file])
  const ended = once(child, 'exit')
  const [answer] = (await once(child, 'message')) as [Restart]
  child.kill()
  await ended
  return answer
}

await withFolder(async (folder) => {
  const file = join(folder, 'notifier.db')
  const durable = await acceptingNotifier(file, 'unlimited')
  const inFile = await bytesEach(durable)
  await durable.stop()
  const bytes = statSync(file).size / (QUEUED + WARM_UP)

  const restarts: Restart[] = []
  for (let round = -1; round < RESTARTS; round += 1) {
    const copy = join(folder, `restart-${round}.db`)
    copyFileSync(file, copy)
    const answer = await restart(copy)
    if (round >= 0) restarts.push(answer)
  }

  const volatile = memoryNotifier()
  await volatile.start({ deliver: false })
  const inMemory = await bytesEach(volatile)
  await volatile.stop()

  const whole = (value: number): string => Math.round(value).toLocaleString('en')
  console.log(describeMachine())
  console.table([
    {
      [`${QUEUED.toLocaleString('en')} queued`]: 'SQLite in a file',
      'resident bytes each': whole(inFile.rss),
      'heap bytes each': whole(inFile.heap),
      'bytes of the file each': whole(bytes),
    },
    {
      [`${QUEUED.toLocaleString('en')} queued`]: 'SQLite in memory',
      'resident bytes each': whole(inMemory.rss),
      'heap bytes each': whole(inMemory.heap),
      'bytes of the file each': '–',
    },
  ])
  const first = median(restarts.map(({ firstMs }) => firstMs))
  const afterStart = median(restarts.map(({ firstMs, startedMs }) => firstMs - startedMs))
  console.log(
    `First hand-over after a restart with ${whole(QUEUED + WARM_UP)} queued: ${afterStart.toFixed(0)} ms after start(), ` +
      `${first.toFixed(0)} ms after the process began.`,
  )
})
