import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { defineChannel } from '../../../../src/core/channels/channel-kind.ts'
import { defineTemplates } from '../../../../src/features/code-templates/define.ts'
import type { TemplateLint } from '../../../../src/features/lint/model.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { expectTemplates } from '../../../../src/testing/expect-templates.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

async function open(options: Partial<NotifierOptions> = {}) {
  const notifier = await notifierWorld().start({ channels: { email: recordingProvider() }, ...options })
  return { notifier, templates: notifier.templates }
}

const rulesOf = ({ findings }: TemplateLint) => findings.map(({ rule }) => rule)
const good = { name: 'a', channel: 'email', subject: 'Hi', html: '<p>Hi {{name}}</p>', text: 'Hi {{name}}' }

describe('a lint', () => {
  it('finds nothing in a good template', async () => {
    const { templates } = await open()
    await templates.create(good)
    const found = { findings: [], complete: true, locales: ['en'] }
    expect(await templates.lint('a')).toEqual(found)
    expect(await templates.lint('a', { variables: { name: 'Ada' } })).toEqual(found)
    expect(await templates.lint('a', { data: { name: 'Ada' } })).toEqual(found)
  })

  it('names the field as the template does', async () => {
    const { templates } = await open()
    const fieldsOf = async (text: object) => {
      const draft = { channel: 'email', subject: 'Hi', variables: {}, ...text } as never
      const { findings } = await templates.lintDraft(draft)
      return findings.filter(({ rule }) => rule === 'missing_variable').map(({ field }) => field)
    }
    expect(await fieldsOf({ body: 'Hi {{a}}' })).toEqual(['body'])
    expect(await fieldsOf({ text: 'Hi {{a}}' })).toEqual(['text'])
    expect(await fieldsOf({ html: 'Hi {{a}}', text: 'Hi {{a}}' })).toEqual(['html', 'text'])
    expect(await fieldsOf({ text: 'Hi', subject: '{{a}}' })).toEqual(['subject'])
  })

  it('checks every locale, and joins what they share', async () => {
    const { templates, notifier } = await open()
    await notifier.layouts.create({
      name: 'brand',
      html: '<main>{{{content}}}</main>\n{{> footer}}'.replace('{{> footer}}', '<img src="x.png">'),
      text: '{{content}}',
    })
    await templates.create({
      ...good,
      layout: 'brand',
      locale: 'en',
      locales: { de: { html: '<p>Hallo\n {{nmae}}</p>', text: 'Hallo {{name}}' } },
    })
    const { findings, locales } = await templates.lint('a', { variables: { name: 'Ada', age: 3 } })
    expect(locales).toEqual(['en', 'de'])
    expect(findings).toMatchObject([
      {
        rule: 'image_without_alt',
        severity: 'warning',
        field: 'html',
        locales: ['en', 'de'],
        source: { type: 'layout', name: 'brand' },
        line: 2,
        excerpt: '<img src="x.png">',
      },
      {
        rule: 'missing_variable',
        severity: 'error',
        field: 'html',
        locales: ['de'],
        line: 2,
        excerpt: '{{nmae}}',
      },
      { rule: 'unused_variable', field: 'variables', locales: ['en'] },
    ])
    expect(findings[1]).not.toHaveProperty('source')
  })

  it('finds what partials have', async () => {
    const { templates, notifier } = await open()
    await notifier.partials.create({ name: 'footer', text: 'x\nhttp://a.example/{{id}}' })
    await templates.create({ name: 'a', channel: 'sms', text: 'Hi {{> footer}}' })
    expect((await templates.lint('a', { variables: {} })).findings).toMatchObject([
      { rule: 'missing_variable', source: { type: 'partial', name: 'footer' }, line: 2, excerpt: '{{id}}' },
      { rule: 'plain_http_link', source: { type: 'partial', name: 'footer' }, line: 2 },
    ])
  })

  it('finds messages and variants that are missing', async () => {
    const { templates, notifier } = await open()
    await notifier.messages.put('en', { hello: 'Hello {name}', bye: 'Bye' })
    await notifier.messages.put('de', { hello: 'Hallo {name}' })
    await notifier.messages.put('fr', { hello: 'Bonjour {name}', bye: 'Adieu' })
    await templates.create({
      name: 'a',
      channel: 'sms',
      text: '{{@hello}} {{@bye}}',
      locale: 'en',
      locales: { de: { text: '{{@hello}}' } },
    })
    const { findings, locales } = await templates.lint('a', { variables: { name: 'Ada' } })
    expect(locales).toEqual(['en', 'de', 'fr'])
    expect(findings.map(({ rule, severity, field, locales }) => [rule, severity, field, locales])).toEqual([
      ['untranslated_message', 'warning', 'messages', ['de']],
      ['missing_variant', 'warning', 'locales', ['fr']],
    ])
    expect(rulesOf(await templates.lint('a', { variables: {} }))).toContain('missing_variable')
    const lost = await templates.lintDraft({
      channel: 'sms',
      text: '{{@hello}} {{@lost}}',
      variables: { name: 'Ada' },
    })
    expect(lost.findings).toMatchObject([
      { rule: 'missing_message', severity: 'error', field: 'text', excerpt: '{{@lost}}', line: 1 },
    ])
  })

  it('finds what cannot be put together', async () => {
    const { templates, notifier } = await open()
    const lint = (text: object) => templates.lintDraft({ channel: 'email', subject: 'Hi', ...text } as never)
    expect((await lint({ html: '<p>{{#a}}</p>', text: 'x' })).findings).toMatchObject([
      { rule: 'invalid_syntax', severity: 'error', field: 'html' },
    ])
    expect(await lint({ html: '<p>{{#a}}</p>' })).toMatchObject({ locales: [], complete: true })
    expect(rulesOf(await lint({ text: 'x', locales: { de: { text: '{{#if a}}' } } }))).toEqual([
      'invalid_syntax',
    ])
    expect((await lint({ text: 'x', layout: 'lost' })).findings).toMatchObject([
      { rule: 'invalid_template', field: 'layout' },
    ])
    expect(rulesOf(await lint({ text: '{{> lost}}', variables: { unused: 1 } }))).toEqual([
      'invalid_template',
    ])
    await notifier.layouts.create({ name: 'brand', html: '<p>{{{content}}}</p>' })
    expect(rulesOf(await lint({ text: 'x', layout: 'brand' }))).toEqual(['invalid_template'])
  })

  it('checks the parts of the channel', async () => {
    const { templates } = await open()
    await templates.create({ name: 'a', channel: 'slack', text: 'Hi' })
    const header = { blocks: [{ type: 'header' }] }
    const refused = [{ rule: 'invalid_block', severity: 'error', field: 'slack.blocks[0].text' }]
    expect((await templates.lint('a', { slack: header })).findings).toMatchObject(refused)
    expect(
      (await templates.lintDraft({ channel: 'slack', text: 'Hi', slack: header })).findings,
    ).toMatchObject(refused)
    expect(rulesOf(await templates.lint('a', { slack: { blocks: [{ type: 'divider' }] } }))).toEqual([])
    await expect(templates.lint('a', { slack: { blocks: [] } })).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'slack.blocks' },
    })
    await expect(templates.lint('a', { email: { unsubscribe: true } })).rejects.toMatchObject({
      details: { field: 'email' },
    })
  })

  it('asks the channel for its rules', async () => {
    const kind = defineChannel({
      name: 'pager',
      recipient: 'a number',
      lint: {
        rules: { shouting: { severity: 'error', finds: 'capitals' } },
        find: ({ body }) =>
          /[A-Z]{3}/.test(body)
            ? [
                { rule: 'shouting', field: 'body', message: 'Write small letters.', excerpt: body },
                { rule: 'new', field: 'body', message: 'A rule without an entry.' },
              ]
            : [],
      },
    })
    const pager = { ...recordingProvider(), channel: undefined, kind }
    const { templates } = await open({ channels: { pager } as never })
    expect((await templates.lintDraft({ channel: 'pager', text: 'x\nFIRE' })).findings).toMatchObject([
      { rule: 'shouting', severity: 'error', field: 'text', line: 1 },
      { rule: 'new', severity: 'warning', field: 'text' },
    ])
    expect(rulesOf(await templates.lintDraft({ channel: 'pager', text: 'fire' }))).toEqual([])
  })

  it('checks templates in code with their examples', async () => {
    const templates = defineTemplates({
      mustache: {
        channel: 'email',
        variables: z.object({ name: z.string(), days: z.number().default(3) }),
        example: { name: 'Ada' },
        subject: 'Hi',
        html: '<p>{{name}} {{days}}</p>\n<a href="http://a.example">{{nmae}}</a>',
        text: 'Hi',
      },
      written: {
        channel: 'email',
        variables: z.object({ url: z.string() }),
        example: { url: 'http://a.example' },
        subject: () => 'Hi',
        text: ({ variables }) => variables.url,
      },
      wrong: { channel: 'sms', variables: z.object({ code: z.string() }), text: '{{code}}' },
      alone: { channel: 'sms', text: () => 'x' },
    })
    const channels = { email: recordingProvider(), sms: recordingProvider() }
    const { notifier } = await open({ channels, templates } as never)
    const lint = (name: string, options?: object) => notifier.templates.lint(name, options)
    expect((await lint('mustache')).findings).toMatchObject([
      { rule: 'missing_variable', field: 'html', line: 2, excerpt: '{{nmae}}' },
      { rule: 'plain_http_link', field: 'html', line: 2 },
    ])
    expect((await lint('written')).findings).toMatchObject([{ rule: 'plain_http_link', field: 'text' }])
    expect(rulesOf(await lint('written', { variables: { url: 'https://a.example' } }))).toEqual([])
    expect((await lint('wrong', { variables: { code: 1 } })).findings).toMatchObject([
      { rule: 'missing_variable' },
    ])
    expect(await lint('alone')).toEqual({ findings: [], complete: true, locales: [] })
    await expect(lint('mustache', { draft: true })).rejects.toMatchObject({ details: { field: 'draft' } })
    await expect(expectTemplates(notifier)).rejects.toThrow('3 findings in 4 templates:')
  })

  it('has at most 200 findings', async () => {
    const { templates } = await open()
    const html = Array.from({ length: 201 }, (_, index) => `<img src="${index}.png">`).join('\n')
    const { findings, complete } = await templates.lintDraft({
      channel: 'email',
      subject: 'Hi',
      html,
      text: 'x',
    })
    expect([findings.length, complete]).toEqual([200, false])
    expect(findings[199]).toMatchObject({ line: 200, excerpt: '<img src="199.png">' })
  })

  it('counts a fault once, however often the text has it', async () => {
    const { templates } = await open()
    const html = `${'<img src="a.png">'.repeat(1_000)}<img src="b.png">`
    const { findings, complete } = await templates.lintDraft({
      channel: 'email',
      subject: 'Hi',
      html,
      text: 'x',
    })
    expect(findings.map(({ excerpt }) => excerpt)).toEqual(['<img src="a.png">', '<img src="b.png">'])
    expect(complete).toBe(true)
  })

  it('begins no further locale after too much work', async () => {
    const { templates, notifier } = await open()
    const all = ['cs', 'da', 'de', 'el', 'en', 'es', 'fi', 'fr', 'hu', 'it', 'nl', 'pl']
    for (const locale of all) await notifier.messages.put(locale, { k: 'x' })
    const lint = (length: number) =>
      templates.lintDraft({
        channel: 'email',
        subject: 'Hi',
        html: `${'x'.repeat(length)}{{@k}}`,
        text: 'x',
        variables: { unused: 'x' },
      })
    const small = await lint(1)
    expect([small.complete, small.locales.length, rulesOf(small)]).toEqual([true, 12, ['unused_variable']])
    const large = await lint(200_000)
    expect(large.complete).toBe(false)
    expect(large.locales[0]).toBe('en')
    expect(large.locales.length).toBeLessThan(12)
    // A locale that was not checked may use it.
    expect(rulesOf(large)).not.toContain('unused_variable')
  })

  it.each([
    ['tags of HTML', `${'<b>'.repeat(80_000)}{{@k0}}`],
    ['equal faults', `${'<img src=http://x>'.repeat(14_000)}{{@k0}}`],
    ['messages', Array.from({ length: 1_000 }, (_, index) => `{{@k${index}}}`).join('')],
    [
      'messages, of which one is missing',
      Array.from({ length: 1_001 }, (_, index) => `{{@k${index}}}`).join(''),
    ],
  ])('counts %s as work', async (_what, html) => {
    const { templates, notifier } = await open()
    const all = ['cs', 'da', 'de', 'el', 'en', 'es', 'fi', 'fr', 'hu', 'it', 'nl', 'pl', 'pt', 'ro', 'sk']
    const messages = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`k${index}`, `{x} ${index}`]),
    )
    for (const locale of all) await notifier.messages.put(locale, messages)
    const { complete, locales } = await templates.lintDraft({
      channel: 'email',
      subject: 'Hi',
      html: `<p>${html}</p>`,
      text: 'x',
      variables: { x: 'x' },
    })
    expect(complete).toBe(false)
    expect(locales.length).toBeLessThanOrEqual(10)
  })

  it('shows excerpts of limited length', async () => {
    const { templates } = await open()
    const html = `<p>x</p>\n<img src="${'x'.repeat(1_000)}">`
    const { findings } = await templates.lintDraft({ channel: 'email', subject: 'Hi', html, text: 'x' })
    expect(findings).toMatchObject([{ rule: 'image_without_alt', line: 2 }])
    expect(findings[0]?.excerpt).toHaveLength(120)
  })

  it('checks the draft, if asked', async () => {
    const { templates } = await open()
    await templates.create(good)
    await templates.saveDraft('a', { html: '<a href="http://a.example">x</a>' })
    expect(rulesOf(await templates.lint('a'))).toEqual([])
    expect(rulesOf(await templates.lint('a', { draft: true }))).toEqual(['plain_http_link'])
  })

  it('has the locale of the organization, and refuses wrong calls', async () => {
    const { templates, notifier } = await open()
    await notifier.organizations.update('org_default', { locale: 'fr' })
    await templates.create(good)
    expect((await templates.lint('a')).locales).toEqual(['fr'])
    await expect(templates.lint('b')).rejects.toMatchObject({ code: 'template_not_found' })
    await expect(templates.lint('a', { variables: [] as never })).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
    await expect(templates.lintDraft({ channel: 'email' } as never)).rejects.toMatchObject({
      code: 'missing_required_field',
    })
    await expect(templates.lintDraft({ channel: 'fax', text: 'x' })).rejects.toMatchObject({
      code: 'invalid_channel',
    })
  })
})
