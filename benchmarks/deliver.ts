import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { sqlite } from 'carillon/sqlite'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { backlogFile, mails, sentCount } from './lib/notifiers.ts'
import { rawDelivery } from './lib/raw-delivery.ts'
import { type RawJobs, rawJobs } from './lib/raw-jobs.ts'
import { notifmeRival } from './rivals/notifme.ts'

/**
 * Delivers a backlog through a no-op provider: render, attempt, log and status. Beside the same statements on the same
 * rows by hand, and a rival without storage.
 */

const BACKLOG = 50_000
/** Concurrent deliveries, and so the size of a set, for both. */
const CONCURRENT = 100
const ROUNDS = 3

function delivering(file: string): Notifier {
  return createNotifier({
    storage: sqlite({ file }),
    channels: {
      email: {
        name: 'none',
        channel: 'email',
        maxConcurrent: CONCURRENT,
        send: async () => ({ kind: 'accepted' }),
      },
    },
  })
}

await withFolder(async (folder) => {
  const backlog = join(folder, 'backlog.db')
  await backlogFile(backlog, BACKLOG)

  const delivered = join(folder, 'delivered.db')
  copyFileSync(backlog, delivered)
  const first = delivering(delivered)
  const all = sentCount(first, BACKLOG)
  await first.start()
  await all
  await first.stop()

  const file = join(folder, 'run.db')
  let notifier: Notifier | undefined
  let raw: RawJobs | undefined
  async function release(): Promise<void> {
    await notifier?.stop()
    raw?.close()
    notifier = undefined
    raw = undefined
    copyFileSync(backlog, file)
  }

  const rival = notifmeRival()
  const messages = mails(BACKLOG)
  const rates = await compare(
    [
      {
        name: `SQLite alone, ${CONCURRENT} a set`,
        async prepare() {
          await release()
          raw = rawJobs(file)
        },
        async run() {
          if (raw === undefined) return 0
          const deliverSet = rawDelivery(delivered, raw)
          while (deliverSet(CONCURRENT).count > 0);
          return BACKLOG
        },
      },
      {
        name: `Carillon, ${CONCURRENT} under way`,
        async prepare() {
          await release()
          notifier = delivering(file)
        },
        async run() {
          if (notifier === undefined) return 0
          const sent = sentCount(notifier, BACKLOG)
          await notifier.start()
          await sent
          return BACKLOG
        },
      },
      {
        name: `notifme-sdk, ${CONCURRENT} under way, nothing stored`,
        async run() {
          const queue = messages.values()
          await Promise.all(
            Array.from({ length: CONCURRENT }, async () => {
              for (const { to, subject, body } of queue) {
                await rival.send({ email: { from: 'no-reply@example.com', to, subject, text: body } })
              }
            }),
          )
          return BACKLOG
        },
      },
    ],
    ROUNDS,
  )
  await release()
  console.log(describeMachine())
  report(
    `Deliveries from a backlog of ${BACKLOG.toLocaleString('en')} (WAL, full sync)`,
    'deliveries',
    rates,
    `SQLite alone, ${CONCURRENT} a set`,
  )
})
