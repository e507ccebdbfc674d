import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { createNotifier } from 'carillon'
import { describeMachine, record } from './lib/measure.ts'

/**
 * One organization sends mails with 18,000 tracked links each, another one sends small mails through the same provider.
 * Prints the longest slice of the event loop beside the p99.9 of an idle run in the same process, and the delivery time
 * of the small mails.
 */

const HEAVY = 200
const IDLE_MS = 10_000
const MOST_RATIO = 5
const TITLE = 'Longest slice under heavy mails'

/** In milliseconds. */
interface Loop {
  readonly longest: number
  readonly p999: number
}

async function watch(work: () => Promise<void>): Promise<Loop> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  await work()
  delay.disable()
  return { longest: delay.max / 1e6, p999: delay.percentile(99.9) / 1e6 }
}

async function attack(maxConcurrent: number): Promise<Loop & { readonly slowest: number }> {
  let delivered = 0
  let handedOver = (): void => {}
  const notifier = createNotifier({
    publicUrl: 'https://notify.example',
    channels: {
      email: {
        name: 'none',
        channel: 'email',
        maxConcurrent,
        async send({ to }) {
          if (to.startsWith('heavy')) delivered += 1
          else handedOver()
          return { kind: 'accepted' }
        },
      },
    },
  })
  await notifier.start()
  const heavy = await notifier.organizations.create({ name: 'Heavy', tracking: { clicks: true } })
  const small = await notifier.organizations.create({ name: 'Small' })
  const body = `{{a}}${'<a href="https://e.io">x</a>'.repeat(18_000)}`
  const template = { name: 'heavy', channel: 'email', subject: 'Links', body } as const
  await notifier.organization(heavy.id).templates.create(template)
  const mail = { to: 'heavy@example.com', template: 'heavy', variables: { a: 'x' } }
  await notifier.organization(heavy.id).sendBatch(Array(HEAVY).fill(mail))

  let slowest = 0
  const loop = await watch(async () => {
    while (delivered < HEAVY) {
      const began = performance.now()
      const one = new Promise<void>((resolve) => {
        handedOver = resolve
      })
      const message = { channel: 'email', to: 'small@example.com', subject: 'Hi', body: 'Hi' } as const
      await notifier.organization(small.id).send(message)
      await one
      slowest = Math.max(slowest, performance.now() - began)
    }
  })
  await notifier.stop()
  return { ...loop, slowest }
}

console.log(describeMachine())
// Warms up the compiler.
await attack(10)
const idle = await watch(() => sleep(IDLE_MS))
const rows: Readonly<Record<string, string>>[] = []
for (const maxConcurrent of [10, 100]) {
  const { longest, slowest } = await attack(maxConcurrent)
  const ratio = longest / idle.p999
  rows.push({
    [TITLE]: `maxConcurrent ${maxConcurrent}`,
    'longest slice (ms)': longest.toFixed(1),
    'idle p99.9 (ms)': idle.p999.toFixed(1),
    [`ratio (at most ${MOST_RATIO})`]: ratio.toFixed(2),
    'slowest small mail (ms)': slowest.toFixed(1),
  })
  const floor = 'idle p99.9'
  record({ title: TITLE, name: `maxConcurrent ${maxConcurrent}`, value: longest, unit: 'ms', floor, ratio })
}
console.table(rows)
