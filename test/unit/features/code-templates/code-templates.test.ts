import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import type { RecipientOptions } from '../../../../src/features/recipients/options.ts'
import { defineTemplates } from '../../../../src/index.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { TO, withTemplates } from '../../../support/code-templates.ts'

const URL = 'https://example.com/api'

const order = z.object({
  name: z.string().trim(),
  currency: z.string().default('EUR'),
  items: z.array(z.object({ price: z.number() })).default([]),
})

describe('a template in code', () => {
  it('writes what its schema makes of the variables', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({
        order: {
          channel: 'email',
          variables: order,
          subject: 'For {{name}}',
          html: '<p>{{currency}}{{#items}} {{price}}{{/items}}</p>',
          text: ({ variables }) => `${variables.name} ${variables.items.length.toFixed()}`,
        },
      }),
    )
    const variables = { name: ' A&B ', items: [{ price: 1 }, { price: 2 }] }
    const { id } = await notifier.send({ to: TO, template: 'order', variables })
    expect(await sent(id)).toMatchObject({
      subject: 'For A&B',
      body: '<p>EUR 1 2</p>',
      format: 'html',
      text: 'A&B 2',
    })
  })

  it('refuses variables with the path of each fault', async () => {
    const { notifier } = await withTemplates(
      defineTemplates({ order: { channel: 'email', variables: order, text: '{{name}}' } }),
    )
    const variables = { name: 1, items: [{ price: '9' }] }
    await expect(notifier.send({ to: TO, template: 'order', variables })).rejects.toMatchObject({
      code: 'invalid_template_variable',
      status: 422,
      details: {
        field: 'variables.name',
        issues: [{ field: 'variables.name' }, { field: 'variables.items[0].price' }],
      },
      message: expect.stringContaining('"variables.items[0].price": '),
    })
    // Its sentences may quote values.
    const error = await notifier
      .send({ to: TO, template: 'order', variables, sensitive: true })
      .catch((error) => error)
    expect(error.details.issues).toEqual([{ field: 'variables.name' }, { field: 'variables.items[0].price' }])
  })

  it('names at most ten faults', async () => {
    const { notifier } = await withTemplates(
      defineTemplates({ order: { channel: 'email', variables: order, text: '{{name}}' } }),
    )
    const variables = { name: 'A', items: Array.from({ length: 500 }, () => ({ price: 'x'.repeat(500) })) }
    const error = await notifier.send({ to: TO, template: 'order', variables }).catch((error) => error)
    expect(error.details.issues).toHaveLength(10)
    expect(error.message).toContain('and 490 more')
    expect(error.message.length).toBeLessThan(3000)
  })

  it('takes schemas of other libraries, and waits for those that are async', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({
        valibot: {
          channel: 'email',
          variables: v.objectAsync({
            'a b': v.pipeAsync(
              v.array(v.string()),
              v.transformAsync(async (names) => names.join()),
            ),
          }),
          text: ({ variables }) => variables['a b'],
        },
      }),
    )
    const { id } = await notifier.send({ to: TO, template: 'valibot', variables: { 'a b': ['x', 'y'] } })
    expect(await sent(id)).toMatchObject({ body: 'x,y', format: 'text' })
    const wrong = { 'a b': ['x', 1] }
    await expect(notifier.send({ to: TO, template: 'valibot', variables: wrong })).rejects.toMatchObject({
      details: { field: 'variables["a b"][1]' },
    })
  })

  it('gives a function the locale and the time zone of the reader', async () => {
    const recipients: RecipientOptions = {
      resolve: () => ({ ada: { channels: { email: TO }, locale: 'fr-BE', timeZone: 'Europe/Brussels' } }),
    }
    const { notifier, sent } = await withTemplates(
      defineTemplates({
        where: { channel: 'email', text: ({ locale, timeZone }) => `${locale} ${timeZone}` },
      }),
      { recipients, locale: 'de', timeZone: 'Europe/Vienna' },
    )
    const text = async (send: object) =>
      (await sent((await notifier.send({ template: 'where', ...send } as never)).id))?.body
    expect(await text({ recipient: 'ada' })).toBe('fr-BE Europe/Brussels')
    expect(await text({ recipient: 'ada', locale: 'it', timeZone: 'Europe/Rome' })).toBe('it Europe/Rome')
    expect(await text({ to: TO })).toBe('de Europe/Vienna')
    await notifier.organizations.create({
      id: 'org_a',
      name: 'A',
      locale: 'en-GB',
      timeZone: 'Europe/London',
    })
    const { rendered } = await notifier.organization('org_a').validate({ to: TO, template: 'where' })
    expect(rendered.body).toBe('en-GB Europe/London')
  })

  it('has layouts, partials, locales and messages like a stored one', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({
        hello: {
          channel: 'email',
          layout: 'brand',
          locale: 'en',
          subject: '{{@hi}} {{name}}',
          html: '<p>Hello {{name}}</p>',
          locales: { de: { html: '<p>Hallo {{name}}</p>' } },
        },
      }),
      {
        layouts: { brand: { html: '<main>{{{content}}}{{> foot}}</main>' } },
        partials: { foot: { html: '<i>{{name}}</i>' } },
        messages: { en: { hi: 'Hi' }, de: { hi: 'Hey' } },
      },
    )
    const { id } = await notifier.send({
      to: TO,
      template: 'hello',
      variables: { name: '<A>' },
      locale: 'de-AT',
    })
    expect(await sent(id)).toMatchObject({
      subject: 'Hey <A>',
      body: '<main><p>Hallo &lt;A&gt;</p><i>&lt;A&gt;</i></main>',
    })
  })

  it('is shown in records, lists and logs by its name', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({ tips: { channel: 'email', text: 'Tips' } }),
    )
    const { id } = await notifier.send({ to: TO, template: 'tips' })
    await notifier.send({ to: TO, channel: 'email', body: 'Hi' })
    await sent(id)
    expect(await notifier.notifications.get(id, { rendered: true })).toMatchObject({
      template: 'tips',
      rendered: { body: 'Tips' },
    })
    const { items } = await notifier.notifications.list({ template: 'tips' })
    expect(items.map((item) => item.id)).toEqual([id])
    expect((await notifier.logs.list({ notificationId: id })).items[0]).toMatchObject({ template: 'tips' })
  })

  it('takes its category, metadata and the overrides of the send', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({
        news: {
          channel: 'email',
          category: 'news',
          metadata: { a: '1', b: '1' },
          subject: ({ variables }) => String(variables.never),
          html: () => '<p>News</p>',
          text: () => 'News',
        },
      }),
      { categories: { news: { name: 'News' } } },
    )
    const { id } = await notifier.send({
      to: TO,
      template: 'news',
      subject: 'Own',
      format: 'text',
      metadata: { b: '2' },
    })
    expect(await sent(id)).toMatchObject({ subject: 'Own', body: 'News', format: 'text' })
    expect(await notifier.notifications.get(id)).toMatchObject({
      category: 'news',
      metadata: { a: '1', b: '2' },
    })
  })

  it('stands for a text on its channel only', async () => {
    const { notifier } = await withTemplates(defineTemplates({ tips: { channel: 'email', text: 'Tips' } }))
    await expect(
      notifier.send({ to: '+4915112345678', channel: 'sms', template: 'tips' } as never),
    ).rejects.toMatchObject({ code: 'invalid_channel', details: { expected: 'email' } })
  })

  it('fails with what its function threw, or did not return', async () => {
    const { notifier } = await withTemplates(
      defineTemplates({
        broken: {
          channel: 'email',
          text: () => {
            throw new Error('the secret of the database')
          },
        },
        number: { channel: 'email', html: (() => 17) as never },
        large: { channel: 'email', html: () => 'x'.repeat(600_000) },
        blank: { channel: 'sms', text: () => ' ' },
        schema: {
          channel: 'email',
          variables: z.string().transform(() => {
            throw new Error('x')
          }) as never,
          text: 'x',
        },
        silent: {
          channel: 'email',
          variables: { '~standard': { version: 1, vendor: 'own', validate: () => undefined } } as never,
          text: 'x',
        },
      }),
    )
    const error = await notifier.send({ to: TO, template: 'broken' }).catch((error) => error)
    expect(error).toMatchObject({
      code: 'template_error',
      details: { template: 'broken', field: 'text' },
      cause: { message: 'the secret of the database' },
    })
    expect(error.message).not.toContain('secret')
    const lint = await notifier.templates.lint('broken', { variables: {} })
    expect(lint.findings).toMatchObject([
      { rule: 'invalid_template', field: 'text', cause: { message: 'the secret of the database' } },
    ])
    await expect(notifier.send({ to: TO, template: 'silent' })).rejects.toMatchObject({
      code: 'template_error',
      details: { template: 'silent', field: 'variables' },
    })
    await expect(notifier.send({ to: TO, template: 'number' })).rejects.toMatchObject({
      code: 'template_error',
      message:
        'The function "html" of the template "number" returned number. It must return a text or an element of React.',
    })
    await expect(notifier.send({ to: TO, template: 'large' })).rejects.toMatchObject({
      code: 'message_too_large',
    })
    await expect(notifier.send({ to: '+4915112345678', template: 'blank' })).rejects.toMatchObject({
      code: 'invalid_template_variable',
    })
  })

  it('replaces half of a character by a sign', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({ cut: { channel: 'email', text: () => 'A 👋'.slice(0, 3) } }),
    )
    const { id } = await notifier.send({ to: TO, template: 'cut' })
    expect((await sent(id))?.body).toBe('A \uFFFD')
  })
})

