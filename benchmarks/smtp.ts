import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { smtp } from 'carillon/smtp'
import { sqlite } from 'carillon/sqlite'
import { createTransport } from 'nodemailer'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { backlogFile, mails } from './lib/notifiers.ts'
import { startSink } from './lib/sink.ts'

/**
 * A backlog of mails to a mail server, beside nodemailer's own pool with the same number of connections and no storage.
 * Both deliver the same mail over the same pool. By hand, nodemailer composes it as for any caller of `sendMail`;
 * Carillon's channel composes it itself.
 */

const MAILS = 5_000
const CONNECTIONS = 10
const ROUNDS = 7
const FROM = 'no-reply@example.com'
const messages = mails(MAILS)

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
    storage: sqlite({ file }),
    channels: {
      email: smtp({
        host: '127.0.0.1',
        port: sink.port,
        from: FROM,
        maxConnections: CONNECTIONS,
        maxMessages: 1_000_000,
      }),
    },
  })
}

/** With an id of the same length and separate addresses, the least work for nodemailer. */
function sendByHand({ to, subject, body }: (typeof messages)[number], number: number): Promise<unknown> {
  return pool.sendMail({
    from: { name: '', address: FROM },
    to: [{ name: '', address: to }],
    envelope: { from: FROM, to: [to] },
    maxRecipients: 1,
    subject,
    messageId: `<notif_${String(number).padStart(29, '0')}.${String(number).padStart(8, '0')}@example.com>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    text: body,
  })
}

await withFolder(async (folder) => {
  const backlog = join(folder, 'backlog.db')
  await backlogFile(backlog, MAILS)
  const file = join(folder, 'run.db')
  let notifier: Notifier | undefined
  try {
    const rates = await compare(
      [
        {
          name: `nodemailer's pool, ${CONNECTIONS} connections`,
          async run() {
            const received = sink.expect(MAILS)
            const queue = messages.entries()
            await Promise.all(
              Array.from({ length: CONNECTIONS }, async () => {
                for (const [number, mail] of queue) await sendByHand(mail, number)
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
