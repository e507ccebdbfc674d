// Carillon in an Express server, with a local mail server and webhook receiver: npm start
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createNotifier } from 'carillon'
import { dashboard } from 'carillon/dashboard'
import { devMailbox } from 'carillon/dev-mailbox'
import { notifierRouter } from 'carillon/express'
import { smtp } from 'carillon/smtp'
import { sqlite } from 'carillon/sqlite'
import express from 'express'
import { alsoShown } from './also-shown.ts'
import { credentialsFile } from './credentials.ts'
import { sendFailures } from './failures.ts'
import { createFirstSend } from './first-send.ts'
import { startInbox } from './inbox.ts'
import { explain, quote, say } from './print.ts'
import { listen, startReceiver } from './receiver.ts'
import { portError, readSettings } from './settings.ts'
import { ORGANIZATION, setUp } from './setup.ts'
import { closeOnSignals } from './shutdown.ts'

const closers = closeOnSignals()

async function main(): Promise<void> {
  const { port, dataDir } = readSettings(process.env)
  const credentials = credentialsFile(dataDir)
  const first = createFirstSend()

  const inbox = await startInbox(({ to, subject }) => {
    say('Delivered', `over SMTP to ${quote(to)}, subject ${quote(subject)}`)
  })
  closers.push(inbox.close)

  const { webhook } = await credentials.read()
  const receiver = await startReceiver(
    Number(webhook === undefined ? 0 : new URL(webhook.url).port),
    (event) => {
      const { id, error } = event.data
      say('Verified', `the event ${event.event} of ${id}${error === undefined ? '' : ` (${error.code})`}`)
      first.heard(event)
    },
    (reason) => say('Refused', `an event whose signature is wrong: ${quote(reason)}`),
  )
  receiver.secret = webhook?.secret
  closers.push(receiver.close)

  const mailbox = devMailbox()
  const mail = smtp({
    host: '127.0.0.1',
    port: inbox.port,
    from: 'Example <hello@example.com>',
    timeoutMs: 5_000,
  })
  const notifier = createNotifier({
    storage: sqlite({ file: join(dataDir, 'carillon.db') }),
    channels: { email: alsoShown(mail, mailbox), sms: mailbox.channels.sms, push: mailbox.channels.push },
    // The receiver is on this machine. By default endpoints must be public https addresses.
    webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    // After a kill -9, running deliveries are recovered once their lease has ended.
    delivery: { leaseMs: 10_000 },
  })
  notifier.on('error', (error) => console.error(`Behind the scenes: ${explain(error)}`))

  const app = express()
  const pages = dashboard(notifier, { apiUrl: '/' })
  app.use('/dashboard', notifierRouter(pages, { https: 'allow-loopback' }))
  app.use('/mailbox', notifierRouter(mailbox))
  app.use(notifierRouter(notifier, { https: 'allow-loopback' }))
  app.get('/', (_request, response) => {
    response
      .type('text')
      .send(
        'Carillon example server. Its API is under /v1 and /admin, its dashboard under /dashboard, its mailbox under /mailbox.\n',
      )
  })
  const server = createServer(app)
  await listen(server, port).catch((error) => {
    throw portError(error, port)
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  closers.push(async () => {
    server.close()
    await notifier.stop()
    server.closeAllConnections()
  })

  await notifier.start()
  say('Started', `${url}, data in ${dataDir}, mail server on port ${inbox.port}`)
  const { apiKey, operatorKey, isFirst } = await setUp(notifier, credentials, receiver)
  await first.run(url, apiKey)
  if (isFirst) await sendFailures(notifier.organization(ORGANIZATION))

  const { id } = await notifier.apiKeys.verify(apiKey)
  const operator = await notifier.operatorKeys.verify(operatorKey)
  console.log(`
Open the dashboard; the link signs you in once, within ten minutes:

${await pages.signInLink(`${url}/dashboard`, id)}

Open it as an operator, who sees all organizations:

${await pages.signInLink(`${url}/dashboard`, operator.id)}

Open the mailbox, which shows the sent messages:

${url}/mailbox

Send another one (to bounce@example.com to see one refused), or press Ctrl-C to stop:

curl -i ${url}/v1/notify -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"channel":"email","to":"grace@example.com","template":"welcome","variables":{"name":"Grace"}}'
`)
}

await main().catch(closers.fail)
