import { describe, expect, it, onTestFinished } from 'vitest'
import { templateKind } from '../../../../src/core/text/kind.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

async function start(deliver = false) {
  const clock = fakeClock()
  const provider = recordingProvider()
  const sms = { ...recordingProvider(), name: 'texts', channel: 'sms' }
  const storage = inMemory(clock)
  const notifier = createNotifier({ channels: { email: provider, sms }, storage, clock })
  await notifier.start({ deliver })
  onTestFinished(() => notifier.stop())
  return { clock, notifier, provider, storage, templates: notifier.templates }
}

const mail = { channel: 'email', to: 'ada@example.com' } as const
const named = { name: 'hi', channel: 'email' } as const
const HTML = '<p>Hi {{name}}</p>'
const TEXT = 'Hi {{name}}, as text'
const refused = (field: string, message = '') => ({
  code: 'invalid_parameter',
  message: expect.stringContaining(message),
  details: expect.objectContaining({ field }),
})

describe('a message', () => {
  it.each([
    [{ html: 'Hi' }, { body: 'Hi', format: 'html' }],
    [{ text: '<p>Hi</p>' }, { body: '<p>Hi</p>', format: 'text' }],
    [
      { html: '<p>Hi</p>', text: '<b>' },
      { body: '<p>Hi</p>', format: 'html', text: '<b>' },
    ],
  ])('of %j is taken at its word', async (given, expected) => {
    const { notifier, provider, clock } = await start(true)
    const message = { ...mail, ...given } as typeof mail & { html: string }
    expect((await notifier.validate(message)).rendered).toEqual({ subject: null, ...expected })
    const { id } = await notifier.send(message)
    await clock.until(() => provider.calls.length === 1)
    expect(provider.calls[0]?.message).toEqual({ to: mail.to, subject: null, ...expected })
    expect((await notifier.notifications.get(id, { rendered: true })).rendered).toEqual({
      subject: null,
      ...expected,
    })
    await clock.until(async () => (await notifier.notifications.get(id)).status === 'sent')
    await notifier.notifications.resend(id)
    await clock.until(() => provider.calls.length === 2)
    expect(provider.calls[1]?.message).toEqual({ to: mail.to, subject: null, ...expected })
  })

  it.each([
    [{ body: 'Hi', html: '<p>Hi</p>' }, 'html', 'a "body" alone'],
    [{ body: 'Hi', text: 'Hi' }, 'text', 'a "body" alone'],
    [{ html: '<p>Hi</p>', format: 'html' }, 'format', 'have a format'],
    [{ text: 'Hi', format: 'text' }, 'format', 'have a format'],
    [{ html: '' }, 'html', 'empty'],
    [{ html: '{{name}}', variables: { name: 'Ada' } }, 'variables', 'needs a template'],
    [{ html: '<p>', text: '{{name}}', data: { name: 'Ada' } }, 'data', 'needs a template'],
    [{ channel: 'sms', to: '+14155550123', text: ' ' }, 'text', 'blank'],
  ])('is refused as %j', async (given, field, words) => {
    const { notifier } = await start()
    const message = { ...mail, ...given } as never
    for (const call of [notifier.send, notifier.validate])
      await expect(call(message)).rejects.toMatchObject(refused(field, words))
    const { items } = await notifier.sendBatch([message])
    expect(items).toMatchObject([{ error: refused(field, words) }])
  })

  it('needs one of the three', async () => {
    const { notifier } = await start()
    await expect(notifier.send(mail as never)).rejects.toMatchObject({
      code: 'missing_required_field',
      message: expect.stringContaining('"html", "text" or "body"'),
      details: { field: 'body' },
    })
  })

  it('with another text is another one for an idempotency key', async () => {
    const { notifier } = await start()
    const key = { idempotencyKey: 'k' }
    await notifier.send({ ...mail, html: '<p>', text: 'a' }, key)
    expect(await notifier.send({ ...mail, html: '<p>', text: 'a' }, key)).toMatchObject({ replayed: true })
    await expect(notifier.send({ ...mail, html: '<p>', text: 'b' }, key)).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    })
  })
})

