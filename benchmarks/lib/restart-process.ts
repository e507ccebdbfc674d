import { createNotifier } from 'carillon'
import { sqlite } from 'carillon/sqlite'

// Starts a notifier over a file with a backlog, and tells when its provider was first asked.

const [file = ''] = process.argv.slice(2)
let told = false

const notifier = createNotifier({
  storage: sqlite({ file }),
  channels: {
    email: {
      name: 'none',
      channel: 'email',
      async send() {
        if (!told) {
          told = true
          // Both from the start of the process.
          process.send?.({ firstMs: performance.now(), startedMs, memory: process.memoryUsage().rss })
        }
        return { kind: 'accepted' }
      },
    },
  },
})
const startedMs = performance.now()
await notifier.start()
process.on('disconnect', () => void notifier.stop())
