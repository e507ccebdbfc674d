import { join } from 'node:path'
import type { Storage } from 'carillon'
import { postgres } from 'carillon/postgres'
import { sqlite } from 'carillon/sqlite'
import type { RecordKind, RecordWrite } from 'carillon/storage-kit'
import { compare, describeMachine, report, withFolder } from './lib/measure.ts'
import { withPostgres } from './lib/postgres.ts'

/** A claim of due records with a million that wait, beside one with a thousand. */

const FEW = 1_000
const MANY = 1_000_000
const SET = 1_000
const REPEATS = 100
const IN_A_YEAR = Date.now() + 31_536_000_000

const reminders: RecordKind<{ readonly at: number }> = {
  name: 'reminders',
  version: 1,
  due: ({ at }) => at,
}

let number = 0

function reminder(at: number): RecordWrite {
  number += 1
  const id = `r${number}`
  return { kind: reminders, do: 'insert', id, organizationId: 'org_default', value: { at }, ifTaken: 'keep' }
}

async function filled(storage: Storage, count: number): Promise<Storage> {
  await storage.start({ kinds: [reminders] })
  for (let left = count; left > 0; left -= SET) {
    await storage.records.write([
      Array.from({ length: Math.min(SET, left) }, () => reminder(IN_A_YEAR + left)),
    ])
  }
  return storage
}

/** One reminder falls due, is claimed and removed. */
async function remindOnce({ records }: Storage): Promise<void> {
  await records.write([[reminder(0)]])
  const { due } = await records.claimDue({ kinds: [reminders], most: 20, leaseMs: 60_000 })
  await records.write(due.map(({ record: { id }, token }) => [{ kind: reminders, do: 'remove', id, token }]))
}

/** Claims nothing: what a process asks whenever something falls due. */
async function askOnce({ records }: Storage): Promise<void> {
  await records.claimDue({ kinds: [reminders], most: 20, leaseMs: 60_000 })
}

async function measure(name: string, few: Storage, many: Storage): Promise<void> {
  await Promise.all([filled(few, FEW), filled(many, MANY)])
  const repeated = (work: typeof askOnce, storage: Storage) => async () => {
    for (let done = 0; done < REPEATS; done += 1) await work(storage)
    return REPEATS
  }
  for (const [what, work] of Object.entries({ claims: askOnce, 'due records': remindOnce })) {
    const rates = await compare(
      [
        { name: `${FEW} wait`, run: repeated(work, few) },
        { name: `${MANY} wait`, run: repeated(work, many) },
      ],
      7,
    )
    report(`Due records: ${what} (${name})`, what, rates, `${FEW} wait`)
  }
  await Promise.all([few.stop(), many.stop()])
}

console.log(describeMachine())
await withFolder((folder) =>
  measure('SQLite', sqlite({ file: join(folder, 'few.db') }), sqlite({ file: join(folder, 'many.db') })),
)
await withPostgres(async ({ url }) => {
  const schemas = ['few', 'many'].map((schema) => postgres({ connectionString: url, schema, listen: false }))
  await measure('PostgreSQL', ...(schemas as [Storage, Storage]))
})
