import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { uploadKind } from '../../../src/core/accept/upload.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const MiB = 1024 * 1024
const type = { 'content-type': 'application/pdf' }

let host: Host
let key: { authorization: string }
beforeAll(async () => {
  host = await startHost({ http: { bodyTimeoutMs: 200, strictBody: true } })
  key = await host.key('Write')
})
afterAll(() => host.close())

const upload = (body: string | Uint8Array | PassThrough, query = '?filename=a.pdf', headers: object = type) =>
  host.call({ method: 'POST', path: `/v1/attachments${query}`, body, headers: { ...key, ...headers } })

describe('an upload over REST', () => {
  it('may be larger than other bodies, and is named by a send', async () => {
    const body = Buffer.alloc(3 * MiB, 'abc')
    const { status, json } = await upload(body)
    expect([status, json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^att_/),
        filename: 'a.pdf',
        contentType: 'application/pdf',
        size: body.length,
        expiresAt: expect.stringMatching(/Z$/),
      },
    ])
    const id = String(json?.id)
    const message = { channel: 'email', to: 'ada@example.com', body: 'Hi', email: { attachments: [{ id }] } }
    const send = (path: string, sent: object) => host.call({ method: 'POST', path, body: sent, headers: key })
    expect((await send('/v1/notifications', message)).status).toBe(201)
    const batch = await send('/v1/notifications/batch', { notifications: [message] })
    expect(batch.json).toMatchObject({ accepted: 1 })
    await expect.poll(() => host.sent.length).toBe(2)
    for (const { email } of host.sent)
      expect(email?.attachments?.map(({ content }) => body.equals(content))).toEqual([true])
    const remove = () => host.call({ method: 'DELETE', path: `/v1/attachments/${id}`, headers: key })
    expect((await remove()).json).toEqual({ deleted: true })
    expect((await remove()).status).toBe(404)
    const refused = await send('/v1/notifications', message)
    expect([refused.status, refused.json]).toMatchObject([
      422,
      { error: { code: 'unknown_attachment', details: { field: 'email.attachments.0.id' } } },
    ])
  })

  it.each<[string, string | Uint8Array, string, object, number, string]>([
    ['no name', 'x', '', type, 422, 'missing_required_field'],
    ['an empty name', 'x', '?filename=', type, 400, 'invalid_parameter'],
    ['a path', 'x', '?filename=..%2Fa', type, 400, 'invalid_parameter'],
    ['a line break in its name', 'x', '?filename=a%0d%0ab', type, 400, 'invalid_parameter'],
    ['two names', 'x', '?filename=a&filename=b', type, 400, 'invalid_parameter'],
    ['another parameter', 'x', '?filename=a&size=1', type, 400, 'invalid_parameter'],
    ['no type', 'x', '?filename=a', {}, 422, 'missing_required_field'],
    ['a wrong type', 'x', '?filename=a', { 'content-type': 'pdf' }, 400, 'invalid_parameter'],
    ['no content', '', '?filename=a', type, 400, 'invalid_parameter'],
    [
      'compression',
      'x',
      '?filename=a',
      { ...type, 'content-encoding': 'gzip' },
      415,
      'unsupported_media_type',
    ],
    ['too much', Buffer.alloc(10 * MiB + 1), '?filename=a', type, 413, 'payload_too_large'],
  ])('is refused with %s', async (_name, body, query, headers, status, code) => {
    const answer = await upload(body, query, headers)
    expect([answer.status, answer.json]).toMatchObject([status, { error: { code } }])
  })

  it('is refused while it arrives, once it is too long', async () => {
    const body = new PassThrough()
    const answer = upload(body)
    for (let sent = 0; sent < 11; sent += 1) body.write(Buffer.alloc(MiB, 'x'))
    expect(await answer).toMatchObject({ status: 413, json: { error: { code: 'payload_too_large' } } })
  })

  it('is refused if it drips', async () => {
    const body = new PassThrough()
    const drip = setInterval(() => body.write('x'), 20)
    const answer = await upload(body)
    clearInterval(drip)
    expect(answer).toMatchObject({ status: 408, json: { error: { code: 'request_timeout' } } })
  })

  it('of a client that leaves stores nothing', async () => {
    const stored = async () => {
      const all = { organizationId: 'org_default' }
      return (await host.storage.records.list(uploadKind, all, { limit: 100, offset: 0 })).items.length
    }
    const before = await stored()
    const body = new PassThrough()
    body.write('x')
    const answer = upload(body)
    body.destroy()
    await answer
    expect((await upload('x')).status).toBe(201)
    expect(await stored()).toBe(before + 1)
  })
})
