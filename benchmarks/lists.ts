import { join } from 'node:path'
import type { Notifier } from '../src/index.ts'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { acceptingNotifier, mails } from './lib/notifiers.ts'

/** The lists of the dashboard with a million notifications, beside those with a thousand. */

const FEW = 1_000
const MANY = 1_000_000
const BATCH = 10_000
const REPEATS = 20

async function filled(file: string, count: number): Promise<Notifier> {
  const notifier = await acceptingNotifier(file, 'unlimited')
  // The oldest: a list by it passes all others.
  for (const mail of mails(1)) await notifier.send({ ...mail, metadata: { order: '4711' } })
  for (let left = count; left > 0; left -= BATCH) await notifier.sendBatch(mails(Math.min(BATCH, left)))
  return notifier
}

const READS: Readonly<Record<string, (notifier: Notifier) => Promise<unknown>>> = {
  'first page': ({ notifications }) => notifications.list({ limit: 50 }),
  'page of a status': ({ notifications }) => notifications.list({ limit: 50, status: 'queued' }),
  'page of a recipient': ({ notifications }) => notifications.list({ limit: 50, to: 'user7@example.com' }),
  'the one with a pair of metadata': ({ notifications }) =>
    notifications.list({ limit: 50, metadata: { order: '4711' } }),
  'failures by cause': ({ deadLetters }) => deadLetters.groups(),
}

await withFolder(async (folder) => {
  const few = await filled(join(folder, 'few.db'), FEW)
  const many = await filled(join(folder, 'many.db'), MANY)
  console.log(describeMachine())
  for (const [name, read] of Object.entries(READS)) {
    const repeated = (notifier: Notifier) => async () => {
      for (let done = 0; done < REPEATS; done += 1) await read(notifier)
      return REPEATS
    }
    const rates = await compare(
      [
        { name: `${FEW} notifications`, run: repeated(few) },
        { name: `${MANY} notifications`, run: repeated(many) },
      ],
      7,
    )
    report(`Lists: ${name} (SQLite)`, 'reads', rates, `${FEW} notifications`)
  }
  await few.stop()
  await many.stop()
})
