import { describe, expect, it } from 'vitest'
import type { Notifier } from '../../../../src/notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const TO = 'ada@example.com'

async function open(options: Partial<NotifierOptions> = {}) {
  const world = notifierWorld()
  const email = recordingProvider()
  const notifier = await world.start({ channels: { email }, ...options })
  async function sent(id: string) {
    await world.ended(notifier, id)
    return email.messages.at(-1)
  }
  return { world, notifier, email, sent }
}

async function brand(notifier: Notifier): Promise<void> {
  await notifier.partials.create({ name: 'footer', html: '<i>{{company}}</i>', text: '-- {{company}}' })
  await notifier.layouts.create({
    name: 'brand',
    html: '<main>{{{content}}}</main>{{> footer}}',
    text: '{{content}}\n{{> footer}}',
  })
  await notifier.templates.create({
    name: 'welcome',
    channel: 'email',
    layout: 'brand',
    subject: 'Hi {{name}}',
    html: '<p>{{name}}</p>',
    text: 'Hi {{name}}.',
  })
}

const VARIABLES = { name: 'A&B', company: '<Acme>' }

describe('a layout', () => {
  it('surrounds the HTML and the text of a template, not its subject', async () => {
    const { notifier, sent } = await open()
    await brand(notifier)
    const { id } = await notifier.send({ to: TO, template: 'welcome', variables: VARIABLES })
    expect(await sent(id)).toMatchObject({
      subject: 'Hi A&B',
      body: '<main><p>A&amp;B</p></main><i>&lt;Acme&gt;</i>',
      text: 'Hi A&B.\n-- <Acme>',
    })
  })

  it('is named by its name alone, so that no organization can read or use that of another', async () => {
    const { notifier } = await open({ organizations: 'optional' })
    await notifier.organizations.create({ id: 'org_other', name: 'Other' })
    const other = notifier.organization('org_other')
    const { id: layout } = await notifier.layouts.create({ name: 'brand', html: 'SECRET {{{content}}}' })
    const text = { channel: 'email', html: 'x' }
    await other.templates.create({ name: 'plain', ...text })
    for (const tenant of [other, notifier]) {
      await tenant.templates.create({ name: 'mine', ...text })
      const uses = [
        tenant.templates.previewDraft({ ...text, layout }),
        tenant.templates.preview('mine', {}, { layout }),
        tenant.templates.create({ name: 'theirs', ...text, layout }),
        tenant.templates.update('mine', { layout }),
      ]
      const refused = { status: 'rejected', reason: { code: 'invalid_template' } }
      expect(await Promise.allSettled(uses)).toMatchObject(uses.map(() => refused))
    }
  })

  it('needs its variables like the template', async () => {
    const { notifier } = await open()
    await brand(notifier)
    await expect(
      notifier.send({ to: TO, template: 'welcome', variables: { name: 'A' } }),
    ).rejects.toMatchObject({
      code: 'invalid_template_variable',
      details: { missing: ['company'] },
    })
  })

  it('leaves a text alone for which it has no source, but must have one for the HTML', async () => {
    const { notifier } = await open()
    await notifier.layouts.create({ name: 'brand', html: '<b>{{{content}}}</b>' })
    await notifier.templates.create({
      name: 'a',
      channel: 'email',
      layout: 'brand',
      html: '<p></p>',
      text: 'x',
    })
    expect(await notifier.templates.preview('a')).toMatchObject({ body: '<b><p></p></b>', text: 'x' })
    await expect(
      notifier.templates.create({ name: 'b', channel: 'sms', layout: 'brand', text: 'x' }),
    ).rejects.toMatchObject({ code: 'invalid_template', details: { field: 'layout' } })
  })

  it.each([
    ['<p></p>', 'has no slot'],
    ['{{{content}}}{{{content}}}', 'has 2 slots'],
    ['{{content}}', 'which would escape'],
    ['{{#a}}{{{content}}}{{/a}}', 'in a section'],
    ['{{{content}}}{{#a}}{{{content}}}{{/a}}', 'in a section'],
  ])('is refused as %s', async (html, message) => {
    const { notifier } = await open()
    await expect(notifier.layouts.create({ name: 'a', html })).rejects.toMatchObject({
      code: 'invalid_template',
      message: expect.stringContaining(message),
      details: { field: 'html' },
    })
    await notifier.layouts.create({ name: 'a', html: '{{{content}}}' })
    await expect(notifier.layouts.update('a', { html })).rejects.toMatchObject({ code: 'invalid_template' })
  })

  it('that does not exist is refused when a template names it', async () => {
    const { notifier } = await open()
    await notifier.templates.create({ name: 'a', channel: 'email', html: '<p></p>' })
    for (const written of [
      notifier.templates.create({ name: 'b', channel: 'email', layout: 'brand', html: '<p></p>' }),
      notifier.templates.update('a', { layout: 'brand' }),
      notifier.templates.previewDraft({ channel: 'email', layout: 'brand', html: '<p></p>' }),
    ])
      await expect(written).rejects.toMatchObject({
        code: 'invalid_template',
        message: 'The layout "brand" does not exist. Create it first, or set "layout" to null.',
      })
  })
})

