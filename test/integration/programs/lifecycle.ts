// A process that starts a notifier and says what happens; whether it ends by itself is what the test looks at.
// Usage: node lifecycle.ts <options as JSON>
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { createNotifier } from '../../../src/create-notifier.ts'

export interface LifecycleOptions {
  readonly database: string
  readonly stop: boolean
  readonly deliver: boolean
  /** A receiver of webhook events that never ends a connection. */
  readonly port: number
}

const { database, stop, deliver, port }: LifecycleOptions = JSON.parse(process.argv[2] ?? '')
const notifier = createNotifier({
  channels: {
    email: { name: 'none', send: async () => ({ kind: 'accepted' }) },
    // Rests, and is to be tried again.
    slack: {
      name: 'refused',
      channel: 'slack',
      send: async () => ({ kind: 'rejected', code: 'invalid_slack_token', scope: 'account' }),
    },
    // Is given up by the deadline of the stop, with all of its own timers running.
    push: { name: 'silent', accepts: () => true, send: () => new Promise(() => {}) },
  },
  storage: sqlite({ file: database }),
  webhooks: { allow: ['127.0.0.0/8'], allowHttp: true },
})
await notifier.start({ deliver })
const hook = await notifier.webhooks.create({ url: `http://127.0.0.1:${port}/` })
await notifier.webhooks.test(hook.id)
const message = { to: 'ada@example.com', body: 'x' } as const
await notifier.send({ ...message, channel: 'email' })
await notifier.send({ ...message, channel: 'email', sendAt: new Date(Date.now() + 3_600_000) })
await notifier.send({ ...message, channel: 'slack', to: '#ops' })
await notifier.send({ ...message, channel: 'push', to: 'token' })
if (deliver) {
  const busy = async (): Promise<boolean> => {
    const { providers } = await notifier.health()
    const { items } = await notifier.webhooks.deliveries(hook.id)
    const states = providers.map(({ state, running }) => `${state} ${running}`)
    return String(states) === 'ready 0,paused 0,ready 1' && items[0]?.status === 'delivered'
  }
  while (!(await busy())) await new Promise((resolve) => setTimeout(resolve, 10))
}
process.stdout.write('sent\n')
if (stop) {
  await notifier.stop({ timeoutMs: 100 })
  // Pipes are this process' own output; a synchronization of the disk ends by itself.
  const passing = new Set(['PipeWrap', 'FSReqCallback'])
  const kept = process.getActiveResourcesInfo().filter((resource) => !passing.has(resource))
  process.stdout.write(`kept by ${kept.join() || 'nothing'}\n`)
}
