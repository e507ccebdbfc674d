import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const people = {
  ada: { channels: {}, locale: 'de-AT', timeZone: 'Asia/Tokyo' },
  bob: { channels: {}, locale: 'nonsense!', timeZone: 'Mars/Olympus' },
}

const text = {
  text: 'Due {{@due}}',
  locales: { de: { text: 'Fällig {{@due}}' } },
}

async function open(options: Partial<NotifierOptions> = {}) {
  const world = notifierWorld()
  const notifier = await world.start({
    channels: { email: recordingProvider(), sms: recordingProvider(), slack: recordingProvider() },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, Reflect.get(people, id)])) },
    messages: { en: { due: '{at, date, long}' }, de: { due: '{at, date, long}' } },
    ...options,
  })
  await notifier.templates.create({ name: 'due', channel: 'sms', locale: 'en', ...text })
  await notifier.templates.create({ name: 'posted', channel: 'slack', text: 'Hi' })
  await notifier.templates.create({ name: 'mail', channel: 'email', subject: 'Hi', text: 'Hi' })
  return notifier.templates
}

const variables = { at: '2026-01-31T23:30:00Z' }

describe('a preview for a recipient', () => {
  it('has their locale and time zone, unless it names others', async () => {
    const templates = await open()
    const bodyFor = async (options: object) => (await templates.preview('due', variables, options)).body
    expect(await bodyFor({ recipient: 'ada' })).toBe('Fällig 1. Februar 2026')
    expect(await bodyFor({ recipient: 'ada', locale: 'en', timeZone: 'UTC' })).toBe('Due January 31, 2026')
    expect(await bodyFor({ recipient: 'bob' })).toBe('Due January 31, 2026')
    const draft = { channel: 'sms', locale: 'en', ...text, variables }
    const drafted = async (options: object) => (await templates.previewDraft({ ...draft, ...options })).body
    expect(await drafted({ recipient: 'ada' })).toBe('Fällig 1. Februar 2026')
    expect(await drafted({ recipient: 'ada', inLocale: 'en' })).toBe('Due February 1, 2026')
  })

  it('is refused as a send is', async () => {
    const templates = await open()
    const unknown = { code: 'unknown_recipient', details: { field: 'recipient', recipient: 'eve' } }
    await expect(templates.preview('due', variables, { recipient: 'eve' })).rejects.toMatchObject(unknown)
    const draft = { channel: 'sms', text: 'Hi', recipient: 'eve' }
    await expect(templates.previewDraft(draft)).rejects.toMatchObject(unknown)
    const alone = await open({ recipients: undefined })
    await expect(alone.preview('due', variables, { recipient: 'ada' })).rejects.toMatchObject({
      code: 'invalid_parameter',
      status: 422,
      details: { field: 'recipient' },
    })
  })
})

describe('a preview with parts', () => {
  const blocks = [{ type: 'divider' }]

  it('shows them under the name of the channel, with the segments of a text message', async () => {
    const templates = await open()
    expect(await templates.preview('posted', {}, { slack: { blocks } })).toMatchObject({
      body: 'Hi',
      slack: { blocks },
    })
    expect(await templates.previewDraft({ channel: 'slack', text: 'Hi', slack: { blocks } })).toMatchObject({
      slack: { blocks },
    })
    expect(await templates.preview('due', variables, { sms: { from: 'Shop' } })).toMatchObject({
      sms: { from: 'Shop', segments: 1 },
    })
  })

  it('reads files as a send does', async () => {
    const templates = await open()
    const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: Readable.from(['abc']) }]
    expect((await templates.preview('mail', {}, { email: { attachments } })).email).toEqual({
      attachments: [{ filename: 'a.txt', contentType: 'text/plain', size: 3 }],
    })
    const path = import.meta.filename
    const drafted = await templates.previewDraft({
      channel: 'email',
      text: 'Hi',
      email: { attachments: [{ path, contentType: 'text/plain' }] },
    })
    expect(drafted.email?.attachments).toMatchObject([{ filename: 'previews.test.ts' }])
    const unknown = { email: { attachments: [{ id: 'upl_none' }] } }
    await expect(templates.preview('mail', {}, unknown)).rejects.toMatchObject({ code: 'unknown_attachment' })
  })

  it('refuses those of another channel, faulty and unknown ones', async () => {
    const templates = await open()
    for (const [options, field] of [
      [{ slack: { blocks } }, 'slack'],
      [{ email: { from: 'no address' } }, 'email.from'],
      [{ locle: 'de' }, 'options'],
    ] as const) {
      await expect(templates.preview('mail', {}, options)).rejects.toMatchObject({
        code: 'invalid_parameter',
        details: { field },
      })
    }
    const draft = { channel: 'email', text: 'Hi', slack: { blocks } }
    await expect(templates.previewDraft(draft)).rejects.toMatchObject({ details: { field: 'slack' } })
  })
})
