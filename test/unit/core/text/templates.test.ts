import { describe, expect, it, onTestFinished } from 'vitest'
import { insertVersion, templateKind } from '../../../../src/core/text/kind.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

async function start(deliver = false) {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const provider = recordingProvider()
  const notifier = createNotifier({ channels: { email: provider }, storage, clock })
  await notifier.start({ deliver })
  onTestFinished(() => notifier.stop())
  return { clock, notifier, provider, storage }
}

const to = 'ada@example.com'
const template = { name: 'hi', channel: 'email', body: 'Hello' } as const
const refused = (field: string, message = '') => ({
  code: 'invalid_parameter',
  message: expect.stringContaining(message),
  details: expect.objectContaining({ field }),
})

describe('a tag that no value can serve', () => {
  it.each([
    ['Hello {{.}}', '"." at 6'],
    ['{{^a}}{{.}}{{/a}}', '"." at 6'],
    ['{{}}', '"" at 0'],
    ['{{{{a}}}}', '"{a" at 0'],
    [
      'Hello, {{name | upper}}',
      '"name | upper" at 7, which is not a name: mustache has no filters or helpers',
    ],
    ['{{#if a}}x{{/if a}}', '"{{#if a}}" at 0'],
    ['{{upper(a)}}', '"upper(a)" at 0'],
    ['{{#a}}{{a..b}}{{/a}}', '"a..b" at 6'],
    ['{{../a}}', '"../a" at 0'],
    ['{{&a=b}}', '"a=b" at 0'],
    ['{{"a"}}', '""a"" at 0'],
  ])('is refused where it is written: %s', async (source, where) => {
    const { notifier } = await start()
    await expect(notifier.templates.create({ ...template, body: source })).rejects.toMatchObject(
      refused('body', where),
    )
    await expect(notifier.templates.create({ ...template, subject: source })).rejects.toMatchObject(
      refused('subject', where),
    )
    await notifier.templates.create(template)
    await expect(notifier.templates.update('hi', { body: source })).rejects.toMatchObject(
      refused('body', where),
    )
  })

  it.each([
    '{{a.b-c.0}} {{ä_1}} {{{$x}}} {{@y}}',
    '{{#list}}{{.}}{{^empty}}{{{.}}}{{/empty}}{{/list}}',
    '{{#.}}{{a}}{{/.}}',
    '{{! a | b (c) }}',
  ])('is not %s', async (body) => {
    const { notifier } = await start()
    await notifier.templates.create({ ...template, body })
  })

  it('stays where it was stored before: what is queued is sent, and the rest can be changed', async () => {
    const { notifier, storage, provider, clock } = await start(true)
    const fields = {
      subject: null,
      format: null,
      text: null,
      description: null,
      category: null,
      version: 1,
      updatedAt: null,
    }
    const value = { ...fields, name: 'old', channel: 'email', body: 'Hello {{name | upper}}' }
    const of = { id: 'tpl_old', organizationId: 'org_default' }
    const insert = { kind: templateKind, do: 'insert', ...of, value } as const
    const version = insertVersion(of.id, of.organizationId, value, { type: 'code', id: 'code', name: null })
    await storage.records.write([[insert, version]])
    expect(await notifier.templates.preview('old', { 'name | upper': 'ADA' })).toMatchObject({
      body: 'Hello ADA',
    })
    await notifier.send({ to, template: 'old', variables: { 'name | upper': 'ADA' } })
    await clock.until(() => provider.calls.length === 1)
    expect(await notifier.templates.update('old', { subject: 'Hello' })).toMatchObject({ version: 2 })
  })
})

it('nests twenty sections, and no more', async () => {
  const { notifier } = await start()
  const nested = (depth: number) => `${'{{#a}}'.repeat(depth)}${'{{/a}}'.repeat(depth)}`
  await notifier.templates.create({ ...template, body: nested(20) })
  await expect(notifier.templates.create({ ...template, body: nested(21) })).rejects.toMatchObject(
    refused('body', 'deeper than 20'),
  )
})

