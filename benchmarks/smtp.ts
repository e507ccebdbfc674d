import { join } from 'node:path'
import { createNotifier } from 'carillon'
import { smtpChannel } from 'carillon/smtp'
import { sqliteStorage } from 'carillon/sqlite'
import { createTransport } from 'nodemailer'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { mails } from './lib/notifiers.ts'
import { startSink } from './lib/sink.ts'

/** Mails from the accept to the mail server, beside nodemailer's own pool with as many connections and nothing stored. */

const MAILS = 2_000
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

await withFolder(async (folder) => {
  const notifier = createNotifier({
    storage: sqliteStorage({ file: join(folder, 'notifier.db') }),
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
  await notifier.start()
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
          async run() {
            const received = sink.expect(MAILS)
            await notifier.sendBatch(messages)
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
    await notifier.stop()
    pool.close()
    sink.stop()
  }
})
