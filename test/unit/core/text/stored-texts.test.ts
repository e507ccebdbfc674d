import { describe, expect, it } from 'vitest'
import type { RecordWrite } from '../../../../src/core/ports/storage/records.ts'
import { textKind } from '../../../../src/core/text/text-kind.ts'
import { sharedKind } from '../../../../src/features/layouts/records.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'
import { watchReads } from '../../../support/record-reads.ts'

const KiB = 1024
const long = (character: string, length = 10 * KiB) => `${character.repeat(length)} {{name}}`
const to = 'ada@example.com'

/** A notifier, and what it writes into its storage. */
async function open() {
  const storage = inMemory()
  const written: RecordWrite[] = []
  const { records } = storage
  const { write } = records
  records.write = (sets) => {
    written.push(...sets.flat())
    return write(sets)
  }
  const reads = watchReads(storage, textKind)
  const provider = recordingProvider()
  const world = notifierWorld({ storage })
  const notifier = await world.start({ channels: { email: provider } })
  const texts = async () =>
    (await records.list(textKind, { organizationId: 'org_default' }, { limit: 100, offset: 0 })).items
  /** What a call writes: kinds of records, and bytes. */
  async function writes(call: () => Promise<unknown>) {
    written.length = 0
    await call()
    const bytes = written.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0)
    return { kinds: written.map(({ kind, do: verb }) => `${verb} ${kind.name}`), bytes }
  }
  return { storage, notifier, templates: notifier.templates, texts, writes, reads, provider, world }
}

const template = {
  name: 'a',
  channel: 'email',
  subject: 'One',
  html: long('h'),
  text: long('t'),
  locales: { de: { html: long('d') }, fr: { html: long('h') } },
} as const

describe('a long text', () => {
  it('is stored once for all versions', async () => {
    const { templates, texts } = await open()
    await templates.create(template)
    expect(await texts()).toHaveLength(3)
    await templates.update('a', { subject: 'Two' })
    await templates.update('a', { html: long('x') })
    await templates.update('a', { html: long('h') })
    expect(await templates.get('a')).toMatchObject({ version: 4 })
    expect((await texts()).map(({ value }) => value.text[0]).sort()).toEqual(['d', 'h', 't', 'x'])
    const { items } = await templates.versions('a')
    expect(items.map(({ version, subject, html }) => [version, subject, html?.[0]])).toEqual([
      [4, 'Two', 'h'],
      [3, 'Two', 'x'],
      [2, 'Two', 'h'],
      [1, 'One', 'h'],
    ])
    expect(items.every(({ text, locales }) => text === long('t') && locales.de?.html === long('d'))).toBe(
      true,
    )
  })

  it('is not written again by a change of another field', async () => {
    const { templates, notifier, writes } = await open()
    await templates.create(template)
    const subject = await writes(() => templates.update('a', { subject: 'Two' }))
    expect(subject.kinds).toEqual(['replace templates', 'insert template_versions', 'insert audit_entries'])
    expect(subject.bytes).toBeLessThan(3_000)
    const draft = await writes(() => templates.saveDraft('a', { subject: 'Three' }))
    expect(draft.bytes).toBeLessThan(3_000)
    expect((await writes(() => templates.publish('a'))).bytes).toBeLessThan(3_000)
    await notifier.layouts.create({ name: 'b', html: `${long('l')}{{{content}}}`, text: '{{content}}' })
    const layout = await writes(() => notifier.layouts.update('b', { text: '{{content}}.' }))
    expect(layout.kinds).toEqual([
      'replace shared_texts',
      'insert shared_text_versions',
      'insert audit_entries',
    ])
    expect(layout.bytes).toBeLessThan(3_000)
  })

  it('that a draft replaces again and again is not kept', async () => {
    const { templates, texts } = await open()
    await templates.create({ name: 'a', channel: 'email', html: long('h') })
    for (const each of ['1', '2', '3']) await templates.saveDraft('a', { text: long(each) })
    expect(await texts()).toHaveLength(1)
    expect(await templates.draft('a')).toMatchObject({ html: long('h'), text: long('3'), edit: 3 })
    await templates.publish('a')
    expect(await texts()).toHaveLength(2)
    expect(await templates.get('a')).toMatchObject({ html: long('h'), text: long('3') })
  })

  it('is kept after its template was changed and deleted, for what is queued', async () => {
    const { notifier, templates, provider, world } = await open()
    await templates.create({ ...template, locales: {} })
    await notifier.send({
      to,
      template: 'a',
      variables: { name: 'Ada' },
      sendAt: new Date(world.clock.now() + 60_000),
    })
    await templates.update('a', { html: 'New', text: null })
    await templates.delete('a')
    await world.clock.until(() => provider.calls.length === 1)
    expect(provider.calls[0]?.message.body).toBe(`${'h'.repeat(10 * KiB)} Ada`)
  })

  it('is read once, then kept in memory', async () => {
    const { notifier, templates, reads } = await open()
    await templates.create(template)
    await notifier.send({ to, template: 'a', variables: { name: 'Ada' } })
    expect(reads).toHaveLength(1)
    await notifier.send({ to, template: 'a', variables: { name: 'Bob' } })
    await templates.update('a', { subject: 'Two' })
    await notifier.sendBatch([{ to, template: 'a', variables: { name: 'Cy' } }])
    expect(reads).toHaveLength(1)
  })

  it.each([199, 200])('has %i bytes: from 200 on it is a record of its own', async (bytes) => {
    const { templates, texts } = await open()
    await templates.create({ name: 'a', channel: 'email', text: 'é'.repeat(99) + 'x'.repeat(bytes - 198) })
    expect(await texts()).toHaveLength(bytes < 200 ? 0 : 1)
    expect((await templates.get('a')).text).toHaveLength(bytes - 99)
  })
})

