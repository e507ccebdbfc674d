import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Call } from '../../support/http-client.ts'
import { succeeded } from '../../support/operation.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
let auth: { authorization: string }
let names = 0

beforeAll(async () => {
  host = await startHost()
  auth = await host.key('Write')
})
afterAll(() => host.close())

const api = (options: Call) => host.call({ ...options, headers: { ...auth, ...options.headers } })

const operation = async (name: string, options: Call) => (await succeeded(api, name, options)).json ?? {}

/** A template of three versions; its path. */
async function template(): Promise<string> {
  names += 1
  const body = { name: `template-${names}`, channel: 'email', subject: 'Hi {{name}}', html: '<p>one</p>' }
  const { id } = await operation('createTemplate', { path: '/v1/templates', body })
  for (const html of ['<p>two</p>', '<p>three</p>']) {
    host.clock.advance(1_000)
    await operation('updateTemplate', { path: `/v1/templates/${id}`, body: { html } })
  }
  return `/v1/templates/${id}`
}

describe('versions', () => {
  it('are listed newest first, in pages, and read one by one', async () => {
    const path = await template()
    const first = await operation('listTemplateVersions', { path: `${path}/versions?limit=2` })
    expect(first).toMatchObject({
      items: [
        { version: 3, html: '<p>three</p>', body: null },
        { version: 2, html: '<p>two</p>' },
      ],
      hasMore: true,
    })
    const next = `${path}/versions?limit=2&cursor=${first.nextCursor}`
    const second = await operation('listTemplateVersions', { path: next })
    expect(second).toMatchObject({ items: [{ version: 1, html: '<p>one</p>' }], hasMore: false })
    const items = [first.items, second.items].flat() as { createdAt: string }[]
    const times = items.map(({ createdAt }) => Date.parse(createdAt))
    expect(times).toEqual([...times].sort((a, b) => b - a))
    expect(new Set(times).size).toBe(3)
    expect(await operation('getTemplateVersion', { path: `${path}/versions/2` })).toEqual(items[1])
  })

  it('tell who made them, also those of layouts and those that were published', async () => {
    const path = await template()
    await operation('saveTemplateDraft', { path: `${path}/draft`, body: { subject: 'Published' } })
    await operation('publishTemplateDraft', { path: `${path}/draft/publish` })
    const { id = '' } = await operation('createLayout', {
      path: '/v1/layouts',
      body: { name: `layout-${names}`, html: '{{{content}}}' },
    })
    const layout = `/v1/layouts/${id}/versions`
    const versions = [
      ...((await operation('listTemplateVersions', { path: `${path}/versions` })).items as object[]),
      await operation('getLayoutVersion', { path: `${layout}/1` }),
    ]
    expect(versions).toHaveLength(5)
    for (const version of versions)
      expect(version).toMatchObject({ author: { type: 'key', id: expect.stringMatching(/^key_/) } })
  })

  it('come back as a new version', async () => {
    const path = await template()
    const restored = await operation('restoreTemplateVersion', { path: `${path}/versions/1/restore` })
    expect(restored).toMatchObject({ version: 4, html: '<p>one</p>', subject: 'Hi {{name}}' })
    expect(await operation('restoreTemplateVersion', { path: `${path}/versions/4/restore` })).toEqual(
      restored,
    )
    expect(await operation('getTemplate', { path })).toEqual(restored)
  })

  it.each(['0', '4', '01', '1.0', '1e0', '-1', 'x', '9007199254740993', '%00'])(
    'are not found where there is none: %s',
    async (version) => {
      const path = `${await template()}/versions/${version}`
      const answers = [await api({ path }), await api({ method: 'POST', path: `${path}/restore` })]
      for (const { status, json } of answers)
        expect([status, json]).toMatchObject([404, { error: { code: 'template_not_found' } }])
    },
  )
})

describe('a change of a version', () => {
  it('is refused where the template has another one, which the answer tells', async () => {
    const path = await template()
    const body = { version: 2, html: '<p>mine</p>' }
    const refused = await api({ method: 'PATCH', path, body })
    const details = { field: 'version', version: 3 }
    expect(refused).toMatchObject({ status: 409, json: { error: { code: 'version_conflict', details } } })
    const changed = await operation('updateTemplate', { path, body: { ...body, version: 3 } })
    expect(changed).toMatchObject({ version: 4, html: '<p>mine</p>' })
    expect(await operation('updateTemplate', { path, body: changed })).toEqual(changed)
  })

  it('wins once in a race', async () => {
    const path = await template()
    const bodies = ['a', 'b', 'c', 'd'].map((text) => ({ version: 3, text }))
    const answers = await Promise.all(bodies.map((body) => api({ method: 'PATCH', path, body })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409])
  })

  it.each([0, '3', 1.5])('is refused where the version is %j', async (version) => {
    const answer = await api({ method: 'PATCH', path: await template(), body: { version } })
    expect(answer).toMatchObject({ status: 400, json: { error: { details: { field: 'version' } } } })
  })
})