describe('a template', () => {
  it.each([
    [{ html: 'Hi' }, { body: null, html: 'Hi', text: null }],
    [{ text: '<p>Hi</p>' }, { body: null, html: null, text: '<p>Hi</p>' }],
    [
      { html: HTML, text: TEXT },
      { body: null, html: HTML, text: TEXT },
    ],
    [{ body: HTML }, { body: HTML, html: null, text: null }],
    [
      { body: HTML, format: 'html' },
      { body: null, html: HTML, text: null },
    ],
    [
      { body: HTML, format: 'text' },
      { body: null, html: null, text: HTML },
    ],
  ])('of %j is shown so that it can be given back', async (given, shown) => {
    const { templates } = await start()
    const created = await templates.create({ ...named, ...given } as never)
    expect(created).toMatchObject({ ...shown, version: 1 })
    expect(created).not.toHaveProperty('format')
    const { id: _id, version: _version, createdAt: _createdAt, updatedAt: _updatedAt, ...record } = created
    expect(await templates.update('hi', record)).toEqual(created)
    const copy = await templates.create({ ...record, name: 'copy' } as never)
    expect(copy).toMatchObject({ ...shown, version: 1 })
    const before = await templates.preview('hi', { name: 'Ada' })
    expect(await templates.preview('copy', { name: 'Ada' })).toEqual(before)
  })

  it('escapes values in its HTML alone, and needs those of both', async () => {
    const { notifier, provider, clock, templates } = await start(true)
    await templates.create({ ...named, subject: 'Hi', html: '<p>{{a}}</p>', text: '{{a}} {{b}}' })
    const rendered = { subject: 'Hi', body: '<p>&lt;A&gt;</p>', format: 'html', text: '<A> &' }
    const variables = { a: '<A>', b: '&' }
    expect(await templates.preview('hi', variables)).toMatchObject(rendered)
    await notifier.send({ to: mail.to, template: 'hi', variables })
    await clock.until(() => provider.calls.length === 1)
    expect(provider.calls[0]?.message).toEqual({ to: mail.to, ...rendered })
    await expect(notifier.send({ to: mail.to, template: 'hi', variables: { a: 'A' } })).rejects.toMatchObject(
      { code: 'invalid_template_variable', details: { missing: ['b'] } },
    )
  })

  it('that is sent as text is its text', async () => {
    const { notifier, templates } = await start()
    await templates.create({ ...named, html: HTML, text: TEXT })
    const message = { to: mail.to, template: 'hi', variables: { name: '<A>' }, format: 'text' } as const
    const { rendered } = await notifier.validate(message)
    expect(rendered).toEqual({ subject: null, body: 'Hi <A>, as text', format: 'text' })
  })

  it.each([
    ['html', { html: '{{#a}}' }],
    ['text', { html: HTML, text: '{{#if a}}x{{/if}}' }],
  ] as const)('is refused where its %s is written', async (field, given) => {
    const { templates } = await start()
    await expect(templates.create({ ...named, ...given })).rejects.toMatchObject(refused(field))
    await templates.create({ ...named, body: 'Hi' })
    await expect(templates.update('hi', given)).rejects.toMatchObject(refused(field))
  })

  it('is refused without a text, and with two forms of it', async () => {
    const { templates } = await start()
    await expect(templates.create(named as never)).rejects.toMatchObject({
      code: 'missing_required_field',
      details: { field: 'body' },
    })
    await expect(templates.create({ ...named, body: 'a', html: 'b' } as never)).rejects.toMatchObject(
      refused('html'),
    )
    await expect(templates.create({ ...named, html: 'b', format: 'html' })).rejects.toMatchObject(
      refused('format'),
    )
  })
})

describe('an update of a template', () => {
  const both = { html: HTML, text: TEXT }
  it.each([
    [both, { html: '<b>' }, { body: null, html: '<b>', text: TEXT, version: 2 }],
    [both, { text: 'new' }, { body: null, html: HTML, text: 'new', version: 2 }],
    [both, { text: null }, { body: null, html: HTML, text: null, version: 2 }],
    [both, { html: null }, { body: null, html: null, text: TEXT, version: 2 }],
    [both, { body: 'new' }, { body: 'new', html: null, text: null, version: 2 }],
    [both, { ...both, description: 'x' }, { body: null, ...both, version: 1 }],
    [{ html: HTML }, { text: TEXT }, { body: null, ...both, version: 2 }],
    [{ text: TEXT }, { html: HTML }, { body: null, ...both, version: 2 }],
    [{ text: TEXT }, { html: null }, { body: null, html: null, text: TEXT, version: 1 }],
    [{ body: HTML }, { text: TEXT }, { body: null, ...both, version: 2 }],
    [{ body: TEXT }, { html: HTML }, { body: null, ...both, version: 2 }],
    [{ body: TEXT }, { html: null }, { body: TEXT, html: null, text: null, version: 1 }],
    [{ body: TEXT }, { text: 'new' }, { body: null, html: null, text: 'new', version: 2 }],
    [{ html: HTML }, { format: null }, { body: HTML, html: null, text: null, version: 2 }],
  ])('of %j by %j', async (given, change, expected) => {
    const { templates, storage } = await start()
    const { id } = await templates.create({ ...named, ...given } as never)
    expect(await templates.update('hi', change)).toMatchObject(expected)
    expect(await templates.get('hi')).toMatchObject(expected)
    const [stored] = await storage.records.get(templateKind, [{ id }])
    if (stored?.value.text !== null) expect(stored?.value.format).toBe('html')
  })

  it.each([
    [both, { html: null, text: null }, 'html'],
    [{ html: HTML }, { html: null }, 'html'],
    [{ text: TEXT }, { text: null }, 'text'],
    [both, { format: 'text' }, 'format'],
    [both, { html: HTML, body: 'x' }, 'html'],
  ])('of %j is refused as %j', async (given, change, field) => {
    const { templates } = await start()
    const created = await templates.create({ ...named, ...given } as never)
    await expect(templates.update('hi', change as never)).rejects.toMatchObject(refused(field))
    expect(await templates.get('hi')).toEqual(created)
  })

  it('of one part holds beside that of the other at the same time', async () => {
    const { templates } = await start()
    await templates.create({ ...named, ...both })
    await Promise.all([templates.update('hi', { html: '<b>' }), templates.update('hi', { text: 'new' })])
    expect(await templates.get('hi')).toMatchObject({ html: '<b>', text: 'new' })
  })
})