describe('a sensitive message of a template in code', () => {
  it('loses its text when its delivery ends, and keeps the name', async () => {
    const { notifier, sent } = await withTemplates(
      defineTemplates({ code: { channel: 'email', text: 'Code {{code}}' } }),
    )
    const { id } = await notifier.send({
      to: TO,
      template: 'code',
      variables: { code: '1234' },
      sensitive: true,
    })
    expect((await sent(id))?.body).toBe('Code 1234')
    const record = await notifier.notifications.get(id)
    expect(record).toMatchObject({ template: 'code', sensitive: true })
    await expect(notifier.notifications.resend(id)).rejects.toMatchObject({ code: 'content_removed' })
  })
})

describe('the name of a template in code', () => {
  const templates = defineTemplates({ welcome: { channel: 'email', text: 'Code' } })

  it('belongs to the application', async () => {
    const { notifier, world, sent } = await withTemplates(undefined)
    const stored = await notifier.templates.create({ name: 'welcome', channel: 'email', text: 'Stored' })
    const other = await notifier.templates.create({ name: 'other', channel: 'email', text: 'Other' })
    const next = await world.start({ channels: { email: recordingProvider() }, templates })
    const taken = { code: 'template_already_exists', message: expect.stringContaining('defined in the code') }
    await expect(
      next.templates.create({ name: 'welcome', channel: 'email', text: 'x' }),
    ).rejects.toMatchObject(taken)
    await expect(next.templates.update(other.id, { name: 'welcome' })).rejects.toMatchObject(taken)
    for (const call of ['get', 'delete', 'versions'] as const)
      await expect(next.templates[call]('welcome')).rejects.toMatchObject({
        code: 'template_not_found',
        message: expect.stringContaining('defined in the code'),
      })
    expect(await next.templates.update(stored.id, { text: 'Changed', name: 'welcome' })).toMatchObject({
      version: 2,
    })
    expect((await next.validate({ to: TO, template: 'welcome' })).rendered.body).toBe('Code')
    expect((await next.validate({ to: TO, template: stored.id })).rendered.body).toBe('Changed')
    void sent
  })
})

