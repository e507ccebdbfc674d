import { join } from 'node:path'
import { createNotifier, type Notifier } from 'carillon'
import { sqliteStorage } from 'carillon/sqlite'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { rawCopy } from './lib/raw-sqlite.ts'

/** Durable accepts through `notifier.send`, beside SQLite alone with the same rows, tables and indexes. */

const CALLERS = 50
const SENDS = 20_000
const SINGLES = 2_000

async function send(notifier: Notifier): Promise<number> {
  let left = SENDS
  await Promise.all(
    Array.from({ length: CALLERS }, async () => {
      while (left > 0) {
        left -= 1
        await notifier.send({
          channel: 'email',
          to: 'ada@example.com',
          subject: 'Your parcel',
          body: 'Your parcel was handed to the carrier today and should reach you within two days.',
        })
      }
    }),
  )
  return SENDS
}

await withFolder(async (folder) => {
  const file = join(folder, 'notifier.db')
  const notifier = createNotifier({
    storage: sqliteStorage({ file }),
    channels: { email: { name: 'none', channel: 'email', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
  await send(notifier)

  const floorFile = join(folder, 'floor.db')
  const empty = sqliteStorage({ file: floorFile })
  await empty.start()
  await empty.stop()
  const raw = rawCopy(file, floorFile)

  const rates = await compare([
    { name: 'SQLite alone, a commit each', run: async () => raw.insert(SINGLES, 1) },
    { name: `SQLite alone, ${CALLERS} a commit`, run: async () => raw.insert(SENDS, CALLERS) },
    { name: 'SQLite alone, 1,000 a commit', run: async () => raw.insert(SENDS, 1_000) },
    { name: `notifier.send, ${CALLERS} callers`, run: () => send(notifier) },
  ])
  raw.close()
  await notifier.stop()
  console.log(describeMachine())
  report('Durable accepts (WAL, full sync)', 'accepts', rates, 'SQLite alone, a commit each')
})
