import pg from 'pg'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { QueueHarness, QueueNotifier } from '../../src/testing/queue/queue-contract.ts'
import { runProgram } from './program.ts'
import { openQueue, type QueuePlace } from './queue-place.ts'

/** @param engine what empties it, and what takes its server away */
export async function queueHarness(
  place: QueuePlace,
  engine: Pick<QueueHarness, 'lose' | 'takeAway'>,
): Promise<QueueHarness> {
  const { url, schema } = place
  return {
    ...engine,
    queue: () => openQueue(place.queue),
    async start({ channels, queue, pollMs, deliver }) {
      const notifier = createNotifier({
        channels,
        storage: postgres({ connectionString: url, schema, maxConnections: 4 }),
        queue: queue ?? undefined,
        // A lease that outlasts no test but the one that waits for it.
        delivery: { pollMs, leaseMs: 60_000 },
        plans: {},
      })
      notifier.on('error', () => {})
      await notifier.start({ deliver })
      return notifier as QueueNotifier
    },
    async spawn() {
      const program = runProgram('queue', place)
      await program.said('started')
      return {
        handedOver: () =>
          program.lines.filter((line) => line.startsWith('handed ')).map((line) => line.slice(7)),
        async kill() {
          program.kill('SIGKILL')
          await program.ended
        },
      }
    },
    async close() {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      const { rows } = await client.query('SELECT to_regclass($1) AS jobs', [`"${schema}".jobs`])
      if (rows[0].jobs !== null) await client.query(`DELETE FROM "${schema}".jobs`)
      await client.end()
      await engine.lose()
    },
  }
}
