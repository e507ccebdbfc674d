import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import type { ReceivedMail } from '../../support/mail-server.ts'
import { type MailingHost, startMailingHost } from '../../support/mailing-host.ts'
import type { HostOptions } from '../../support/rest-host.ts'

let host: MailingHost
afterEach(() => host.close())

async function start(options: HostOptions = {}): Promise<void> {
  host = await startMailingHost({ publicUrl: 'https://api.example.org/n', ...options })
}

const pdf = Buffer.from('%PDF-1.7 \0\xff', 'latin1')
const email = {
  replyTo: 'help@example.org',
  headers: { 'X-Campaign': '{{name}}', 'X-Unicode': 'Grüße' },
  attachments: [{ filename: 'Größe.pdf', contentType: 'application/pdf', content: pdf.toString('base64') }],
}
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: '<p>Hi</p>', email }

async function post(body: unknown, path = '/v1/notifications', more: object = {}): Promise<Answer> {
  return host.call({ method: 'POST', path, body, headers: { ...(await host.key()), ...more } })
}

async function arrived(count: number): Promise<ReceivedMail> {
  await eventually(() => expect(host.inbox).toHaveLength(count))
  return host.inbox[count - 1] as ReceivedMail
}

function expectParts({ parsed }: ReceivedMail): void {
  expect(parsed.replyTo?.value).toEqual([{ address: 'help@example.org', name: '' }])
  expect(parsed.headers.get('x-campaign')).toBe('{{name}}')
  expect(parsed.headers.get('x-unicode')).toBe('=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=')
  expect(
    parsed.attachments.map(({ filename, contentType, content }) => [filename, contentType, content]),
  ).toEqual([['Größe.pdf', 'application/pdf', pdf]])
}

describe('the parts of an e-mail', () => {
  it('arrive, beside a literal text, a template, and once more with a resend', async () => {
    await start()
    const { id } = (await post(mail)).json ?? {}
    expectParts(await arrived(1))
    await host.notifier.templates.create({ name: 'hi', channel: 'email', subject: 'S', body: 'Hi {{name}}' })
    await post({ to: 'bob@example.com', template: 'hi', variables: { name: 'Bob' }, email })
    const templated = await arrived(2)
    expectParts(templated)
    expect(templated.parsed.text?.trim()).toBe('Hi Bob')
    expect((await post({}, `/v1/notifications/${id}/resend`)).status).toBe(201)
    expectParts(await arrived(3))
  })

  it('are shown without the content of the files, and in no list', async () => {
    await start()
    const shown = {
      ...email,
      replyTo: [{ address: 'help@example.org' }],
      attachments: [{ filename: 'Größe.pdf', contentType: 'application/pdf', size: pdf.length }],
    }
    const { id } = (await post(mail)).json ?? {}
    const validated = await post(mail, '/v1/notifications', { 'x-test-mode': 'true' })
    expect(validated.json?.rendered).toMatchObject({ body: '<p>Hi</p>', email: shown })
    const auth = await host.key('Read Only')
    const { secret } = await host.notifier.apiKeys.create({
      name: 'support',
      permission: 'Read Only',
      grants: ['content'],
    })
    const record = await host.call({
      path: `/v1/notifications/${id}?rendered=true`,
      headers: { authorization: `Bearer ${secret}` },
    })
    expect(record.json?.rendered).toMatchObject({ body: '<p>Hi</p>', email: shown })
    const list = await host.call({ path: '/v1/notifications', headers: auth })
    expect(list.json?.items).toHaveLength(1)
    for (const { text } of [validated, record, list]) expect(text).not.toContain(pdf.toString('base64'))
  })

  it('are shown with the content of inline images', async () => {
    await start()
    const image = (size: number, cid?: string) => ({
      filename: 'logo.png',
      contentType: 'image/png',
      content: Buffer.alloc(size, 7).toString('base64'),
      ...(cid === undefined ? {} : { cid }),
    })
    const attachments = [image(300_000, 'logo'), image(9)]
    const { json } = await post({ ...mail, email: { attachments } }, '/v1/notifications', {
      'x-test-mode': 'true',
    })
    const [logo, other] =
      (json?.rendered as { email: { attachments: object[] } } | undefined)?.email.attachments ?? []
    expect(logo).toMatchObject({ size: 300_000, content: attachments[0]?.content })
    expect(other).toMatchObject({ size: 9 })
    expect(other).not.toHaveProperty('content')
  })

  it('are refused on another channel, and too many of them', async () => {
    await start()
    const push = await post({ ...mail, push: { data: { a: 'b' } } })
    expect([push.status, codeOf(push), push.json?.error]).toEqual([
      400,
      'invalid_parameter',
      expect.objectContaining({ details: expect.objectContaining({ field: 'push' }) }),
    ])
    const header = await post({ ...mail, email: { headers: { To: 'eve@example.com' } } })
    expect([header.status, codeOf(header)]).toEqual([400, 'invalid_parameter'])
    const batch = await post(
      { notifications: [mail, { ...mail, slack: { blocks: [{ type: 'divider' }] } }] },
      '/v1/notifications/batch',
    )
    expect(batch.json).toMatchObject({ accepted: 1, rejected: 1 })
    await arrived(1)
  })

  it('are bounded by maxBodyBytes', async () => {
    const attachments = [{ ...email.attachments[0], content: Buffer.alloc(2 ** 20).toString('base64') }]
    await start()
    expect((await post({ ...mail, email: { attachments } })).status).toBe(413)
    await host.close()
    await start({ http: { maxBodyBytes: 10 * 2 ** 20 } })
    expect((await post({ ...mail, email: { attachments } })).status).toBe(201)
    expect((await arrived(1)).parsed.attachments[0]?.size).toBe(2 ** 20)
  })

  it('carry the one-click unsubscription that is asked for', async () => {
    await start()
    await post({ ...mail, email: { unsubscribe: true } })
    const { parsed, source } = await arrived(1)
    const list = parsed.headers.get('list') as unknown as { unsubscribe: { url: string } }
    expect(list.unsubscribe.url).toMatch(/^https:\/\/api\.example\.org\/n\/unsubscribe\?t=[\w-]+\.[\w-]+$/)
    expect(source).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click')
    // The link says nothing about the person.
    expect(
      Buffer.from(new URL(list.unsubscribe.url).searchParams.get('t') ?? '', 'base64url').toString(),
    ).not.toContain('ada@')
  })

  it.each([undefined, 'http://api.example.org'])(
    'cannot be unsubscribed from without https (%s)',
    async (publicUrl) => {
      await start({ publicUrl })
      const refused = await post({ ...mail, email: { unsubscribe: true } })
      expect([refused.status, codeOf(refused)]).toEqual([400, 'invalid_parameter'])
      expect(refused.text).toContain('publicUrl')
      expect((await post({ ...mail, email: { unsubscribe: false } })).status).toBe(201)
    },
  )
})
