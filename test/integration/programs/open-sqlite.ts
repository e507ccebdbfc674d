/** Opens a database, claims what it can get one by one, and says what it got. */
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import { CONTRACT_START, keeping, write } from '../../../src/testing/storage/record-fixtures.ts'

export interface OpenOptions {
  readonly database: string
  /** Epoch milliseconds at which all processes open it together. */
  readonly at: number
}

const options: OpenOptions = JSON.parse(process.argv[2] ?? '{}')
const say = (line: string): void => void process.stdout.write(`${line}\n`)

while (Date.now() < options.at) {
  // Spins, so that the processes meet within a millisecond.
}
const storage = sqlite({ file: options.database })
await storage.start(CONTRACT_START)
const [kept] = await write(storage, keeping('secret', null, { reason: String(process.pid), source: null }))
say(`kept ${JSON.stringify(kept?.value)}`)
for (;;) {
  const { jobs } = await storage.claim({ lanes: [{ lane: 'email/smtp', free: 3 }], leaseMs: 60_000 })
  for (const job of jobs) say(`claimed ${job.jobId} ${job.token}`)
  if (jobs.length === 0) break
}
await storage.stop()
