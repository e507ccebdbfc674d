// A process that does one thing and delivers, and that ends or stops itself at a named point of its life.
// It says "started", "at <point>", "accepted <id>", "unsubscribed", "suppressed", "reported", "retried <count>", "swept <count>", "stopped" and
// "error <message>".
// Usage: node work.ts <options as JSON>
import { flushCompileCache } from 'node:module'
import { systemClock } from '../../../src/core/loop/system-clock.ts'
import type { Receipt } from '../../../src/core/ports/receipts.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Person } from '../../../src/features/recipients/options.ts'
import { servedNotifier } from '../../../src/served-notifier.ts'
import { httpProvider } from '../../support/faults/http-provider.ts'
import { endingAt, type Point } from '../../support/faults/points.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'

export interface WorkOptions {
  readonly location: StorageLocation
  /** Where the provider listens. */
  readonly port: number
  readonly leaseMs: number
  /** Default: half of the lease. */
  readonly timeoutMs?: number
  /** Default true. */
  readonly deliver?: boolean
  /** Where it ends. */
  readonly point?: Point
  /** How. Default SIGKILL. */
  readonly signal?: 'SIGKILL' | 'SIGSTOP'
  /** How far the process' own clock is off, and the storage's. */
  readonly clockMs?: number
  readonly storageClockMs?: number
  /** The application's people by id. */
  readonly people?: Readonly<Record<string, Person>>
  /** Signs the links. */
  readonly secret?: string
  readonly task?:
    | {
        readonly do: 'send'
        readonly key: string
        readonly body: string
        /** In place of an address. */
        readonly recipient?: string
      }
    | { readonly do: 'unsubscribe'; readonly token: string }
    | { readonly do: 'suppress'; readonly to: string }
    | { readonly do: 'report'; readonly receipts: readonly Receipt[] }
    | { readonly do: 'retry' }
    | { readonly do: 'sweep'; readonly olderThanMs: number }
}

const options: WorkOptions = JSON.parse(process.argv[2] ?? '')
// A process that is killed leaves nothing to the next one by itself.
flushCompileCache()
const {
  location,
  port,
  leaseMs,
  timeoutMs = leaseMs / 2,
  point,
  signal = 'SIGKILL',
  task,
  clockMs = 0,
} = options

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function end(): void {
  say(`at ${point}`)
  process.kill(process.pid, signal)
}

const stored = openStorage(location, options.storageClockMs)
const storage = point === undefined ? stored : endingAt(stored, point, end)
const system = systemClock()
const notifier = createNotifier({
  channels: { email: httpProvider({ port, timeoutMs }) },
  storage,
  recipients: { resolve: () => options.people ?? {} },
  categories: { news: { name: 'News' } },
  secret: options.secret,
  webhooks: { allowHttp: true, allow: ['127.0.0.0/8'] },
  delivery: { leaseMs, pollMs: 50 },
  clock: { ...system, now: () => system.now() + clockMs },
})
notifier.on('error', (error) => say(`error ${error.message}`))
await notifier.start({ deliver: options.deliver ?? true })
process.on('SIGTERM', () => {
  void notifier.stop({ timeoutMs: 5_000 }).then(() => say('stopped'))
})
say('started')

switch (task?.do) {
  case 'send': {
    const whom = task.recipient === undefined ? { to: 'ada@example.com' } : { recipient: task.recipient }
    const message = { channel: 'email', body: task.body, ...whom } as const
    const { id } = await notifier.send(message, { idempotencyKey: task.key })
    say(`accepted ${id}`)
    break
  }
  case 'unsubscribe':
    await servedNotifier(notifier).pages.unsubscribe(task.token)
    say('unsubscribed')
    break
  case 'suppress':
    await notifier.suppressions.add({ channel: 'email', to: task.to })
    say('suppressed')
    break
  case 'report': {
    const body = new TextEncoder().encode(JSON.stringify(task.receipts))
    const source = { channel: 'email', provider: 'http' } as const
    await servedNotifier(notifier).receipts.take(source, {
      method: 'POST',
      target: '/',
      host: undefined,
      headers: {},
      body,
    })
    say('reported')
    break
  }
  case 'retry':
    say(`retried ${(await notifier.deadLetters.retry({ filter: {} })).retried}`)
    break
  case 'sweep': {
    const { olderThanMs } = task
    const swept = await storage.expire({ what: { organizationId: 'org_default', olderThanMs }, most: 1 })
    say(`swept ${swept.removed.notifications}`)
    break
  }
  default:
}
