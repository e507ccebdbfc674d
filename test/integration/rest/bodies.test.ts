import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi' }

async function count(host: Host): Promise<number> {
  return (await host.notifier.notifications.list({ limit: 100 })).items.length
}

describe.each(['nested', 'flat'] as const)('bad input, %s errors', (errorFormat) => {
  let host: Host
  let auth: { authorization: string }
  beforeAll(async () => {
    host = await startHost({ http: { errorFormat } })
    auth = await host.key()
    await host.notifier.templates.create({
      name: 'welcome',
      channel: 'email',
      subject: 'x',
      body: '{{name}}',
    })
  })
  afterAll(() => host.close())

  const rows: [title: string, body: unknown, status: number, code: string, field?: string][] = [
    ['no recipient', { ...mail, to: undefined }, 422, 'missing_required_field', 'to'],
    ['no body', { ...mail, body: undefined }, 422, 'missing_required_field', 'body'],
    ['no channel', { ...mail, channel: undefined }, 422, 'missing_required_field', 'channel'],
    ['nothing', {}, 422, 'missing_required_field', 'to'],
    ['an unknown channel', { ...mail, channel: 'fax' }, 422, 'invalid_channel', 'channel'],
    [
      'a channel that is not configured',
      { ...mail, channel: 'sms', to: '+14155550123' },
      422,
      'invalid_channel',
    ],
    ['a number for text', { ...mail, body: 5 }, 400, 'invalid_parameter', 'body'],
    ['a list for an object', { ...mail, variables: [] }, 400, 'invalid_parameter', 'variables'],
    ['null', { ...mail, to: null }, 400, 'invalid_parameter', 'to'],
    ['a bad address', { ...mail, to: 'ada@' }, 422, 'invalid_email', 'to'],
    ['an address with a header', { ...mail, to: 'a@b.co\r\nBcc: c@d.co' }, 422, 'invalid_email', 'to'],
    ['an unknown template', { to: mail.to, template: 'nope' }, 422, 'template_not_found', 'template'],
    ['a missing variable', { to: mail.to, template: 'welcome' }, 422, 'invalid_template_variable', 'name'],
    [
      'an inherited variable',
      { to: mail.to, template: 'welcome', variables: { __proto__: { name: 1 } } },
      422,
      'invalid_template_variable',
    ],
    ['a lone surrogate', { ...mail, body: '\ud800' }, 400, 'invalid_parameter', 'body'],
    ['a list', [mail], 400, 'invalid_parameter', 'body'],
  ]

  it.each(rows)('%s', async (_title, body, status, code, field) => {
    const before = await count(host)
    const answer = await host.call({ method: 'POST', path: '/v1/notify', headers: auth, body })
    const shown = errorFormat === 'flat' ? code.toUpperCase() : code
    expect([answer.status, codeOf(answer)], answer.text).toEqual([status, shown])
    if (field !== undefined && errorFormat === 'nested') expect(answer.text).toContain(field)
    if (errorFormat === 'flat') {
      expect(answer.json).toEqual({ error: expect.any(String), code: shown, statusCode: status })
    } else {
      expect(answer.json).toMatchObject({ error: { request_id: answer.headers['x-request-id'] } })
    }
    expect(await count(host)).toBe(before)
  })

  const noJson: readonly (readonly [title: string, body: string | Buffer])[] = [
    ['half a value', '{"channel":'],
    ['text', 'hello'],
    ['nothing at all', ''],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a deep list that ends too early', '['.repeat(10_000)],
  ]
  it.each(noJson)('is no JSON: %s', async (_title, body) => {
    const headers = { ...auth, 'content-type': 'application/json' }
    const answer = await host.call({ method: 'POST', path: '/v1/notify', headers, body })
    expect([answer.status, String(codeOf(answer)).toLowerCase()]).toEqual([400, 'invalid_json'])
  })

  it('another media type', async () => {
    const headers = { ...auth, 'content-type': 'application/x-www-form-urlencoded' }
    const answer = await host.call({ method: 'POST', path: '/v1/notify', headers, body: 'to=x' })
    expect([answer.status, String(codeOf(answer)).toLowerCase()]).toEqual([415, 'unsupported_media_type'])
  })

  it('no media type is taken for JSON', async () => {
    const answer = await host.call({
      method: 'POST',
      path: '/v1/notify',
      headers: auth,
      body: JSON.stringify(mail),
    })
    expect(answer.status, answer.text).toBe(201)
  })

  it.each([
    ['?limit=0', 'limit'],
    ['?limit=101', 'limit'],
    ['?limit=1e1', 'limit'],
    ['?limit=', 'limit'],
    ['?offset=-1', 'offset'],
    ['?offset=2001', 'use \\"cursor\\"'],
    ['?status=lost', 'status'],
    ['?from=yesterday', 'from'],
    ['?to=%00', 'to'],
    ['?limit=1&limit=2', 'limit'],
    ['?cursor=no%20cursor', 'cursor'],
  ])('the query %s', async (query, field) => {
    const answer = await host.call({ path: `/v1/notifications${query}`, headers: auth })
    expect([answer.status, String(codeOf(answer)).toLowerCase()], answer.text).toEqual([
      400,
      'invalid_parameter',
    ])
    expect(answer.text).toContain(field)
  })
})
