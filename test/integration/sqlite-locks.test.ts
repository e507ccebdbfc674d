import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite from 'better-sqlite3'
import LibSql from 'libsql'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type SqliteDriver, sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { accept, claim, ended, idOf, note, notes } from '../../src/testing/storage/fixtures.ts'
import { TEST_MS } from '../support/patience.ts'
import { runProgram } from '../support/program.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

const DRIVERS: readonly (readonly [name: string, driver: SqliteDriver | undefined])[] = [
  ['node:sqlite', undefined],
  ['better-sqlite3', BetterSqlite],
  ['libsql', LibSql],
]

/** Turns of the event loop, each with a timer, in which a blocked process would have spent minutes. */
const TURNS = 50

function newFile(): string {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  return file
}

async function started(file: string, driver?: SqliteDriver): Promise<Storage> {
  const storage = sqlite({ file, driver })
  await storage.start()
  onTestFinished(() => storage.stop())
  return storage
}

/** Locks the file in another process. @returns a function that ends that process */
async function lock(file: string, statement = 'BEGIN IMMEDIATE'): Promise<() => Promise<unknown>> {
  const program = runProgram('sqlite-lock', { file, statement })
  await program.said('locked')
  return () => {
    program.kill('SIGKILL')
    return program.ended
  }
}

/** Lets the event loop turn. The calls must not have settled by then. */
async function staysPending(calls: readonly Promise<unknown>[]): Promise<void> {
  let settled = 0
  const count = (): void => {
    settled += 1
  }
  for (const call of calls) call.then(count, count)
  for (let turn = 0; turn < TURNS; turn += 1) await sleep(1)
  expect(settled).toBe(0)
}

describe.each(DRIVERS)('%s: while another process has the lock', (_, driver) => {
  it('the event loop turns, reads are answered, and all is stored in order afterwards', async () => {
    const file = newFile()
    const storage = await started(file, driver)
    const [first = ''] = await accept(storage, notes(3))
    const jobs = await claim(storage, 2)
    const release = await lock(file)

    const settling = storage.settle([ended(jobs[0] as (typeof jobs)[number])])
    const all = notes(30)
    const accepting = all.map((one) => accept(storage, [one]))
    const releasing = storage.release([jobs[1] as (typeof jobs)[number]])
    const claiming = storage.claim({ lanes: [], leaseMs: 60_000 })
    const calls = [settling, ...accepting, releasing, claiming]
    await staysPending(calls)
    expect((await storage.notifications.get(first))?.status).toBe('queued')

    await release()
    expect(await settling).toMatchObject([{ kind: 'settled' }])
    expect((await Promise.all(accepting)).flat()).toEqual(all.map(({ id }) => id))
    await Promise.all(calls)
    expect((await storage.notifications.get(first))?.status).toBe('sent')
    expect((await claim(storage, 100)).slice(-30).map(idOf)).toEqual(all.map(({ id }) => id))
  })
})

it('a start waits for the lock beside the event loop, of a new file too', async () => {
  const file = newFile()
  await (await started(file)).stop()
  for (const [name, statement] of [
    [file, 'BEGIN IMMEDIATE'],
    [newFile(), 'BEGIN EXCLUSIVE; CREATE TABLE other (a)'],
  ] as const) {
    const release = await lock(name, statement)
    const storage = sqlite({ file: name })
    const starting = storage.start()
    await staysPending([starting])
    await release()
    await starting
    await accept(storage, [note()])
    await storage.stop()
  }
})

it('a stop waits for the calls that wait', async () => {
  const file = newFile()
  const storage = await started(file)
  const release = await lock(file)
  const accepting = accept(storage, [note()])
  const stopping = storage.stop()
  await staysPending([accepting, stopping])
  await release()
  const [id = ''] = await accepting
  await stopping
  await storage.start()
  expect(await storage.notifications.get(id)).not.toBeNull()
})

it('the function of "tx" runs once, when the lock is free', async () => {
  const file = newFile()
  const storage = sqlite({ file })
  const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const
  const channel = { name: 'none', send: async () => ({ kind: 'accepted' }) as const }
  const notifier = createNotifier({ storage, channels: { email: channel } })
  await notifier.start()
  onTestFinished(() => notifier.stop({ timeoutMs: 0 }))
  const release = await lock(file)
  let calls = 0
  const sending = notifier.send(message, {
    tx: () => {
      calls += 1
    },
  })
  await staysPending([sending])
  expect(calls).toBe(0)
  await release()
  await sending
  expect(calls).toBe(1)
})

it(
  'after five seconds the waiting calls fail together, and nothing of them is stored',
  async () => {
    const file = newFile()
    const storage = await started(file)
    const release = await lock(file)
    const calls = notes(200).map((one) => accept(storage, [one]))
    let turns = 0
    let over = false
    const failing = Promise.allSettled(calls).finally(() => {
      over = true
    })
    while (!over) {
      turns += 1
      await nextTurn()
    }
    for (const answer of await failing)
      expect(answer).toMatchObject({
        status: 'rejected',
        reason: { code: 'service_unavailable', cause: { message: expect.stringContaining('locked') } },
      })
    // The loop was never blocked for long: 200 calls that block it would leave hardly any turns.
    expect(turns).toBeGreaterThan(500)
    await release()
    await accept(storage, [note()])
    expect(await claim(storage, 100)).toHaveLength(1)
  },
  2 * TEST_MS,
)
