import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { postgresSecondDoor } from '../support/postgres-harness.ts'
import { runProgram } from '../support/program.ts'
import { sqliteSecondDoor, temporaryFile } from '../support/sqlite-harness.ts'
import type { DeleteOrganizationProgram } from './programs/delete-organization.ts'

const ID = 'org_acme'
const message = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

/** Rows of the organization, by kind. */
type Owned = () => Promise<Readonly<Record<string, number>>>
type Open = () => Promise<{ readonly location: StorageLocation; readonly owned: Owned }>

async function openNotifier(location: StorageLocation): Promise<Notifier> {
  const notifier = createNotifier({
    channels: { email: recordingProvider() },
    storage: openStorage(location),
  })
  onTestFinished(() => notifier.stop())
  await notifier.start({ deliver: false })
  return notifier
}

/** An organization with a key, a template, an endpoint and 450 notifications that wait. */
async function fill(notifier: Notifier): Promise<string> {
  await notifier.organizations.create({ id: ID, name: 'Acme', plan: 'enterprise' })
  const tenant = notifier.organization(ID)
  const { secret } = await tenant.apiKeys.create({ name: 'Key', permission: 'Write' })
  await tenant.templates.create({ name: 'hello', channel: 'email', subject: 'Hi', body: 'Hi' })
  await tenant.webhooks.create({ url: 'https://example.com/events' })
  const sends = Array.from({ length: 450 }, (_, index) => ({ ...message, to: `user-${index}@example.com` }))
  const { accepted } = await tenant.sendBatch(sends)
  expect(accepted).toBe(450)
  return secret
}

function cases(open: Open): void {
  it.each([0, 1, 3])(
    'killed after %i steps: its keys are gone, and the next process finishes it',
    async (steps) => {
      const { location, owned } = await open()
      const notifier = await openNotifier(location)
      const secret = await fill(notifier)
      const program = runProgram('delete-organization', {
        location,
        id: ID,
        steps,
      } satisfies DeleteOrganizationProgram)
      expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')

      expect(await owned()).toMatchObject({ r_organizations: 1 })
      await expect(notifier.apiKeys.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
      await expect(notifier.organization(ID).send(message)).rejects.toMatchObject({ code: 'not_found' })
      expect(await notifier.organizations.get(ID)).toMatchObject({ deleting: true })
      const left = 450 - 100 * steps
      expect(await notifier.organizations.delete(ID)).toEqual({ id: ID, notifications: left })
      expect(await owned()).toEqual({})
      await expect(notifier.organizations.get(ID)).rejects.toMatchObject({ code: 'not_found' })
    },
  )

  it('another process, which knew the organization, refuses at once', async () => {
    const { location, owned } = await open()
    const [one, other] = [await openNotifier(location), await openNotifier(location)]
    const secret = await fill(one)
    const tenant = other.organization(ID)
    await tenant.send(message)
    await tenant.send(message, { idempotencyKey: 'first' })
    await one.organizations.delete(ID, { force: true })
    await expect(other.apiKeys.verify(secret)).rejects.toMatchObject({ code: 'invalid_api_key' })
    for (const call of [
      () => tenant.send(message),
      () => tenant.send(message, { idempotencyKey: 'second' }),
      () => tenant.sendBatch([message]),
      () => tenant.apiKeys.create({ name: 'Key', permission: 'Write' }),
      () => tenant.webhooks.create({ url: 'https://example.com/events' }),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'not_found' })
    }
    await expect(other.send(message)).resolves.toMatchObject({ status: 'queued' })
    expect(await owned()).toEqual({})
  })
}

describe('an organization is deleted on SQLite', () => {
  cases(async () => {
    const { file, remove } = temporaryFile()
    onTestFinished(remove)
    return {
      location: { sqlite: file },
      async owned() {
        const database = new DatabaseSync(file)
        try {
          return await sqliteSecondDoor(database).owned(ID)
        } finally {
          database.close()
        }
      },
    }
  })
})

