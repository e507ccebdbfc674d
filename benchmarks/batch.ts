import { join } from 'node:path'
import { createNotifier } from 'carillon'
import { sqliteStorage } from 'carillon/sqlite'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { rawCopy } from './lib/raw-sqlite.ts'

/** `sendBatch` of 10,000, beside a raw set-based insert of the same rows into the same tables and indexes. */

const ITEMS = 10_000

await withFolder(async (folder) => {
  const file = join(folder, 'notifier.db')
  const notifier = createNotifier({
    storage: sqliteStorage({ file }),
    channels: { email: { name: 'none', channel: 'email', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
  const messages = Array.from({ length: ITEMS }, (_, index) => ({
    channel: 'email' as const,
    to: `customer-${index}@example.com`,
    subject: 'Your parcel',
    body: 'Your parcel was handed to the carrier today and should reach you within two days.',
  }))
  await notifier.sendBatch(messages)

  const floorFile = join(folder, 'floor.db')
  const empty = sqliteStorage({ file: floorFile })
  await empty.start()
  await empty.stop()
  const raw = rawCopy(file, floorFile)

  const rates = await compare(
    [
      { name: 'SQLite alone, one commit', run: async () => raw.insert(ITEMS, ITEMS) },
      { name: 'notifier.sendBatch', run: async () => (await notifier.sendBatch(messages)).accepted },
    ],
    9,
  )
  raw.close()
  await notifier.stop()
  console.log(describeMachine())
  report('Batches of 10,000 (WAL, full sync)', 'notifications', rates, 'SQLite alone, one commit')
})
