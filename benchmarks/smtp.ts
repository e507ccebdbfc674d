import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { smtpChannel } from 'carillon/smtp'
import { sqliteStorage } from 'carillon/sqlite'
import { createTransport } from 'nodemailer'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { backlogFile, mails } from './lib/notifiers.ts'
import { startSink } from './lib/sink.ts'

/** A backlog of mails to a mail server, beside nodemailer's own pool with as many connections and nothing stored. */

const MAILS = 5_000
const CONNECTIONS = 10
const ROUNDS = 3
const FROM = 'no-reply@example.com'

const sink = await startSink('smtp')
const pool = createTransport({
  pool: true,
  host: '127.0.0.1',
  port: sink.port,
  maxConnections: CONNECTIONS,
  maxMessages: Number.POSITIVE_INFINITY,
})

function delivering(file: string): Notifier {
  return createNotifier({
    storage: sqliteStorage({ file }),
    channels: {
      email: smtpChannel({
        host: '127.0.0.1',
        port: sink.port,
        from: FROM,
        maxConnections: CONNECTIONS,
        maxMessages: 1_000_000,
      }),
    },
  })
}

await withFolder(async (folder) => {
  const backlog = join(folder, 'backlog.db')
  await backlogFile(backlog, MAILS)
  const file = join(folder, 'run.db')
  let notifier: Notifier | undefined
  const messages = mails(MAILS)
  try {
    const rates = await compare(
      [
        {
          name: `nodemailer's pool, ${CONNECTIONS} connections`,
          async run() {
            const received = sink.expect(MAILS)
            const queue = messages.values()
            await Promise.all(
              Array.from({ length: CONNECTIONS }, async () => {
                for (const { to, subject, body } of queue) {
                  await pool.sendMail({ from: FROM, to, subject, text: body })
                }
              }),
            )
            await received
            return MAILS
          },
        },
        {
          name: `Carillon, ${CONNECTIONS} connections`,
          async prepare() {
            await notifier?.stop()
            copyFileSync(backlog, file)
            notifier = delivering(file)
          },
          async run() {
            const received = sink.expect(MAILS)
            await notifier?.start()
            await received
            return MAILS
          },
        },
      ],
      ROUNDS,
    )
    console.log(describeMachine())
    report('Mails over SMTP', 'mails', rates, `nodemailer's pool, ${CONNECTIONS} connections`)
  } finally {
    await notifier?.stop()
    pool.close()
    sink.stop()
  }
})
