// Sends over HTTP and stops: node sends-and-ends.mjs <file of SQLite> <address of a mail API>
import { createNotifier } from 'carillon'
import { postmark } from 'carillon/postmark'
import { sqlite } from 'carillon/sqlite'

const [, , file = '', baseUrl] = process.argv
const notifier = createNotifier({
  storage: sqlite({ file }),
  channels: { email: postmark({ serverToken: 'token', from: 'acme@example.com', baseUrl }) },
})
const sent = new Promise((resolve) => notifier.on('notification.sent', resolve))
await notifier.start()
await notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' })
await sent
await notifier.stop()
process.stdout.write('stopped\n')
