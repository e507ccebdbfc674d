import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { attack } from './lib/attack.ts'

/** Another program locks the file for three seconds, while a tenant sends. Another tenant reads. */
await attack({
  title: 'A lock of another program on the file of SQLite',
  victim: 'read',
  async run({ client, file, note }) {
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')
    const sends = client.flood(
      () => ({
        method: 'POST',
        path: '/v1/notify',
        body: { channel: 'email', to: 'a@example.com', body: 'x' },
      }),
      { requests: 20, isOver: () => false },
    )
    await delay(3_000)
    other.exec('ROLLBACK')
    other.close()
    await sends
    note('20 sends while the file was locked for 3 s')
  },
})
