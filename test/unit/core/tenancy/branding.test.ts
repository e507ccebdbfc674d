import { describe, expect, it } from 'vitest'
import { defineTemplates } from '../../../../src/index.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const TO = 'ada@example.com'
const branding = { name: 'A&B', logoUrl: 'https://cdn.example.com/logo.png?v=1', color: '#0B5FFF' }

async function open(options: Partial<NotifierOptions> = {}) {
  const world = notifierWorld()
  const [email, sms] = [recordingProvider(), recordingProvider()]
  const notifier = await world.start({ channels: { email, sms }, ...options })
  await notifier.organizations.create({ id: 'org_acme', name: 'Acme', branding })
  await notifier.organizations.create({ id: 'org_plain', name: 'Plain' })
  async function sent(organization: string, message: Parameters<typeof notifier.send>[0]) {
    const { id } = await notifier.organization(organization).send(message)
    await world.ended(notifier, id, organization)
    return [...email.messages, ...sms.messages].at(-1)
  }
  return { world, notifier, email, sms, sent }
}

const HTML =
  '<b style="color:{{organization.color}}">{{organization.name}}</b>' +
  '{{#organization.logoUrl}}<img src="{{organization.logoUrl}}">{{/organization.logoUrl}}'

describe('the branding of an organization', () => {
  it('is kept as given but for the case of a colour, and a change keeps what it does not name', async () => {
    const { notifier } = await open()
    const { update, get } = notifier.organizations
    const shown = async () => (await get('org_acme')).branding
    expect(await shown()).toEqual({ ...branding, color: '#0b5fff' })
    await update('org_acme', { branding: { logoUrl: null } })
    expect(await shown()).toEqual({ name: 'A&B', logoUrl: null, color: '#0b5fff' })
    await update('org_acme', { plan: null })
    await update('org_acme', { branding: { name: null } })
    expect(await shown()).toEqual({ name: null, logoUrl: null, color: '#0b5fff' })
    const record = await update('org_acme', { branding: null })
    expect(record.branding).toEqual({ name: null, logoUrl: null, color: null })
    expect(await update('org_acme', { branding: record.branding })).toEqual(record)
  })

  it('keeps a URL in its normal form, which pages and headers name alike', async () => {
    const { notifier } = await open()
    for (const [given, kept] of [
      ['https:x.example', 'https://x.example/'],
      ['HTTPS://X.EXAMPLE/\\..\\ab', 'https://x.example/ab'],
      ['https://x.example/\u2018a\u2019?q=\'"', 'https://x.example/%E2%80%98a%E2%80%99?q=%27%22'],
    ]) {
      const { branding } = await notifier.organizations.update('org_acme', { branding: { logoUrl: given } })
      expect(branding.logoUrl).toBe(kept)
    }
  })

  it.each<[object, string]>([
    [{ color: 'red' }, '.color'],
    [{ color: '#fff' }, '.color'],
    [{ color: '#0b5fff;background:url(x)' }, '.color'],
    [{ name: ' \u00a0 ' }, '.name'],
    [{ logoUrl: 'logo.png' }, '.logoUrl'],
    [{ logoUrl: `https://example.com/${'\u00e9'.repeat(1_000)}` }, '.logoUrl'],
    [{ logoUrl: 'http://example.com/logo.png' }, '.logoUrl'],
    [{ logoUrl: 'data:image/png;base64,AA' }, '.logoUrl'],
    [{ logoUrl: 'https://user:password@example.com/logo.png' }, '.logoUrl'],
    [{ logoUrl: 'https://a.example;sandbox/logo.png' }, '.logoUrl'],
    [{ logoUrl: `https://example.com/${'x'.repeat(2_048)}` }, '.logoUrl'],
    [{ name: 'A\nB' }, '.name'],
    [{ name: '' }, '.name'],
    [{ name: 'A\u202eB' }, '.name'],
    [{ colour: '#0b5fff' }, ''],
  ])('with a wrong field is refused: case %#', async (wrong, field) => {
    const { notifier } = await open()
    const { update, create } = notifier.organizations
    const refused = { code: 'invalid_parameter', details: { field: `branding${field}` } }
    await expect(update('org_acme', { branding: wrong })).rejects.toMatchObject(refused)
    await expect(create({ name: 'New', branding: wrong })).rejects.toMatchObject(refused)
  })

  it('is in layouts, partials, subjects and templates of every channel, escaped where it stands', async () => {
    const { notifier, sent } = await open()
    const acme = notifier.organization('org_acme')
    await acme.partials.create({ name: 'logo', html: HTML, text: '{{organization.name}}' })
    await acme.layouts.create({
      name: 'brand',
      html: '{{> logo}}{{{content}}}',
      text: '{{> logo}} {{content}}',
    })
    const text = { channel: 'email', layout: 'brand', subject: 'From {{organization.name}}' }
    await acme.templates.create({ name: 'hello', ...text, html: '<p>{{name}}</p>', text: '{{name}}' })
    await acme.templates.create({ name: 'code', channel: 'sms', text: '{{organization.name}}: {{code}}' })
    expect(await sent('org_acme', { to: TO, template: 'hello', variables: { name: 'Ada' } })).toMatchObject({
      subject: 'From A&B',
      body: '<b style="color:#0b5fff">A&amp;B</b><img src="https://cdn.example.com/logo.png?v&#61;1"><p>Ada</p>',
      text: 'A&B Ada',
    })
    const variables = { code: '1234' }
    expect(await sent('org_acme', { to: '+4915112345678', template: 'code', variables })).toMatchObject({
      body: 'A&B: 1234',
    })
  })

  it('defaults to the name of the organization, and to nothing', async () => {
    const { notifier, sent } = await open()
    await notifier.organization('org_plain').templates.create({ name: 'hello', channel: 'email', html: HTML })
    expect(await sent('org_plain', { to: TO, template: 'hello' })).toMatchObject({
      body: '<b style="color:">Plain</b>',
    })
  })

  it('has no name in org_default until that is given one', async () => {
    const { notifier, sent } = await open()
    await notifier.templates.create({ name: 'hello', channel: 'email', text: 'From {{organization.name}}' })
    const message = { to: TO, template: 'hello' }
    await expect(notifier.send(message)).rejects.toMatchObject({
      code: 'invalid_template_variable',
      details: { missing: ['organization.name'] },
      message: expect.stringContaining('organizations.update()'),
    })
    await notifier.organizations.update('org_default', { name: 'Default shop' })
    expect(await sent('org_default', message)).toMatchObject({ body: 'From Default shop' })
  })

  it('gives way to an "organization" of the send, as a whole', async () => {
    const { notifier, sent } = await open()
    const { templates, send } = notifier.organization('org_acme')
    await templates.create({ name: 'hello', channel: 'email', html: HTML })
    const message = { to: TO, template: 'hello' }
    const variables = { organization: { name: 'Mine', color: '' } }
    expect(await sent('org_acme', { ...message, variables })).toMatchObject({
      body: '<b style="color:">Mine</b>',
    })
    await expect(send({ ...message, variables: { organization: { id: 1 } } })).rejects.toMatchObject({
      code: 'invalid_template_variable',
      details: { missing: ['organization.color', 'organization.name'] },
    })
  })

  it('stays that of the accept, as layouts do, in a batch too', async () => {
    const { world, notifier, email } = await open()
    const acme = notifier.organization('org_acme')
    await acme.templates.create({ name: 'hello', channel: 'email', text: '{{organization.name}}' })
    const sendAt = new Date(world.clock.now() + 60_000)
    const message = { to: TO, template: 'hello', sendAt }
    const { items } = await acme.sendBatch([message, message])
    await notifier.organizations.update('org_acme', { branding: { name: 'New' } })
    await acme.send(message)
    await world.clock.advance(60_000)
    for (const item of items) if ('id' in item) await world.ended(notifier, item.id, 'org_acme')
    await expect.poll(() => email.messages.map(({ body }) => body)).toEqual(['A&B', 'A&B', 'New'])
  })

  it.each<[string, object]>([
    ['{{organization.name}}', { name: 'A&B' }],
    [
      '{{#organization.logoUrl}}{{organization.name}}{{/organization.logoUrl}}',
      { name: branding.name, logoUrl: branding.logoUrl },
    ],
    ['{{#organization}}{{color}}{{/organization}}', { ...branding, color: '#0b5fff' }],
  ])('is stored with a message as far as its text names it: %s', async (text, stored) => {
    const { world, notifier } = await open()
    const acme = notifier.organization('org_acme')
    await acme.partials.create({ name: 'from', text })
    await acme.templates.create({ name: 'hello', channel: 'email', text: 'From {{> from}}' })
    const { id } = await acme.send({ to: TO, template: 'hello' })
    const found = await world.storage.notifications.get(id)
    expect(found?.content).toHaveProperty('variables', { organization: stored })
  })

  it('is shown by previews, and neither asked for nor missed by lints', async () => {
    const { notifier } = await open()
    const { templates } = notifier.organization('org_acme')
    const hello = { channel: 'email', subject: 'Hello', text: '{{name}} {{organization.name}}' }
    await templates.create({ name: 'hello', ...hello })
    const variables = { name: 'Ada' }
    expect(await templates.preview('hello', variables)).toMatchObject({
      body: 'Ada A&B',
      placeholders: [{ name: 'name', required: true, type: 'text' }],
    })
    const draft = { channel: 'email', text: '{{organization.name}}' }
    expect(await templates.previewDraft(draft)).toMatchObject({ body: 'A&B', placeholders: [] })
    expect((await templates.lint('hello', { variables })).findings).toEqual([])
    const typo = { ...hello, text: '{{organization.title}}', variables: {} }
    expect((await templates.lintDraft(typo)).findings).toMatchObject([{ rule: 'missing_variable' }])
    await expect(templates.preview('hello', {})).rejects.toMatchObject({ details: { missing: ['name'] } })
  })

  it('is given to templates in code, mustache and functions', async () => {
    const { sent } = await open({
      templates: defineTemplates({
        hello: {
          channel: 'email',
          subject: '{{organization.name}}',
          html: ({ organization: { name, logoUrl, color } }) => `<p>${name} ${logoUrl} ${color}</p>`,
        },
      }),
    })
    expect(await sent('org_plain', { to: TO, template: 'hello' })).toMatchObject({
      subject: 'Plain',
      body: '<p>Plain null null</p>',
    })
  })
})