describeWith(whyNoPostgres(), 'an organization is deleted on PostgreSQL', () => {
  async function open() {
    const url = await sharedPostgres()
    const schema = uniqueSchema()
    const pool = new pg.Pool({ connectionString: url, max: 2 })
    onTestFinished(() => pool.end())
    const owned: Owned = () => postgresSecondDoor(pool, schema).owned(ID)
    return { location: { postgres: { url, schema } }, owned, url, schema }
  }

  cases(open)

  /** A notifier, and a transaction of the caller's. */
  async function inTransaction(level: string) {
    const { owned, url: connectionString, schema } = await open()
    const storage = postgres({ connectionString, schema })
    const notifier = createNotifier({ channels: { email: recordingProvider() }, storage })
    await notifier.start({ deliver: false })
    await notifier.organizations.create({ id: ID, name: 'Acme' })
    onTestFinished(() => notifier.stop())
    const connect = async () => {
      const client = new pg.Client({ connectionString })
      await client.connect()
      onTestFinished(() => client.end())
      return client
    }
    const client = await connect()
    await client.query(`BEGIN ISOLATION LEVEL ${level}`)
    const send = () => notifier.organization(ID).send(message, { tx: client })
    return { notifier, storage, schema, connect, client, owned, send }
  }

  it('waits for an open transaction of a caller that has accepted, and removes what it commits', async () => {
    const { notifier, client, owned, send } = await inTransaction('READ COMMITTED')
    await send()
    let gone = false
    const deletion = notifier.organizations.delete(ID, { force: true }).finally(() => {
      gone = true
    })
    await expect.poll(async () => (await notifier.organizations.get(ID)).deleting).toBe(true)
    await new Promise((resolve) => setTimeout(resolve, 500))
    expect(gone).toBe(false)
    await client.query('COMMIT')
    expect(await deletion).toEqual({ id: ID, notifications: 1 })
    expect(await owned()).toEqual({})
  })

  it('waits for a transaction that began after the deletion, and looked before its commit', async () => {
    const { storage, schema, connect, client, owned, send } = await inTransaction('READ COMMITTED')
    const deletion = await connect()
    await deletion.query('BEGIN')
    await deletion.query('SELECT pg_current_xact_id()')
    await deletion.query(
      `UPDATE "${schema}".r_organizations SET list = 'deleting', revision = revision + 1,
         value = (value::jsonb || '{"deleting":"force"}')::text WHERE id = $1`,
      [ID],
    )
    await send()
    await deletion.query('COMMIT')
    const purge = async () => (await storage.deletions.purge(ID, 100)).left
    for (let step = 0; step < 4; step += 1) expect(await purge()).not.toBe('nothing')
    await client.query('COMMIT')
    await expect.poll(purge).toBe('nothing')
    expect(await owned()).toEqual({})
  })

  it('without force what such a transaction commits is delivered first', async () => {
    const { notifier, client, owned, send } = await inTransaction('READ COMMITTED')
    const { id } = await send()
    const deletion = notifier.organizations.delete(ID)
    deletion.catch(() => {})
    await expect.poll(async () => (await notifier.organizations.get(ID)).deleting).toBe(true)
    await client.query('COMMIT')
    await expect(deletion).rejects.toMatchObject({ code: 'organization_in_use' })
    await notifier.organization(ID).notifications.cancel(id)
    expect(await notifier.organizations.delete(ID)).toEqual({ id: ID, notifications: 1 })
    expect(await owned()).toEqual({})
  })

  it.each(['REPEATABLE READ', 'SERIALIZABLE'])(
    'a transaction that still sees it (%s) stores nothing for it',
    async (level) => {
      const { notifier, client, owned, send } = await inTransaction(level)
      await client.query('SELECT 1')
      await notifier.organizations.delete(ID)
      await expect(send()).rejects.toMatchObject({
        code: expect.stringMatching(/^(?:service_unavailable|not_found)$/),
      })
      await client.query('COMMIT')
      expect(await owned()).toEqual({})
    },
  )
})