describe('what a send gives beside a template', () => {
  it('replaces the subject, whose placeholders then need no values', async () => {
    const { notifier } = await start()
    await notifier.templates.create({ ...template, subject: 'For {{name}}', body: '{{code}}' })
    const message = { to, template: 'hi', subject: 'Hello', variables: { code: 1 } } as const
    expect((await notifier.validate(message)).rendered).toMatchObject({ subject: 'Hello', body: '1' })
    await notifier.send(message)
    const { subject: _, ...without } = message
    await expect(notifier.send(without)).rejects.toMatchObject({ details: { missing: ['name'] } })
    await expect(notifier.send({ ...message, variables: {} })).rejects.toMatchObject({
      details: { missing: ['code'] },
    })
  })

  it.each(['sms', 'slack'] as const)('is no subject on %s, where it is not sent', async (channel) => {
    const { notifier } = await start()
    await notifier.templates.create({ ...template, channel, subject: '{{title}}', body: '{{code}}' })
    expect(await notifier.templates.preview('hi', { code: 1 })).toMatchObject({ body: '1' })
    await expect(notifier.templates.preview('hi', {})).rejects.toMatchObject({
      details: { missing: ['code'] },
    })
  })

  it('says how a mail is to be read, and escapes for that', async () => {
    const { notifier, provider, clock } = await start(true)
    await notifier.templates.create({ ...template, body: 'Hello {{name}}<br>' })
    const message = { to, template: 'hi', variables: { name: 'A & B' } } as const
    const html = { body: 'Hello A &amp; B<br>', format: 'html' }
    expect((await notifier.validate(message)).rendered).toMatchObject({ format: 'text' })
    expect((await notifier.validate({ ...message, format: 'html' })).rendered).toMatchObject(html)
    await notifier.send({ ...message, format: 'html' })
    await clock.until(() => provider.calls.length === 1)
    expect(provider.calls[0]?.message).toMatchObject(html)
    await notifier.templates.update('hi', { format: 'html' })
    expect((await notifier.validate({ ...message, format: 'text' })).rendered).toMatchObject({
      body: 'Hello A & B<br>',
      format: 'text',
    })
  })

  it('is no body: the text is the template’s', async () => {
    const { notifier } = await start()
    await notifier.templates.create(template)
    const { rendered } = await notifier.validate({ to, template: 'hi', body: '<p>Else</p>' })
    expect(rendered).toMatchObject({ body: 'Hello', format: 'text' })
  })
})

it('is HTML on e-mail only', async () => {
  const { notifier } = await start()
  const push = { name: 'note', channel: 'push', body: 'Hello' } as const
  await expect(notifier.templates.create({ ...push, format: 'html' })).rejects.toMatchObject(
    refused('format'),
  )
  await expect(
    notifier.templates.create({ name: 'note', channel: 'push', html: '<p>Hello</p>' }),
  ).rejects.toMatchObject(refused('html'))
  await notifier.templates.create({ ...push, format: 'text' })
  await expect(notifier.templates.update('note', { format: 'html' })).rejects.toMatchObject(refused('format'))
  await expect(notifier.templates.update('note', { html: 'Hello' })).rejects.toMatchObject(refused('html'))
  await notifier.templates.update('note', { format: null })
})

it('shows values before they are sent as they are sent', async () => {
  const { notifier, provider, clock } = await start(true)
  const body = '{{#on}}On {{.}}{{/on}} at {{at}}{{#list}}, {{x}}{{/list}}'
  await notifier.templates.create({ ...template, body })
  const variables = { on: new Date(0), at: new Date(1), list: [{ x: undefined }], x: 'outer' }
  const expected = { body: 'On 1970-01-01T00:00:00.000Z at 1970-01-01T00:00:00.001Z, outer' }
  expect(await notifier.templates.preview('hi', variables)).toMatchObject(expected)
  expect((await notifier.validate({ to, template: 'hi', variables })).rendered).toMatchObject(expected)
  await notifier.send({ to, template: 'hi', variables })
  await clock.until(() => provider.calls.length === 1)
  expect(provider.calls[0]?.message).toMatchObject(expected)
})

it('keeps its channel: an update to another one is refused', async () => {
  const { notifier } = await start()
  await notifier.templates.create(template)
  const change = { channel: 'sms', body: 'Bye' } as const
  await expect(notifier.templates.update('hi', change)).rejects.toMatchObject(
    refused('channel', 'never changes'),
  )
  expect(await notifier.templates.get('hi')).toMatchObject({ channel: 'email', body: 'Hello', version: 1 })
  expect(await notifier.templates.update('hi', { ...change, channel: 'email' })).toMatchObject({
    channel: 'email',
    body: 'Bye',
  })
})
