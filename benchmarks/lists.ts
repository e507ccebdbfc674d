import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, createNotifier, type Notifier } from 'carillon'
import { sqlite } from 'carillon/sqlite'
import { systemClock } from '../src/core/loop/system-clock.ts'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { mails } from './lib/notifiers.ts'

/** The lists, the search and the overview of the dashboard with a million notifications, beside those with a thousand. */

const FEW = 1_000
const MANY = 1_000_000
const REPEATS = 20
const FIRST = { channel: 'email', to: 'the-first@example.com', subject: 'Hello', body: 'Hello' } as const

/** Over three weeks, as retention would leave them. */
const SPREAD_MS = 20 * 86_400_000

/** Each hundredth fails, one mail has metadata, and the oldest has an address of its own. */
async function filled(file: string, count: number): Promise<Notifier> {
  const system = systemClock()
  let behind = SPREAD_MS
  const clock: Clock = { ...system, now: () => system.now() - behind }
  let settled = 0
  const notifier = createNotifier({
    storage: sqlite({ file, clock }),
    channels: {
      email: {
        name: 'sink',
        async send({ to }) {
          if (to.endsWith('07@example.com'))
            return { kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }
          return { kind: 'accepted' }
        },
      },
    },
    clock,
  })
  notifier.on('notification.sent', () => (settled += 1))
  notifier.on('notification.failed', () => (settled += 1))
  await notifier.start()
  await notifier.send({ ...FIRST, metadata: { order: '4711' } })
  const batch = Math.max(count / 100, 100)
  for (let accepted = 0; accepted < count; accepted += batch) {
    behind = SPREAD_MS * (1 - accepted / count)
    await notifier.sendBatch(mails(batch))
    while (settled < accepted + batch) await sleep(1)
  }
  behind = 0
  return notifier
}

const READS: Readonly<Record<string, (notifier: Notifier) => Promise<unknown>>> = {
  'first page': ({ notifications }) => notifications.list({ limit: 50 }),
  'page of a status': ({ notifications }) => notifications.list({ limit: 10, status: 'failed' }),
  'page of an address': ({ notifications }) =>
    notifications.list({ limit: 10, to: 'customer-8@example.com' }),
  'the oldest by its address': ({ notifications }) => notifications.list({ limit: 50, to: FIRST.to }),
  'page of the beginning of an address': ({ notifications }) =>
    notifications.list({ limit: 50, toPrefix: 'customer-8' }),
  'the oldest by the beginning of its address': ({ notifications }) =>
    notifications.list({ limit: 50, toPrefix: 'the-first' }),
  'the one with a pair of metadata': ({ notifications }) =>
    notifications.list({ limit: 50, metadata: { order: '4711' } }),
  'page of the delivery log': ({ logs }) => logs.list({ limit: 50 }),
  'failures by cause': ({ deadLetters }) => deadLetters.groups(),
  'overview of an hour': ({ statistics }) => statistics.get({ period: '1h' }),
  'overview of a day': ({ statistics }) => statistics.get({ period: '24h' }),
  'overview of a week': ({ statistics }) => statistics.get({ period: '7d' }),
}

await withFolder(async (folder) => {
  const few = await filled(join(folder, 'few.db'), FEW)
  const many = await filled(join(folder, 'many.db'), MANY)
  console.log(describeMachine())
  for (const [name, read] of Object.entries(READS)) {
    const repeated = (notifier: Notifier) => async () => {
      for (let done = 0; done < REPEATS; done += 1) await read(notifier)
      return REPEATS
    }
    const rates = await compare(
      [
        { name: `${FEW} notifications`, run: repeated(few) },
        { name: `${MANY} notifications`, run: repeated(many) },
      ],
      7,
    )
    report(`Lists: ${name} (SQLite)`, 'reads', rates, `${FEW} notifications`)
  }
  await few.stop()
  await many.stop()
})
