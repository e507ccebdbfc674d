import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { timeOf } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { tcpReceiver } from '../support/receivers.ts'

const ROUNDS = Array.from({ length: 30 }, (_, index) => index)

async function create(): Promise<Storage> {
  const storage = postgres({ connectionString: await sharedPostgres(), schema: uniqueSchema() })
  onTestFinished(() => storage.stop())
  return storage
}

/** Every connection of Carillon's is closed: a server forgets one a moment later. */
async function expectNoConnection(): Promise<void> {
  await eventually(async () => {
    const { rows } = await onPostgres(await sharedPostgres(), (client) =>
      client.query("SELECT 1 FROM pg_stat_activity WHERE application_name LIKE 'carillon%'"),
    )
    return rows.length === 0
  })
}

describeWith(whyNoPostgres(), 'a PostgreSQL storage that starts and stops', () => {
  it('starts when the stop that is under way has ended, and is used', async () => {
    const storage = await create()
    for (const _ of ROUNDS) {
      await storage.start()
      const pending = timeOf(storage)
      const stopped = storage.stop()
      await storage.start()
      expect(await pending).toBeGreaterThan(0)
      expect(await timeOf(storage)).toBeGreaterThan(0)
      await stopped
      await Promise.all([storage.stop(), storage.start(), storage.stop()])
    }
    await expectNoConnection()
  })
})

/** A message of the protocol: its kind, its length, what it says. */
function message(kind: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(kind), length, body])
}

it.each([
  ['of its own', false],
  ['that is given', true],
])(
  'a server that ends a connection in the packet that makes it ready ends no process: a pool %s',
  async (_, given) => {
    const uncaught: unknown[] = []
    const note = (error: unknown): void => void uncaught.push(error)
    process.on('uncaughtExceptionMonitor', note)
    const ready = message('R', Buffer.alloc(4))
    const idle = message('Z', Buffer.from('I'))
    const fields = ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command', '']
    const over = message('E', Buffer.from(fields.map((field) => `${field}\0`).join('')))
    const server = await tcpReceiver((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Buffer.concat([ready, idle, over])))
    })
    const connectionString = `postgres://postgres@127.0.0.1:${server.port}/none`
    const pool = new pg.Pool({ connectionString })
    pool.on('error', () => {})
    const storage = postgres(given ? { pool } : { connectionString })
    await expect(storage.start()).rejects.toMatchObject({ code: 'service_unavailable' })
    await new Promise((resolve) => setTimeout(resolve, 50))
    process.removeListener('uncaughtExceptionMonitor', note)
    await pool.end()
    expect(pool.listenerCount('connect')).toBe(0)
    await server.close()
    expect(uncaught).toEqual([])
  },
)
