import { join } from 'node:path'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { acceptingNotifier, floorOf, mails } from './lib/notifiers.ts'

/** `sendBatch` of 10,000, beside a raw set-based insert of the same rows into the same tables and indexes. */

const ITEMS = 10_000

await withFolder(async (folder) => {
  const file = join(folder, 'notifier.db')
  const notifier = await acceptingNotifier(file, 'unlimited')
  const messages = mails(ITEMS)
  await notifier.sendBatch(messages)

  const raw = await floorOf(file)
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