describe('a preview', () => {
  const draft = {
    channel: 'email',
    subject: 'Hi {{name}}',
    html: '<p>{{name}}, {{order.id}}{{#vip}} thank {{you}}{{/vip}}{{^vip}}{{/vip}}</p>',
  }
  const placeholders = [
    { name: 'name', required: true, type: 'text' },
    { name: 'order.id', required: true, type: 'text' },
    { name: 'vip', required: false, type: 'section' },
  ]

  it('of a draft answers as that of a template, and stores nothing', async () => {
    const before = await operation('listTemplates', { path: '/v1/templates' })
    const variables = { name: '<Ada>', order: { id: 7 } }
    const path = '/v1/template-previews'
    const preview = await operation('previewTemplateDraft', { path, body: { ...draft, variables } })
    expect(preview).toEqual({
      subject: 'Hi <Ada>',
      body: '<p>&lt;Ada&gt;, 7</p>',
      format: 'html',
      placeholders,
    })
    expect(await operation('listTemplates', { path: '/v1/templates' })).toEqual(before)
    const admin = '/admin/template-previews?orgId=org_default'
    const data = { name: 'x', order: { id: 7 } }
    const body = { ...draft, data, variables: { name: '<Ada>' } }
    expect(await operation('previewTemplateDraft', { path: admin, body })).toEqual(preview)
    await operation('createTemplate', { path: '/v1/templates', body: { ...draft, name: 'drafted' } })
    const stored = { path: '/v1/templates/drafted/preview', body: { variables } }
    expect(await operation('previewTemplate', stored)).toEqual(preview)
  })

  it('takes the parts of the channel, and ignores unknown fields', async () => {
    await operation('createTemplate', {
      path: '/v1/templates',
      body: { channel: 'email', text: 'Hi', name: 'parted' },
    })
    const parts = { email: { replyTo: 'desk@example.com' } }
    const shown = { body: 'Hi', email: { replyTo: [{ address: 'desk@example.com' }] } }
    const path = '/v1/templates/parted/preview'
    expect(await operation('previewTemplate', { path, body: { ...parts, unknown: 1 } })).toMatchObject(shown)
    const previews = { path: '/v1/template-previews', body: { channel: 'email', text: 'Hi', ...parts } }
    expect(await operation('previewTemplateDraft', previews)).toMatchObject(shown)
    expect(await api({ method: 'POST', path, body: { slack: {} } })).toMatchObject({
      status: 400,
      json: { error: { details: { field: 'slack' } } },
    })
    expect(await api({ method: 'POST', path, body: { recipient: 'eve' } })).toMatchObject({
      status: 422,
      json: { error: { code: 'invalid_parameter', details: { field: 'recipient' } } },
    })
  })

  it('is linted like a stored template', async () => {
    const variables = { name: 'Ada', order: { id: 7 }, vip: false, unused: true }
    const html = `${draft.html ?? ''}\n<a href="http://a.example">x</a>`
    const text = { ...draft, html, body: undefined }
    const path = '/v1/template-lints'
    const lint = await operation('lintTemplateDraft', { path, body: { ...text, variables } })
    expect(lint).toMatchObject({
      locales: ['en'],
      complete: true,
      findings: [
        { rule: 'plain_http_link', severity: 'warning', field: 'html', line: 2, locales: ['en'] },
        { rule: 'missing_text', field: 'text' },
        { rule: 'unused_variable', field: 'variables' },
      ],
    })
    await operation('createTemplate', { path: '/v1/templates', body: { ...text, name: 'linted' } })
    const stored = '/v1/templates/linted/lint'
    expect(await operation('lintTemplate', { path: stored, body: { variables } })).toEqual(lint)
    const alone = await operation('lintTemplate', { path: stored })
    expect(alone).toMatchObject({ findings: [{ rule: 'plain_http_link' }, { rule: 'missing_text' }] })
    const slack = { channel: 'slack', body: 'Hi', slack: { blocks: [{ type: 'header' }] } }
    expect(await operation('lintTemplateDraft', { path, body: slack })).toMatchObject({
      findings: [{ rule: 'invalid_block', field: 'slack.blocks[0].text' }],
    })
    const unclosed = { channel: 'slack', body: '{{#a}}' }
    expect(await operation('lintTemplateDraft', { path, body: unclosed })).toMatchObject({
      locales: [],
      findings: [{ rule: 'invalid_syntax', field: 'body' }],
    })
    const wrong = await api({ method: 'POST', path: stored, body: { variables: 1 } })
    expect(wrong).toMatchObject({ status: 400, json: { error: { code: 'invalid_parameter' } } })
    const lost = await api({ method: 'POST', path: '/v1/templates/lost/lint', body: {} })
    expect(lost).toMatchObject({ status: 404, json: { error: { code: 'template_not_found' } } })
  })

  it('names the placeholders where values are missing, too', async () => {
    const answer = await api({ method: 'POST', path: '/v1/template-previews', body: draft })
    const details = { missing: ['name', 'order.id'], placeholders }
    expect(answer).toMatchObject({
      status: 422,
      json: { error: { code: 'invalid_template_variable', details } },
    })
  })

  it.each([
    [{ html: 'x' }, 422, 'missing_required_field', 'channel'],
    [{ channel: 'email' }, 422, 'missing_required_field', 'body'],
    [{ channel: 'fax', text: 'x' }, 422, 'invalid_channel', 'channel'],
    [{ channel: 'email', html: 'x', body: 'y' }, 400, 'invalid_parameter', 'html'],
    [{ channel: 'sms', html: 'x' }, 400, 'invalid_parameter', 'html'],
    [{ channel: 'email', text: '{{#a}}' }, 400, 'invalid_parameter', 'text'],
    [{ channel: 'email', text: '{{> A}}' }, 400, 'invalid_parameter', 'text'],
    [{ channel: 'email', text: 'x', layout: 'none' }, 422, 'invalid_template', 'layout'],
    [{ channel: 'email', text: 'x', variables: [] }, 400, 'invalid_parameter', 'variables'],
    [{ channel: 'email', text: 'x', subject: 7 }, 400, 'invalid_parameter', 'subject'],
  ])('of %j is refused', async (body, status, code, field) => {
    const answer = await api({ method: 'POST', path: '/v1/template-previews', body })
    expect(answer).toMatchObject({ status, json: { error: { code, details: { field } } } })
  })
})
