import { join } from 'node:path'
import type { Notifier } from 'carillon'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { acceptingNotifier, floorOf } from './lib/notifiers.ts'

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
  const notifier = await acceptingNotifier(file, 'unlimited')
  await send(notifier)

  const raw = await floorOf(file)
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
