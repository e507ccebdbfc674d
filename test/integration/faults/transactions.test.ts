import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'
import { describeWith } from '../../support/left-out.ts'
import { WAIT_MS } from '../../support/patience.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { runProgram } from '../../support/program.ts'
import { temporaryFile } from '../../support/sqlite-harness.ts'
import type { TransactOptions } from '../programs/transact.ts'

/** A process dies in the middle of its transaction; the next one delivers what there is. */
async function delivered(
  location: StorageLocation,
  does: TransactOptions['does'],
  dies: TransactOptions['dies'],
): Promise<readonly unknown[]> {
  const program = runProgram('transact', { location, does, dies } satisfies TransactOptions)
  expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')
  expect(program.lines).toEqual(['accepted'])
  const email = recordingProvider()
  const notifier = createNotifier({
    channels: { email },
    storage: openStorage(location),
    delivery: { pollMs: 50 },
  })
  await notifier.start()
  // After everything that was left: organizations take turns, and within one the oldest goes first.
  await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'the next' })
  await email.waitFor({ body: 'the next' }, { withinMs: WAIT_MS })
  // It was sent under a key, which is as free or as taken as the rest says.
  const again = { channel: 'email', to: 'ada@example.com', body: dies } as const
  const { replayed } = await notifier.send(again, { idempotencyKey: 'order' })
  expect(replayed).toBe(does === 'send' && dies === 'after the commit')
  await notifier.stop()
  return email.messages.map(({ body }) => body).slice(0, 2)
}

function cases(
  open: () => Promise<{ readonly location: StorageLocation; orders(): Promise<unknown[]>; close(): void }>,
): void {
  it.each(['send', 'move'] as const)(
    'before its commit: its %s never happened, and nothing of its own is stored',
    async (does) => {
      const { location, orders, close } = await open()
      expect((await delivered(location, does, 'before the commit'))[0]).toBe('the next')
      expect(await orders()).toEqual([])
      close()
    },
  )

  it.each(['send', 'move'] as const)(
    'after its commit, before anybody was told: its %s holds',
    async (does) => {
      const { location, orders, close } = await open()
      expect(await delivered(location, does, 'after the commit')).toEqual(['after the commit', 'the next'])
      expect(await orders()).toEqual([{ id: 'after the commit' }])
      close()
    },
  )
}

describe('a process on SQLite that is killed in a transaction', () => {
  cases(async () => {
    const { file, remove } = temporaryFile()
    return {
      location: { sqlite: file },
      async orders() {
        const database = new DatabaseSync(file)
        const rows = database.prepare('SELECT id FROM orders').all()
        database.close()
        return rows.map((row) => ({ ...row }))
      },
      close: remove,
    }
  })
})

describeWith(whyNoPostgres(), 'a process on PostgreSQL that is killed in a transaction', () => {
  cases(async () => {
    const url = await sharedPostgres()
    const schema = uniqueSchema()
    return {
      location: { postgres: { url, schema } },
      async orders() {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        const { rows } = await client.query(`SELECT id FROM "${schema}".orders`)
        await client.end()
        return rows
      },
      close() {},
    }
  })
})
