import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { DEFAULT_ORGANIZATION } from '../../src/core/tenancy/organization.ts'
import { accept, claim, ended, endpoint, notes, readAll, sent } from '../../src/testing/storage/fixtures.ts'
import type { SecondDoor } from '../../src/testing/storage/harness.ts'
import { CONTRACT_START } from '../../src/testing/storage/record-fixtures.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { postgresSecondDoor } from '../support/postgres-harness.ts'
import { type Program, runProgram } from '../support/program.ts'
import { sqliteSecondDoor, temporaryFile } from '../support/sqlite-harness.ts'
import type { Death, ExpireProgram } from './programs/expire.ts'

const DAY = 86_400_000
const ALL = 1_500
const content = { subject: 'Order', body: 'Order 4711 is on its way.' } as const

/** Where processes die, one after the other. */
const OF_CONTENTS: readonly Death[] = [
  ['contents', 1, 1],
  ['contents', 1, 2],
  ['contents', 1, 'COMMIT'],
  ['contents', 3, 2],
]
/** A step of PostgreSQL takes most of them: only one can die in the second. */
const OF_NOTIFICATIONS: readonly Death[] = [
  ['notifications', 1, 1],
  ['notifications', 1, 2],
  ['notifications', 1, 5],
  ['notifications', 1, 'COMMIT'],
  ['notifications', 2, 3],
]

/** Ended notifications, each with an event, a hand-over, metadata and a webhook delivery. */
async function fill(location: StorageLocation): Promise<void> {
  const storage = openStorage(location)
  await storage.start(CONTRACT_START)
  const hook = await endpoint(storage)
  await storage.webhookEndpoints.update(hook.id, { status: 'disabled' })
  for (let filled = 0; filled < ALL; filled += 500) {
    await accept(storage, notes(500, { content, metadata: { order: '4711' } }))
    const jobs = await claim(storage, 500)
    expect(jobs).toHaveLength(500)
    await storage.settle(jobs.map((job) => ended(job, [sent({ providerMessageId: `m-${job.jobId}` })])))
  }
  await storage.stop()
}

async function dies(
  location: StorageLocation,
  secondDoor: SecondDoor,
  clockMs: number,
  deaths: readonly Death[],
): Promise<void> {
  for (const at of deaths) {
    const program = expiring(location, clockMs, at)
    expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')
    expect(program.lines).toEqual([])
    await left(location, secondDoor)
  }
}

async function ends(location: StorageLocation, clockMs: number): Promise<void> {
  const program = expiring(location, clockMs)
  await program.said('pass')
  program.kill('SIGKILL')
  await program.ended
}

function expiring(location: StorageLocation, clockMs: number, at?: Death): Program {
  return runProgram('expire', { location, clockMs, at } satisfies ExpireProgram)
}

/** The number of notifications, and of those whose content is removed. Nothing may be half removed. */
async function left(
  location: StorageLocation,
  secondDoor: SecondDoor,
): Promise<{ readonly notifications: number; readonly removed: number }> {
  const ids = new Set((await secondDoor.notifications()).map(({ id }) => id))
  const events = await secondDoor.events()
  expect(new Set(events.map(({ notificationId }) => notificationId))).toEqual(ids)
  const { handovers } = await secondDoor.dependents()
  const { metadata = 0 } = await secondDoor.owned(DEFAULT_ORGANIZATION)
  const deliveries = (await secondDoor.deliveries()).length
  const each = { events: events.length, handovers, metadata, deliveries }
  expect(each).toEqual({ events: ids.size, handovers: ids.size, metadata: ids.size, deliveries: ids.size })
  const storage = openStorage(location)
  await storage.start(CONTRACT_START)
  const of = { organizationId: DEFAULT_ORGANIZATION }
  const found = await readAll((request) => storage.notifications.list(of, request), 100)
  await storage.stop()
  let removed = 0
  for (const notification of found) {
    if (notification.content.removed === true) removed += 1
    else expect(notification.content).toEqual(content)
  }
  return { notifications: ids.size, removed }
}

async function killed(location: StorageLocation, secondDoor: SecondDoor): Promise<void> {
  await fill(location)
  expect(await left(location, secondDoor)).toEqual({ notifications: ALL, removed: 0 })
  await dies(location, secondDoor, 2 * DAY, OF_CONTENTS)
  const some = await left(location, secondDoor)
  expect(some.notifications).toBe(ALL)
  expect(some.removed).toBeGreaterThan(0)
  expect(some.removed).toBeLessThan(ALL)
  await ends(location, 2 * DAY)
  expect(await left(location, secondDoor)).toEqual({ notifications: ALL, removed: ALL })
  await dies(location, secondDoor, 8 * DAY, OF_NOTIFICATIONS)
  const { notifications } = await left(location, secondDoor)
  expect(notifications).toBeGreaterThan(0)
  expect(notifications).toBeLessThan(ALL)
  await ends(location, 8 * DAY)
  expect(await left(location, secondDoor)).toEqual({ notifications: 0, removed: 0 })
}

it('a pass that is killed leaves nothing half removed, and the next one removes the rest', async () => {
  const { file, remove } = temporaryFile()
  const database = new DatabaseSync(file)
  onTestFinished(() => {
    database.close()
    remove()
  })
  await killed({ sqlite: file }, sqliteSecondDoor(database))
}, 60_000)

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  it('the same', async () => {
    const [url, schema] = [await sharedPostgres(), uniqueSchema()]
    const pool = new pg.Pool({ connectionString: url, max: 2 })
    onTestFinished(() => pool.end())
    await killed({ postgres: { url, schema } }, postgresSecondDoor(pool, schema))
  }, 60_000)
})
