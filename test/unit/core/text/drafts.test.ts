import { describe, expect, it } from 'vitest'
import { templateKind } from '../../../../src/core/text/kind.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'
import { watchReads } from '../../../support/record-reads.ts'

/** @param storage default: one in memory */
async function open(storage = inMemory()) {
  const world = notifierWorld({ storage })
  const notifier = await world.start({ channels: { email: recordingProvider() } })
  await notifier.templates.create({ name: 'a', channel: 'email', subject: 'One', html: '<p>1</p>\n<p>x</p>' })
  const body = async () => (await notifier.templates.preview('a')).body
  return { notifier, templates: notifier.templates, body }
}

describe('a draft', () => {
  it('is not sent before it is published', async () => {
    const { templates, body, notifier } = await open()
    expect(await templates.saveDraft('a', { html: '<p>2</p>' })).toMatchObject({
      name: 'a',
      subject: 'One',
      html: '<p>2</p>',
      basedOn: 1,
      edit: 1,
    })
    expect(await templates.saveDraft('a', { subject: 'Two' })).toMatchObject({ html: '<p>2</p>', edit: 2 })
    expect(await body()).toBe('<p>1</p>\n<p>x</p>')
    const { id } = await notifier.send({ to: 'ada@example.com', template: 'a' })
    expect(await templates.preview('a', {}, { draft: true })).toMatchObject({
      subject: 'Two',
      body: '<p>2</p>',
    })
    expect(await templates.publish('a')).toMatchObject({ version: 2, subject: 'Two', html: '<p>2</p>' })
    expect(await body()).toBe('<p>2</p>')
    expect((await notifier.notifications.get(id, { rendered: true })).rendered?.subject).toBe('One')
    await expect(templates.draft('a')).rejects.toMatchObject({ code: 'template_not_found' })
    await expect(templates.publish('a')).rejects.toMatchObject({ code: 'template_not_found' })
  })

  it('is marked in the list of templates', async () => {
    const { templates } = await open()
    await templates.create({ name: 'b', channel: 'email', text: 'B' })
    await templates.saveDraft('a', { subject: 'Two' })
    const marks = async () => (await templates.list()).items.map(({ name, hasDraft }) => [name, hasDraft])
    expect(await marks()).toEqual([
      ['b', false],
      ['a', true],
    ])
    await templates.publish('a')
    expect(await marks()).toEqual([
      ['b', false],
      ['a', false],
    ])
  })

  it('that changes nothing makes no version', async () => {
    const { templates } = await open()
    await templates.saveDraft('a', { subject: 'One' })
    expect(await templates.publish('a')).toMatchObject({ version: 1 })
    await expect(templates.draft('a')).rejects.toMatchObject({ code: 'template_not_found' })
  })

  it('does not replace a version that it does not know', async () => {
    const { templates } = await open()
    await templates.saveDraft('a', { subject: 'Draft' })
    await templates.update('a', { subject: 'Fixed' })
    await expect(templates.publish('a')).rejects.toMatchObject({
      code: 'version_conflict',
      details: { field: 'version', version: 2 },
    })
    expect(await templates.publish('a', { version: 2 })).toMatchObject({ version: 3, subject: 'Draft' })
  })

  it('takes one of ten changes that are based on the same edit', async () => {
    const { templates } = await open()
    await templates.saveDraft('a', { subject: 'Draft' })
    const saved = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => templates.saveDraft('a', { edit: 1, subject: `${index}` })),
    )
    expect(saved.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(templates.publish('a', { edit: 1 })).rejects.toMatchObject({
      code: 'version_conflict',
      details: { field: 'edit', edit: 2 },
    })
    await expect(templates.saveDraft('a', { edit: 0, subject: 'x' })).rejects.toMatchObject({
      code: 'version_conflict',
    })
    await templates.discardDraft('a')
    await expect(templates.discardDraft('a')).rejects.toMatchObject({ code: 'template_not_found' })
    await expect(templates.saveDraft('a', { edit: 2, subject: 'x' })).rejects.toMatchObject({
      code: 'template_not_found',
    })
  })

  it('is checked as a template is', async () => {
    const { templates } = await open()
    await expect(templates.saveDraft('a', { html: '{{#x}}' })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
    await expect(templates.saveDraft('a', { layout: 'none' })).rejects.toMatchObject({
      code: 'invalid_template',
    })
    await expect(templates.saveDraft('a', { name: 'b' } as never)).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
  })
})

describe('a draft that is published while', () => {
  /** Something happens after the template was read for the last time, and before the commit. */
  async function openWith(meanwhile: (opened: Awaited<ReturnType<typeof open>>) => Promise<unknown>) {
    const storage = inMemory()
    let next: (() => Promise<unknown>) | null = null
    watchReads(storage, templateKind, async (read, [ref]) => {
      const found = await read()
      const happens = ref?.id === undefined ? null : next
      if (happens !== null) next = null
      await happens?.()
      return found
    })
    const opened = await open(storage)
    await opened.templates.saveDraft('a', { subject: 'Draft' })
    next = () => meanwhile(opened)
    return opened
  }

  it('somebody changes the template replaces no version that it does not know', async () => {
    const { templates } = await openWith((opened) => opened.templates.update('a', { subject: 'Fixed' }))
    await expect(templates.publish('a')).rejects.toMatchObject({
      code: 'version_conflict',
      details: { version: 2 },
    })
    expect(await templates.get('a')).toMatchObject({ version: 2, subject: 'Fixed' })
    expect(await templates.draft('a')).toMatchObject({ subject: 'Draft', edit: 1 })
  })

  it('somebody changes the draft goes out as it was, and the change stays a draft', async () => {
    const { templates } = await openWith((opened) => opened.templates.saveDraft('a', { subject: 'Later' }))
    expect(await templates.publish('a', { edit: 1 })).toMatchObject({ version: 2, subject: 'Draft' })
    expect(await templates.draft('a')).toMatchObject({ subject: 'Later', edit: 2 })
  })
})

describe('two versions', () => {
  it('of large texts are compared in a bounded answer', async () => {
    const { templates } = await open()
    const lines = (name: string) => Array.from({ length: 30_000 }, (_, at) => `${name}${at}`).join('\n')
    await templates.update('a', { html: lines('a') })
    await templates.update('a', { html: lines('b') })
    const compared = await templates.compare('a', 2, 3)
    expect(compared.complete).toBe(false)
    expect(JSON.stringify(compared).length).toBeLessThan(256 * 1024)
  })

  it('are compared line by line, field by field', async () => {
    const { templates } = await open()
    await templates.update('a', {
      html: '<p>2</p>\n<p>x</p>',
      locales: { de: { subject: 'Eins', text: 'x' } },
    })
    expect(await templates.compare('a', 1, 2)).toMatchObject({
      from: 1,
      to: 2,
      complete: true,
      fields: [
        {
          field: 'html',
          hunks: [
            {
              from: 1,
              to: 1,
              lines: [
                { kind: 'removed', text: '<p>1</p>' },
                { kind: 'added', text: '<p>2</p>' },
                { kind: 'same', text: '<p>x</p>' },
              ],
            },
          ],
        },
        { field: 'locales.de.subject', hunks: [{ lines: [{ kind: 'added', text: 'Eins' }] }] },
        { field: 'locales.de.text', hunks: [{ lines: [{ kind: 'added', text: 'x' }] }] },
      ],
    })
    expect(await templates.compare('a', 2, 2)).toMatchObject({ fields: [] })
    await expect(templates.compare('a', 1, 3)).rejects.toMatchObject({ code: 'template_not_found' })
  })
})
