import { createNotifier } from 'carillon'
import { sqlite } from 'carillon/sqlite'

// Starts a notifier on a file with a backlog and reports the first call of its provider.

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
          // Both since the start of the process.
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
