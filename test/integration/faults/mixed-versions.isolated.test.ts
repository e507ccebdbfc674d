import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { postgres } from '../../../adapters/storage/postgres/index.ts'
import { migrations } from '../../../adapters/storage/postgres/migrations/index.ts'
import { type PostgresServer, startPostgres } from '../../../examples/servers/postgres.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import { type RecordingProvider, recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import { describeWith } from '../../support/left-out.ts'
import { WAIT_MS } from '../../support/patience.ts'
import { onPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'

/** What a next version might add: it changes the busiest tables, and nothing that is there. */
const NEXT = `
  ALTER TABLE carillon.notifications ADD COLUMN mood text;
  ALTER TABLE carillon.jobs ADD COLUMN weight integer NOT NULL DEFAULT 1;
  ALTER TABLE carillon.states ADD COLUMN mood text;
  CREATE TABLE carillon.moods (name text PRIMARY KEY);
  CREATE INDEX jobs_by_weight ON carillon.jobs (weight);`

/** The storage as a next version of this package has it. */
async function nextVersion(url: string, schema: string): Promise<Storage> {
  vi.resetModules()
  vi.doMock('../../../adapters/storage/postgres/migrations/index.ts', () => ({
    migrations: [...migrations, NEXT],
  }))
  const next = await import('../../../adapters/storage/postgres/index.ts')
  vi.doUnmock('../../../adapters/storage/postgres/migrations/index.ts')
  return next.postgres({ connectionString: url, schema })
}

describeWith(whyNoPostgres(true), 'a next version that migrates while this one serves', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.remove())

  function notifierOn(storage: Storage, email: RecordingProvider): Notifier {
    const notifier = createNotifier({ storage, channels: { email }, delivery: { pollMs: 50 } })
    onTestFinished(() => notifier.stop())
    return notifier
  }

  it('makes nobody wait behind it for a table that a backup reads, and comes again', async () => {
    const schema = uniqueSchema()
    const email = recordingProvider()
    const api = notifierOn(postgres({ connectionString: server.url, schema }), email)
    await api.start({ deliver: false })
    const next = notifierOn(await nextVersion(server.url, schema), email)
    let started = false
    let starting: Promise<void> | undefined
    let waited = 0
    await onPostgres(server.url, async (client) => {
      await client.query(`BEGIN; SELECT count(*) FROM "${schema}".notifications`)
      starting = next.start().then(() => {
        started = true
      })
      // Until several of its tries were met. The table stays locked: a send behind the whole migration would never end.
      while (waited < 3) {
        const began = performance.now()
        await api.send({ channel: 'email', to: 'ada@example.com', body: 'x' })
        if (performance.now() - began > 300) waited += 1
      }
      expect(started).toBe(false)
      await client.query('COMMIT')
    })
    await starting
  })

  it('loses nothing and fails nothing of it, and both deliver what either accepts', async () => {
    const schema = uniqueSchema()
    const email = recordingProvider()
    const open = (): Storage => postgres({ connectionString: server.url, schema })
    const [api, worker] = [notifierOn(open(), email), notifierOn(open(), email)]
    await api.start({ deliver: false })
    await worker.start()

    const accepted: string[] = []
    let going = true
    const callers = [0, 1, 2, 3].map(async (caller) => {
      for (let count = 0; going; count += 1) {
        const message = { channel: 'email', to: 'ada@example.com', body: `${caller}.${count}` } as const
        accepted.push((await api.send(message, { idempotencyKey: message.body })).id)
      }
    })
    const more = async (): Promise<void> => {
      const before = accepted.length
      await eventually(() => accepted.length > before + 50)
    }
    await more()
    const next = notifierOn(await nextVersion(server.url, schema), email)
    await next.start({ deliver: false })
    await more()
    const { rows } = await onPostgres(server.url, (client) =>
      client.query(`SELECT max(version) AS version FROM "${schema}".schema_version`),
    )
    expect(rows).toEqual([{ version: migrations.length + 1 }])

    going = false
    await Promise.all(callers)

    // Only the older one delivers, then only the newer one.
    accepted.push((await next.send({ channel: 'email', to: 'older@example.com', body: 'x' })).id)
    await email.waitFor({ to: 'older@example.com' }, { withinMs: WAIT_MS })
    await worker.stop()
    await notifierOn(await nextVersion(server.url, schema), email).start()
    accepted.push((await api.send({ channel: 'email', to: 'newer@example.com', body: 'x' })).id)
    await email.waitFor({ to: 'newer@example.com' }, { withinMs: WAIT_MS })

    await eventually(() => email.calls.length >= accepted.length)
    expect(email.calls.map(({ context }) => context.notificationId).sort()).toEqual(accepted.toSorted())
    // It serves on, but does not begin anew.
    await expect(notifierOn(open(), email).start()).rejects.toMatchObject({ code: 'invalid_configuration' })
  })
})