describe('a partial', () => {
  it('is indented as its tag', async () => {
    const { notifier } = await open()
    await notifier.partials.create({ name: 'list', text: '- {{a}}\n- {{b}}\n' })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: 'All:\n  {{> list}}\nEnd' })
    const { body } = await notifier.templates.preview('a', { a: 'x\ny', b: 2 })
    expect(body).toBe('All:\n  - x\ny\n  - 2\nEnd')
  })

  it('that does not exist, or has no source for its place, is refused', async () => {
    const { notifier } = await open()
    await expect(
      notifier.templates.create({ name: 'a', channel: 'email', html: '<p>{{> nothing}}</p>' }),
    ).rejects.toMatchObject({ code: 'invalid_template', details: { partial: 'nothing' } })
    await notifier.partials.create({ name: 'plain', text: 'x' })
    await expect(
      notifier.templates.create({ name: 'a', channel: 'email', html: '<p>{{> plain}}</p>' }),
    ).rejects.toMatchObject({
      message: 'The partial "plain" has no "html", which HTML needs. Add it, or do not use it there.',
    })
    await expect(notifier.partials.create({ name: 'b', html: '{{> plain}}' })).rejects.toMatchObject({
      code: 'invalid_template',
    })
  })

  it('never contains itself, directly or through others', async () => {
    const { notifier } = await open()
    await expect(notifier.partials.create({ name: 'a', text: '{{> a}}' })).rejects.toMatchObject({
      code: 'invalid_template',
      message: 'The template has partials that contain themselves: "a" → "a".',
    })
    await notifier.partials.create({ name: 'c', text: 'x' })
    await notifier.partials.create({ name: 'b', text: '{{#x}}{{> c}}{{/x}}' })
    await notifier.partials.create({ name: 'a', text: '{{> b}}' })
    await expect(notifier.partials.update('c', { text: '{{> a}}' })).rejects.toMatchObject({
      message: 'The template has partials that contain themselves: "c" → "a" → "b" → "c".',
    })
  })

  it('is refused where partials multiply one another', async () => {
    const { notifier } = await open()
    await notifier.partials.create({ name: 'p0', text: 'x{{! }}'.repeat(10) })
    let error: unknown = null
    for (let level = 1; level < 20 && error === null; level += 1) {
      const text = `{{> p${level - 1}}} `.repeat(20)
      error = await notifier.partials.create({ name: `p${level}`, text }).then(
        () => null,
        (thrown: unknown) => thrown,
      )
    }
    expect(error).toMatchObject({
      code: 'invalid_template',
      message: expect.stringContaining('more than 2,000 tags with its layout and partials'),
    })
  })
})

describe('a notification', () => {
  it('keeps the layout and partials with which it was accepted', async () => {
    const { world, notifier, sent } = await open()
    await brand(notifier)
    const sendAt = new Date(world.clock.now() + 60_000)
    const { id } = await notifier.send({ to: TO, template: 'welcome', variables: VARIABLES, sendAt })
    await notifier.partials.update('footer', { html: '<i>changed</i>', text: 'changed' })
    await notifier.layouts.update('brand', { html: '{{{content}}}', text: '{{content}}' })
    await notifier.templates.delete('welcome')
    await notifier.layouts.delete('brand')
    await notifier.partials.delete('footer')
    await world.clock.advance(60_000)
    const first = '<main><p>A&amp;B</p></main><i>&lt;Acme&gt;</i>'
    expect(await sent(id)).toMatchObject({ body: first })
    const again = await notifier.notifications.resend(id)
    expect(await sent(again.id)).toMatchObject({ body: first })
  })

  it('has the newest versions at its accept, in a batch as well', async () => {
    const { notifier } = await open()
    await brand(notifier)
    await notifier.partials.update('footer', { html: '<i>2</i>', text: '2' })
    const message = { to: TO, template: 'welcome', variables: { name: 'A' } }
    const { items } = await notifier.sendBatch([message, message])
    for (const item of items) {
      const { rendered } = await notifier.notifications.get('id' in item ? item.id : '', { rendered: true })
      expect(rendered?.body).toBe('<main><p>A</p></main><i>2</i>')
    }
    const { rendered } = await notifier.validate(message)
    expect(rendered.text).toBe('Hi A.\n2')
  })

  it('is rendered by another process, and after the application has changed its texts', async () => {
    const world = notifierWorld()
    const options = {
      channels: { email: recordingProvider() },
      layouts: { brand: { html: '1{{{content}}}' } },
    }
    const first = await world.start(options)
    await first.templates.create({ name: 'a', channel: 'email', layout: 'brand', html: '<p>{{x}}</p>' })
    const { id } = await first.send({
      to: TO,
      template: 'a',
      variables: { x: 1 },
      sendAt: new Date(world.clock.now() + 1e6),
    })
    const second = await world.start({ ...options, layouts: { brand: { html: '2{{{content}}}' } } })
    expect((await second.notifications.get(id, { rendered: true })).rendered?.body).toBe('1<p>1</p>')
    expect((await second.templates.preview('a', { x: 1 })).body).toBe('2<p>1</p>')
  })
})

