import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { smtp } from '../../../adapters/channels/smtp/send.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { NotifierOptions } from '../../../src/options.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' }
const PERSON = '/v1/preferences?recipient=user%3A42'

let host: Host
let request: (method: string, path: string, body?: object) => Promise<Answer>

beforeEach(async () => {
  host = await startHost()
  const headers = await host.key('Full Access')
  request = (method, path, body) => host.call({ method, path, headers, body })
})
afterEach(() => host.close())

const details = ({ json }: Answer) =>
  (json?.error as { details?: Record<string, unknown> } | undefined)?.details
const list = (length: number) => Array.from({ length }, (_, at) => `a${at}@example.com`)

describe('the error of a send', () => {
  const { to: _to, ...nobody } = mail
  it.each<[string, object, string, string | readonly string[]]>([
    ['misspelt category', { ...mail, catgory: 'security' }, 'catgory', 'did you mean "category"?'],
    ['misspelt parts', { ...mail, mail: { cc: 'b@example.com' } }, 'mail', 'did you mean "email"?'],
    ['recipients', { ...nobody, recipients: 'user:42' }, 'recipients', 'did you mean "recipient"?'],
    ['recipientId', { ...nobody, recipientId: 'user:42' }, 'recipientId', 'did you mean "recipient"?'],
    ['user', { ...nobody, user: 'user:42' }, 'user', 'it is "recipient"'],
    ['tags', { ...mail, tags: ['spring'] }, 'tags', 'use "metadata"'],
    ['several addresses', { ...nobody, to: list(2) }, 'to', 'POST /v1/notifications/batch'],
    ['nobody', nobody, 'to', 'The field "to" is required unless a "recipient" is named.'],
    ['a channel that is not configured', { ...mail, whatsapp: {} }, 'whatsapp', 'not configured'],
    ['a wrong copy', { ...mail, email: { cc: ['b@example.com', 'no'] } }, 'email.cc.1', 'one e-mail address'],
    ['too many copies', { ...mail, email: { cc: list(51) } }, 'email.cc', 'at most 50 addresses'],
    ['no copy', { ...mail, email: { bcc: [] } }, 'email.bcc', 'must not be empty'],
    ['a copy that is no address', { ...mail, email: { bcc: 1 } }, 'email.bcc', 'or a list of them'],
    [
      'too many addresses for replies',
      { ...mail, email: { replyTo: list(11) } },
      'email.replyTo',
      'at most 10',
    ],
    [
      'the path of a file',
      { ...mail, email: { attachments: [{ path: '/etc/passwd' }] } },
      'email.attachments.0.path',
      ['calls in code', 'POST /v1/attachments'],
    ],
  ])('says what is wrong with %s', async (_name, body, field, message) => {
    const answer = await request('POST', '/v1/notifications', body)
    expect([400, 422]).toContain(answer.status)
    for (const part of [message].flat()) expect(answer.text.replaceAll('\\"', '"')).toContain(part)
    expect(details(answer)).toMatchObject({ field })
  })

  it('names the field of a reschedule that was meant', async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString()
    const sent = await request('POST', '/v1/notifications', { ...mail, sendAt: at })
    const path = `/v1/notifications/${sent.json?.id}/reschedule`
    for (const field of ['send_at', 'scheduledAt']) {
      const answer = await request('POST', path, { [field]: at })
      expect([answer.status, details(answer)?.field]).toEqual([400, field])
      expect(answer.text).toContain('\\"sendAt\\"')
    }
  })

  it('names the field of a template that was meant', async () => {
    const template = { name: 'hi', channel: 'email', body: 'Hi' }
    const tags = ['spring']
    const answers = [await request('POST', '/v1/templates', { ...template, tags })]
    await request('POST', '/v1/templates', template)
    answers.push(await request('PATCH', '/v1/templates/hi', { tags }))
    answers.push(await request('PATCH', '/v1/templates/hi/draft', { tags }))
    for (const answer of answers) {
      expect([answer.status, details(answer)?.field]).toEqual([400, 'tags'])
      expect(answer.text).toContain('use \\"metadata\\"')
    }
  })

  it('names nothing for an unknown field that resembles none, which is ignored', async () => {
    expect((await request('POST', '/v1/notifications', { ...mail, zebra: 1 })).status).toBe(201)
  })

  it('names the template that uses a category that is gone', async () => {
    await request('POST', '/v1/categories', { id: 'news', name: 'News' })
    await request('POST', '/v1/templates', { name: 'june', channel: 'email', body: 'Hi', category: 'news' })
    await request('DELETE', '/v1/categories/news')
    const message = { to: mail.to, template: 'june' }
    const answer = await request('POST', '/v1/notifications', message)
    expect([answer.status, codeOf(answer)]).toEqual([422, 'unknown_category'])
    expect(answer.text).toContain('which the template \\"june\\" names')
    const batch = await request('POST', '/v1/notifications/batch', { notifications: [message] })
    expect(batch.text).toContain('which the template \\"june\\" names')
    const own = await request('POST', '/v1/notifications', { ...message, category: 'june' })
    expect(own.text).not.toContain('which the template')
  })

  it('names the category whose sender is not allowed', async () => {
    const notifier = createNotifier({
      channels: { email: smtp({ host: '127.0.0.1', from: 'a@example.com', senders: ['example.com'] }) },
      categories: { news: { name: 'News', from: 'News <news@example.org>' } },
    })
    await notifier.start()
    const message = { channel: 'email', to: mail.to, subject: 'Hi', body: 'Hi', category: 'news' } as const
    await expect(notifier.validate(message)).rejects.toMatchObject({
      code: 'invalid_sender',
      message: expect.stringContaining('the "from" of the category "news"'),
      details: { field: 'category', category: 'news' },
    })
    await expect(notifier.validate({ ...message, email: { from: 'b@example.net' } })).rejects.toMatchObject({
      code: 'invalid_sender',
      details: { field: 'email.from' },
    })
    await notifier.stop()
  })
})