describe('an equal change', () => {
  it('of a template makes no version, and writes nothing', async () => {
    const { templates, writes } = await open()
    await templates.create({ ...template, description: 'D', metadata: { a: 'b' } })
    const nothing = { kinds: [], bytes: 0 }
    const { subject, html, locales } = template
    expect(await writes(() => templates.update('a', { subject, html, locales }))).toEqual(nothing)
    expect(
      await writes(() => templates.update('a', { name: 'a', description: 'D', category: null })),
    ).toEqual(nothing)
    const { id: _, createdAt: __, updatedAt: ___, ...same } = await templates.get('a')
    expect(await writes(() => templates.update('a', same))).toEqual(nothing)
    expect(await writes(() => templates.restore('a', 1))).toEqual(nothing)
    await templates.saveDraft('a', { subject, text: long('n') })
    expect(await writes(() => templates.saveDraft('a', { text: long('n') }))).toEqual(nothing)
    expect(await templates.draft('a')).toMatchObject({ edit: 1 })
    await templates.saveDraft('a', { text: template.text })
    await templates.publish('a')
    expect(await templates.get('a')).toMatchObject({ version: 1 })
    expect((await templates.versions('a')).items).toHaveLength(1)
  })

  it('of a layout or partial makes no version, and writes nothing', async () => {
    const { notifier, writes } = await open()
    const nothing = { kinds: [], bytes: 0 }
    const given = { html: `${long('l')}{{{content}}}`, description: 'D' }
    await notifier.layouts.create({ name: 'b', ...given })
    await notifier.partials.create({ name: 'b', ...given })
    for (const of of [notifier.layouts, notifier.partials]) {
      expect(await writes(() => of.update('b', given))).toEqual(nothing)
      expect(await writes(() => of.restore('b', 1))).toEqual(nothing)
      expect(await of.get('b')).toMatchObject({ version: 1 })
    }
  })

  it('of a catalogue makes no version, and writes nothing', async () => {
    const { notifier, writes } = await open()
    const { messages } = notifier
    const first = await messages.put('de', { a: 'A', b: 'B' })
    const again = await writes(async () => {
      expect(await messages.put('de', { b: 'B', a: 'A' })).toEqual({ ...first, messages: { a: 'A', b: 'B' } })
    })
    expect(again).toEqual({ kinds: [], bytes: 0 })
    await messages.put('de', { a: 'C' })
    const back = await writes(() => messages.put('de', { a: 'A', b: 'B' }))
    expect(back.kinds).toEqual(['replace catalogues', 'insert catalogue_versions', 'insert audit_entries'])
    expect(await messages.get('de')).toMatchObject({ version: 3, messages: { a: 'A', b: 'B' } })
    await expect(messages.put('de', { a: 'A', b: 'B' }, { version: 2 })).rejects.toMatchObject({
      code: 'version_conflict',
    })
  })
})

describe('layouts and partials', () => {
  it('are not looked up for a change that is no text', async () => {
    const { notifier, templates, storage } = await open()
    await notifier.layouts.create({ name: 'b', html: '<p>{{{content}}}</p>', text: '{{content}}' })
    await templates.create({ ...template, layout: 'b' })
    const shared = watchReads(storage, sharedKind)
    await templates.update('a', { description: 'D', name: 'c', category: null })
    await templates.update('c', { metadata: { a: 'b' } })
    expect(shared).toEqual([])
  })
})