describe('an organization', () => {
  it('uses its own texts, else those of the application, and never those of another', async () => {
    const { notifier } = await open({
      layouts: { brand: { html: 'app {{{content}}} {{> footer}}' } },
      partials: { footer: { html: 'app footer' } },
    })
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    const own = notifier.organization('org_a')
    const template = { name: 'a', channel: 'email', layout: 'brand', html: '<p></p>' } as const
    await own.templates.create(template)
    await notifier.templates.create(template)
    await own.partials.create({ name: 'footer', html: 'own footer' })
    expect((await own.templates.preview('a')).body).toBe('app <p></p> own footer')
    expect((await notifier.templates.preview('a')).body).toBe('app <p></p> app footer')
    const { id } = await own.layouts.create({ name: 'mine', html: '{{{content}}}' })
    await expect(notifier.layouts.get(id)).rejects.toMatchObject({ code: 'organization_mismatch' })
    await expect(notifier.partials.get(id)).rejects.toMatchObject({ code: 'not_found' })
    await expect(notifier.templates.update('a', { layout: 'mine' })).rejects.toMatchObject({
      code: 'invalid_template',
    })
    // In use, but the one of the application takes its place.
    await own.partials.delete('footer')
    expect((await own.templates.preview('a')).body).toBe('app <p></p> app footer')
  })
})

describe('layouts and partials', () => {
  it('that are in use are not deleted, and the error names their users', async () => {
    const { notifier } = await open()
    await brand(notifier)
    const template = await notifier.templates.get('welcome')
    await expect(notifier.layouts.delete('brand')).rejects.toMatchObject({
      code: 'text_in_use',
      status: 409,
      message: 'The layout "brand" is used by the template "welcome". Change them, then delete it.',
      details: { users: [{ type: 'template', id: template.id, name: 'welcome' }] },
    })
    await expect(notifier.partials.delete('footer')).rejects.toMatchObject({
      details: { users: [{ type: 'layout', name: 'brand' }] },
    })
    for (let index = 0; index < 12; index += 1)
      await notifier.templates.create({ name: `t${index}`, channel: 'sms', text: '{{> footer}}' })
    const error = await notifier.partials.delete('footer').catch((thrown: unknown) => thrown)
    expect((error as { details: { users: unknown[] } }).details.users).toHaveLength(10)
  })

  it('have versions, which can be restored, and refuse outdated changes', async () => {
    const { notifier } = await open()
    const { id } = await notifier.partials.create({ name: 'footer', text: '1' })
    expect(await notifier.partials.update('footer', { text: '2', version: 1 })).toMatchObject({ version: 2 })
    expect(await notifier.partials.update('footer', { description: 'x' })).toMatchObject({ version: 2 })
    await expect(notifier.partials.update('footer', { text: '3', version: 1 })).rejects.toMatchObject({
      code: 'version_conflict',
      details: { version: 2 },
    })
    expect(await notifier.partials.restore(id, 1)).toMatchObject({ version: 3, text: '1' })
    const { items } = await notifier.partials.versions('footer')
    expect(items.map(({ version, text }) => [version, text])).toEqual([
      [3, '1'],
      [2, '2'],
      [1, '1'],
    ])
    expect(await notifier.partials.version(id, 2)).toMatchObject({ text: '2', name: 'footer' })
    await expect(notifier.partials.version(id, 4)).rejects.toMatchObject({ code: 'not_found' })
    await expect(notifier.partials.create({ name: 'footer', text: 'x' })).rejects.toMatchObject({
      code: 'already_exists',
    })
    expect(await notifier.partials.list()).toMatchObject({ items: [{ name: 'footer' }] })
    expect(await notifier.layouts.list()).toMatchObject({ items: [] })
    await expect(notifier.partials.update('footer', { text: null })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
  })

  it.each([
    [{ layouts: { brand: { html: 'x' } } }, 'layouts.brand'],
    [{ layouts: { Brand: { html: '{{{content}}}' } } }, 'layouts.Brand'],
    [{ partials: { a: {} } }, 'partials.a'],
    [{ partials: { a: { text: '{{#x}}' } } }, 'partials.a'],
    [{ partials: { a: { txt: 'x' } } }, 'partials.a'],
    [{ partials: [] }, 'partials'],
  ])('in the options are checked: %j', async (options, option) => {
    await expect(open(options as never)).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining(`"${option}"`),
    })
  })
})
