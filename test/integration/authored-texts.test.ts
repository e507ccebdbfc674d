import { expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../src/create-notifier.ts'
import { defineTemplates } from '../../src/features/code-templates/define.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

/** A process of one deployment, with the texts in its code. */
async function deploy(location: StorageLocation, release: number) {
  const notifier = createNotifier({
    storage: openStorage(location),
    channels: { email: recordingProvider() },
    layouts: { brand: { html: `${release} {{{content}}} {{> footer}}` } },
    partials: { footer: { html: `footer ${release}` } },
    messages: { en: { hello: `hello ${release}` } },
    templates: defineTemplates({
      coded: { channel: 'email', html: () => `<i>code ${release}</i>` },
      a: { channel: 'email', stored: true },
    }),
  })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  return notifier
}

/** Longer than what stays in the record of a version. */
const LONG = 'x'.repeat(300)

async function keepsTexts(location: StorageLocation): Promise<void> {
  const first = await deploy(location, 1)
  await first.messages.put('de', { hello: 'hallo 1' })
  await first.templates.create({
    name: 'a',
    channel: 'email',
    layout: 'brand',
    html: `<p>{{@hello}}</p>${LONG}`,
    locales: { de: { html: `<b>{{@hello}}</b>${LONG}` } },
  })
  const message = { to: 'ada@example.com', template: 'a' } as const
  const coded = { to: 'ada@example.com', template: 'coded' } as const
  const { items } = await first.sendBatch([message, { ...message, locale: 'de' }, coded])
  const ids = items.map((item) => ('id' in item ? item.id : ''))

  const second = await deploy(location, 2)
  await second.messages.put('de', { hello: 'hallo 2' })
  await second.partials.create({ name: 'footer', html: `own footer ${LONG}` })
  const bodies = async (all: readonly string[]) =>
    Promise.all(
      all.map(async (id) => (await second.notifications.get(id, { rendered: true })).rendered?.body),
    )
  const old = [`1 <p>hello 1</p>${LONG} footer 1`, `1 <b>hallo 1</b>${LONG} footer 1`, '<i>code 1</i>']
  expect(await bodies(ids)).toEqual(old)
  const again = await Promise.all(ids.map(async (id) => (await second.notifications.resend(id)).id))
  expect(await bodies(again)).toEqual(old)
  const { id } = await second.send({ ...message, locale: 'de' })
  expect(await bodies([id])).toEqual([`2 <b>hallo 2</b>${LONG} own footer ${LONG}`])
  const named = await second.notifications.list({ template: 'coded' })
  expect(named.items.map((item) => item.id).sort()).toEqual([ids[2], again[2]].sort())

  await expect(second.partials.delete('footer')).resolves.toBeUndefined()
  await second.layouts.create({ name: 'brand', html: 'own {{{content}}}' })
  const conflicts = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) =>
      second.messages.put('de', { hello: `other ${index}` }, { version: 2 }),
    ),
  )
  expect(conflicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
}

it('a message keeps its layout, partials, messages and language over a deployment, on SQLite', async () => {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  await keepsTexts({ sqlite: file })
}, 120_000)

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  it('the same', async () => {
    const url = await sharedPostgres()
    await keepsTexts({ postgres: { url, schema: uniqueSchema() } })
  }, 120_000)
})
