import { expect, it, onTestFinished } from 'vitest'
import { postgres } from '../../adapters/storage/postgres/index.ts'
import { removedContent } from '../../src/core/notification/sensitive.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { accept, claimOne, ended, LANE, note, start } from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: 'SGk=' }]
const content = { sensitive: true, body: '123456', email: { attachments } } as const
const removal = removedContent(content)

describeWith(whyNoPostgres(true), 'contents that are removed', () => {
  const server = ownPostgres()

  async function open(schema: string): Promise<Storage> {
    const storage = postgres({ connectionString: server.url, schema })
    onTestFinished(() => storage.stop())
    await storage.start()
    return storage
  }

  it('meet no deadlock: a settlement locks the notification before its job, as receipts do', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const [id = ''] = await accept(storage, [note({ content })])
    const job = await claimOne(storage)
    await start(storage, [job])
    await onPostgres(server.url, async (client) => {
      await client.query(`BEGIN; SELECT id FROM "${schema}".notifications FOR NO KEY UPDATE`)
      const settling = storage.settle([{ ...ended(job), content: removal } as ReturnType<typeof ended>])
      await eventually(async () => {
        const { rows } = await client.query('SELECT 1 FROM pg_locks WHERE NOT granted')
        return rows.length > 0
      })
      await client.query(`SELECT id FROM "${schema}".jobs FOR NO KEY UPDATE NOWAIT`)
      await client.query('COMMIT')
      expect(await settling).toMatchObject([{ kind: 'settled' }])
    })
    expect(await storage.notifications.get(id)).toMatchObject({ status: 'sent', content: removal })
  })

  it('are gone from the table, and are not retried', async () => {
    const schema = uniqueSchema()
    const storage = await open(schema)
    const [failed = '', waiting = ''] = await accept(storage, [
      note({ content }),
      note({ content, lane: 'x' }),
    ])
    const job = await claimOne(storage)
    await start(storage, [job])
    const facts = [{ type: 'failed', attempt: 1, provider: 'smtp', code: 'provider_error' }] as const
    await storage.settle([{ ...ended(job, facts), content: removal } as ReturnType<typeof ended>])
    expect((await storage.notifications.cancel(waiting, removal)).kind).toBe('cancelled')
    await onPostgres(server.url, async (client) => {
      const { rows } = await client.query(`SELECT content, attachments FROM "${schema}".notifications`)
      const gone = { content: JSON.stringify(removal), attachments: null }
      expect(rows).toEqual([gone, gone])
    })
    const filter = { organizationId: 'org_default', ids: [failed] }
    const answer = await storage.notifications.retry({ filter, lanes: { email: LANE }, most: 10 })
    expect(answer).toMatchObject({ retried: 0, contentRemoved: 1 })
  })
})
