import { pathToFileURL } from 'node:url'
import pg from 'pg'
import type { QueueHarness } from '../../src/testing/queue/queue-contract.ts'
import { programFile } from './program.ts'
import { type QueueConnection, queueAt } from './queue-connection.ts'

/** @param engine what empties it, and what takes its server away */
export async function queueHarness(
  connection: QueueConnection,
  engine: Pick<QueueHarness, 'lose' | 'takeAway'>,
): Promise<QueueHarness> {
  const { url, schema } = connection
  return {
    ...engine,
    ...queueAt(connection),
    program: [pathToFileURL(programFile('queue')), JSON.stringify(connection)],
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
