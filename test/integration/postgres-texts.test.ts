import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fromStored } from '../../adapters/storage/postgres/text.ts'
import { bound } from '../../adapters/storage/postgres/values.ts'
import { accept, claim, ended, endpoint, idOf, note, page } from '../../src/testing/storage/fixtures.ts'
import { CONTRACT_START, item, itemKind, keyOf } from '../../src/testing/storage/record-fixtures.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'

const ORGANIZATION = 'org_default'
const server = ownPostgres()

describeWithOwnPostgres('texts in PostgreSQL', () => {
  it('are stored unchanged in every column', async () => {
    const storage = await server.open()
    const odd = 'a\u0000b\u001b0\u001b[\u{1F600}"\\ü\n'
    const [id = ''] = await accept(storage, [note({ to: odd })])
    expect((await storage.notifications.get(id))?.to).toBe(odd)
    expect(await storage.notifications.get(`${id}\u0000`)).toBeNull()
    const filter = { organizationId: ORGANIZATION, to: odd }
    expect((await storage.notifications.list(filter, page())).items.length).toBe(1)
    await storage.start(CONTRACT_START)
    const value = { name: odd, group: odd, text: `${odd}${'x'.repeat(9_000)}` }
    const { id: stored } = await item(storage, value, { id: `item ${odd}` })
    for (const ref of [{ id: stored }, { key: keyOf(odd) }])
      expect(await storage.records.get(itemKind, [ref])).toMatchObject([{ id: `item ${odd}`, value }])
    const listed = await storage.records.list(itemKind, { organizationId: ORGANIZATION, list: odd }, page())
    expect(listed.items).toMatchObject([{ id: stored, value }])
  })

  it('come back unchanged from lists, except for lone surrogates', async () => {
    const odd = fc.constantFrom(
      '"',
      '\\',
      '\u0000',
      '\u001b',
      '\n',
      '\ud800',
      '{',
      ',',
      'NULL',
      '\u2028',
      '\u{1F600}',
    )
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(odd).map((parts) => parts.join('')),
    )
    await onPostgres(server.url, (client) =>
      fc.assert(
        fc.asyncProperty(fc.array(fc.option(text), { maxLength: 20 }), async (given) => {
          const { rows } = await client.query('SELECT $1::text[] AS list', [bound(given)])
          const list: (string | null)[] = rows[0].list
          expect(list.map((one) => (one === null ? null : fromStored(one)))).toEqual(
            given.map((one) => (one === null ? null : Buffer.from(one, 'utf8').toString())),
          )
        }),
        { numRuns: 300 },
      ),
    )
  })

  it('are claimed and settled in byte order where the database sorts by language', async () => {
    const name = uniqueSchema()
    const made = await onPostgres(server.url, async (client) => {
      const { rows } = await client.query("SELECT current_setting('server_version_num')::integer AS version")
      // A server of before 15 has only the languages of its machine.
      if (rows[0].version < 150_000) return false
      await client.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'`)
      return true
    })
    if (!made) return
    const url = new URL(server.url)
    url.pathname = name
    const storage = await server.open('carillon', { connectionString: url.href })
    const hook = await endpoint(storage)
    const ids = ['notif_a', 'notif_B', 'notif_c']
    await accept(
      storage,
      ids.map((id) => note({ id })),
    )
    const jobs = await claim(storage, 3)
    expect(jobs.map(idOf)).toEqual(ids)
    const answers = await storage.settle(jobs.map((job) => ended(job)))
    expect(answers.map(({ kind }) => kind)).toEqual(['settled', 'settled', 'settled'])
    const { items } = await storage.notifications.list({ organizationId: ORGANIZATION }, page())
    expect(items.map(({ status }) => status)).toEqual(['sent', 'sent', 'sent'])
    const events = await claim(storage, 3, hook.id)
    expect(events.map((job) => (job.kind === 'event' ? job.delivery.eventId : ''))).toEqual([
      'evt_a_2',
      'evt_B_2',
      'evt_c_2',
    ])
  })
})
