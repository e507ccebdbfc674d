import { expect, it, onTestFinished } from 'vitest'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { kindOf, RECORDS } from '../support/profile-kind.ts'
import { type Program, runProgram } from '../support/program.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'
import type { ChangeRecordsProgram } from './programs/change-records.ts'

/** Changes per record and process between two steps of a rollout. */
const CHANGES = 3

/** How often each process says it has stored a change of each record. */
function storedBy({ lines }: Program): number[] {
  const stored = Array.from({ length: RECORDS }, () => 0)
  for (const line of lines) {
    const [, record, count] = /^stored profile_(\d) (\d+)$/.exec(line) ?? []
    if (record !== undefined) stored[Number(record)] = Number(count)
  }
  return stored
}

async function rollOut(location: StorageLocation): Promise<void> {
  const programs = new Map<string, Program>()
  async function begin(version: 1 | 2 | 3, name: string): Promise<void> {
    const program = runProgram('change-records', { location, version, name } satisfies ChangeRecordsProgram)
    programs.set(name, program)
    await program.said('started')
  }
  /** Waits until all running processes have changed every record together. */
  async function work(): Promise<void> {
    for (const program of programs.values()) {
      if (program.process.exitCode !== null || program.process.signalCode !== null) continue
      const [before = 0] = storedBy(program)
      await program.said(`stored profile_${RECORDS - 1} ${before + CHANGES}`)
    }
  }
  async function kill(name: string): Promise<void> {
    programs.get(name)?.kill('SIGKILL')
    await programs.get(name)?.ended
  }

  await begin(1, 'old')
  await begin(1, 'older')
  await work()
  await begin(2, 'next')
  await work()
  await kill('older')
  await begin(3, 'newest')
  await work()
  await kill('old')
  await work()
  // A rollback: an old release comes back beside new ones.
  await begin(1, 'back')
  await work()
  for (const name of ['next', 'newest', 'back']) await kill(name)

  const storage = openStorage(location)
  onTestFinished(() => storage.stop())
  await storage.start({ kinds: [kindOf(3)] })
  const refs = Array.from({ length: RECORDS }, (_, index) => ({ id: `profile_${index}` }))
  const found = await storage.records.get(kindOf(3), refs)
  for (const [index, record] of found.entries()) {
    const name = `profile_${index}`
    expect(record?.value).toMatchObject({ name, label: `label of ${name}`, tags: [`tag of ${name}`] })
    // Once to each release: what an older one writes is still the newer shape.
    expect(record?.value.upgrades).toBe(2)
    let changes = 0
    for (const [process, program] of programs) {
      const stored = record?.value.counts[process] ?? 0
      changes += stored
      // A process may be killed between a commit and its line.
      expect(stored - (storedBy(program)[index] ?? 0)).toBeOneOf([0, 1])
    }
    expect(record?.revision).toBe(changes + 1)
  }
}

it('of three releases at work, one after another on SQLite, none loses a field or a change of another', async () => {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  await rollOut({ sqlite: file })
}, 120_000)

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  it('the same', async () => {
    const url = await sharedPostgres()
    await rollOut({ postgres: { url, schema: uniqueSchema() } })
  }, 120_000)
})
