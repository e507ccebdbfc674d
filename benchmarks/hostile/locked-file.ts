import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { attack } from './lib/attack.ts'

const MAIL = { channel: 'email', to: 'a@example.com', body: 'x' }

/** Another program locks the file for three seconds, again and again, while a tenant sends. Another tenant reads. */
await attack({
  title: 'A lock of another program on the file of SQLite',
  victim: 'read',
  async run({ client, file, note }) {
    for (let nth = 0; nth < 3; nth += 1) {
      // The service may be writing.
      const other = new DatabaseSync(file, { timeout: 5_000 })
      other.exec('BEGIN IMMEDIATE')
      const sends = client.flood(() => ({ method: 'POST', path: '/v1/notify', body: MAIL }), {
        requests: 20,
        isOver: () => false,
      })
      await delay(3_000)
      other.exec('ROLLBACK')
      other.close()
      await sends
    }
    note('three locks of 3 s, with 20 sends during each')
  },
})