describe('a declaration of stored templates', () => {
  const templates = defineTemplates({
    invoice: {
      channel: 'email',
      stored: true,
      variables: z.object({ total: z.coerce.number(), by: z.string().default('us') }),
      example: { total: 5 },
    },
  })

  it('checks the variables, and takes the text of the organization', async () => {
    const { notifier, sent } = await withTemplates(templates)
    await expect(
      notifier.send({ to: TO, template: 'invoice', variables: { total: 1 } }),
    ).rejects.toMatchObject({
      code: 'template_not_found',
      status: 422,
      message: expect.stringContaining('Create it in this organization, with the channel "email"'),
    })
    await notifier.templates.create({ name: 'invoice', channel: 'email', text: '{{total}} {{by}}' })
    const { id } = await notifier.send({ to: TO, template: 'invoice', variables: { total: '7' } })
    expect((await sent(id))?.body).toBe('7 us')
    expect(await notifier.templates.preview('invoice')).toMatchObject({ body: '5 us' })
    await expect(
      notifier.send({ to: TO, template: 'invoice', variables: { total: 'x' } }),
    ).rejects.toMatchObject({ details: { field: 'variables.total' } })
    await expect(notifier.templates.preview('invoice', { total: 'x' })).rejects.toMatchObject({
      code: 'invalid_template_variable',
    })
  })

  it('takes none of another channel', async () => {
    const { notifier } = await withTemplates(templates)
    await notifier.templates.create({ name: 'invoice', channel: 'sms', text: '{{total}}' })
    await expect(
      notifier.send({ to: TO, template: 'invoice', variables: { total: 1 } }),
    ).rejects.toMatchObject({ code: 'invalid_channel', details: { expected: 'sms' } })
  })
})

describe('a preview of a template in code', () => {
  it('shows its example, or given values', async () => {
    const { notifier } = await withTemplates(
      defineTemplates({
        hi: {
          channel: 'email',
          variables: z.object({ name: z.string() }),
          example: { name: 'Ada' },
          subject: 'Hi {{name}}',
          html: ({ variables, urls, locale }) => `${variables.name} ${locale} ${urls.unsubscribeUrl}`,
        },
      }),
      { publicUrl: URL },
    )
    expect(await notifier.templates.preview('hi', undefined, { locale: 'de' })).toEqual({
      subject: 'Hi Ada',
      body: 'Ada de https://example.com/unsubscribe',
      format: 'html',
      placeholders: [{ name: 'name', required: true, type: 'text' }],
    })
    expect(await notifier.templates.preview('hi', { name: 'Bea' })).toMatchObject({ subject: 'Hi Bea' })
    await expect(notifier.templates.preview('hi', {})).rejects.toMatchObject({
      details: { field: 'variables.name' },
    })
    await expect(notifier.templates.preview('hi', undefined, { layout: 'x' })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'layout' },
    })
    expect((await notifier.templates.list()).items).toEqual([])
  })
})