describe('preferences over REST', () => {
  it('refuse a body that they do not know, so that a misspelt one erases nothing', async () => {
    await request('PATCH', PERSON, { channels: { email: false } })
    for (const body of [{ preferences: { channels: {} } }, { chanels: {} }, { recipient: 'user:42' }]) {
      for (const method of ['PUT', 'PATCH']) {
        const answer = await request(method, PERSON, body)
        expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
        expect(details(answer)).toMatchObject({ field: Object.keys(body)[0] })
      }
    }
    expect((await request('GET', PERSON)).json).toMatchObject({ channels: { email: false } })
  })

  it('say that the URL names the person', async () => {
    const empty = await request('PATCH', '/v1/preferences', { channels: {} })
    expect([empty.status, details(empty)?.field]).toEqual([400, 'query'])
    expect(empty.text).toContain('?recipient=')
    const inBody = await request('PATCH', '/v1/preferences', { recipient: 'user:42', channels: {} })
    expect([inBody.status, details(inBody)?.field]).toEqual([400, 'recipient'])
    expect(inBody.text).toContain('belongs in the URL')
  })
})

describe('a category', () => {
  const wrong: [string, object, string, RegExp][] = [
    ['that is required and off', { required: true, default: false }, 'required', /always sent/],
    [
      'that is required and off somewhere',
      { required: true, default: { email: false } },
      'required',
      /always sent/,
    ],
    ['off on an unknown channel', { default: { fax: false } }, 'default', /no channel "fax"/],
    ['with a hidden character', { name: 'News\0' }, 'name', /control characters/],
    ['with a mark of direction', { name: 'News \u202e' }, 'name', /marks of direction/],
    [
      'with a hidden mark in its description',
      { description: 'a\u2066b' },
      'description',
      /marks of direction/,
    ],
  ]

  it.each(wrong)('%s is refused, stored or in code', async (_name, settings, field, message) => {
    const category = { name: 'News', ...settings }
    const answer = await request('POST', '/v1/categories', { id: 'news', ...category })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
    expect(answer.text).toMatch(new RegExp(message.source.replaceAll('"', '\\\\"')))
    expect(details(answer)).toMatchObject({ field })
    const categories = { news: category } as NonNullable<NotifierOptions['categories']>
    expect(() => createNotifier({ channels: { email: recordingProvider() }, categories })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration', message: expect.stringMatching(message) }),
    )
  })

  it('cannot become contradictory by a change', async () => {
    await request('POST', '/v1/categories', { id: 'news', name: 'News', default: { email: false } })
    const refused = await request('PATCH', '/v1/categories/news', { required: true })
    expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_parameter'])
    const both = await request('PATCH', '/v1/categories/news', { required: true, default: true })
    expect(both.json).toMatchObject({ required: true, default: { '*': true } })
    const described = await request('PATCH', '/v1/categories/news', { description: 'One\nTwo' })
    expect(described.json).toMatchObject({ description: 'One\nTwo' })
  })

  it('"default" is said to exist always', async () => {
    await expect(host.notifier.categories.delete('default')).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringContaining('always exists'),
    })
  })
})

it('an unknown upload is named', async () => {
  await expect(host.notifier.attachments.delete('x')).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no upload "x": it has ended or been deleted. Check the id.',
  })
})
