import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import express from 'express'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readNodeBody } from '../../adapters/http/node-body.ts'
import { createLinkSigner } from '../../src/core/links/link-signer.ts'
import { type ExpressHost, type ExpressHostOptions, startExpressHost } from '../support/express-host.ts'
import { codeOf, exchange } from '../support/http-client.ts'
import { emailHash } from '../support/person-hashes.ts'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi' }
const text = JSON.stringify(mail)

async function count(host: ExpressHost): Promise<number> {
  return (await host.notifier.notifications.list({ limit: 100 })).items.length
}

describe('large and slow bodies', () => {
  let host: ExpressHost
  let auth: { authorization: string }
  beforeAll(async () => {
    host = await startExpressHost({ http: { maxBodyBytes: 50_000, maxBatchBytes: 200_000 } })
    auth = await host.key()
  })
  afterAll(() => host.close())

  const head = (more: string): string =>
    `POST /v1/notify HTTP/1.1\r\nHost: x\r\nAuthorization: ${auth.authorization}\r\nContent-Type: application/json\r\n${more}\r\n\r\n`

  it('a declared size above the limit is refused before it is sent', async () => {
    const answer = await exchange(host.port, head('Content-Length: 5000000'))
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(answer).toContain('Connection: close')
    expect(answer).toContain('"payload_too_large"')
    expect(await count(host)).toBe(0)
  })

  it('a body that grows above the limit is read on, so that who sends all of it first gets the answer', async () => {
    const socket = connect(host.port, '127.0.0.1').pause()
    const piece = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`
    const body = `${piece.repeat(80)}0\r\n\r\n`
    const failed = await new Promise<unknown>((resolve) => {
      socket.on('error', resolve)
      socket.write(`${head('Transfer-Encoding: chunked')}${body}`, resolve)
    })
    expect(failed).toBeFalsy()
    expect(await firstData(socket.resume())).toMatch(/^HTTP\/1\.1 413 /)
    socket.destroy()
  })

  it('a request without a key cannot pour either', async () => {
    const start = 'POST /v1/notify HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
    const { answer, sent } = await pour(host.port, start, 500_000_000)
    expect(answer).toMatch(/^HTTP\/1\.1 401 /)
    expect(sent).toBeLessThan(500_000_000)
  })

  it('keeps the connection after a refusal of a small request', async () => {
    const one = 'POST /v1/notify HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n'
    const answer = await exchange(host.port, `${one}\r\n{}${one}Connection: close\r\n\r\n{}`)
    expect(answer.match(/HTTP\/1\.1 401 /g)).toHaveLength(2)
  })

  it('a body in many small pieces is the same', async () => {
    const socket = connect(host.port, '127.0.0.1')
    const answered = firstData(socket)
    socket.write(head(`Content-Length: ${text.length}`))
    for (const character of text) {
      socket.write(character)
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await answered).toMatch(/^HTTP\/1\.1 201 /)
    socket.destroy()
  })
})

describe('a body that the application has read', () => {
  let host: ExpressHost
  afterEach(() => host.close())
  const notify = async (body: object) =>
    host.call({ method: 'POST', path: '/v1/notify', headers: await host.key(), body })

  it.each([
    ['text', (body: string) => body],
    ['bytes', (body: string) => Buffer.from(body)],
    ['an object', (body: string) => JSON.parse(body)],
  ])('counts as %s', async (_title, keep) => {
    const before: ExpressHostOptions['before'] = (app) =>
      app.use(async (req, _res, next) => {
        req.body = keep(String(Buffer.concat(await req.toArray())))
        next()
      })
    host = await startExpressHost({ before })
    const answer = await notify(mail)
    expect(answer.status, answer.text).toBe(201)
  })

  it('counts as a form', async () => {
    const secret = 'the secret of this service, long enough'
    host = await startExpressHost({
      secret,
      before: (app) => app.use(express.urlencoded({ extended: true })),
    })
    const to = { channel: 'email', to: 'ada@example.com' } as const
    const target = ['org_default', 'email', await emailHash(host.storage, to.to), 'default', 'notif_1']
    const answer = await host.call({
      method: 'POST',
      path: `/unsubscribe?t=${createLinkSigner([secret]).sign('unsubscribe', JSON.stringify(target))}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click\r\n',
    })
    expect(answer.status).toBe(200)
    expect((await host.notifier.preferences.get(to)).categories).toEqual({ default: { email: false } })
  })

  it.each([true, false])('counts as a form with a repeated field, extended: %s', async (extended) => {
    const secret = 'the secret of this service, long enough'
    const ids = Array.from({ length: 30 }, (_, at) => `news${at}`)
    host = await startExpressHost({
      secret,
      categories: Object.fromEntries(ids.map((id) => [id, { name: id }])),
      before: (app) => app.use(express.urlencoded({ extended })),
    })
    const to = { channel: 'email', to: 'ada@example.com' } as const
    const target = ['org_default', 'email', await emailHash(host.storage, to.to), 'default', 'notif_1']
    const was = ids.map((id) => `${id}:email`)
    const body = new URLSearchParams({ was: was.join(' ') })
    for (const cell of was.slice(1)) body.append('on', cell)
    const answer = await host.call({
      method: 'POST',
      path: `/preferences?t=${createLinkSigner([secret]).sign('preferences', JSON.stringify(target))}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: body.toString(),
    })
    expect(answer.status).toBe(303)
    expect((await host.notifier.preferences.get(to)).categories).toEqual({ news0: { email: false } })
  })

  it('with an encoding set on the stream is text, and harmless', async () => {
    const before: ExpressHostOptions['before'] = (app) =>
      app.use((req, _res, next) => {
        req.setEncoding('utf8')
        next()
      })
    host = await startExpressHost({ before })
    const answer = await notify({ ...mail, body: 'ä'.repeat(100_000) })
    expect([answer.status, codeOf(answer)]).not.toEqual([500, expect.anything()])
  })
})

describe('a body that never becomes complete', () => {
  it.each([
    ['pauses too long', () => {}, { code: 'request_timeout', status: 408 }],
    ['is destroyed by the host', (req: IncomingMessage) => req.destroy(), { code: 'invalid_json' }],
  ])('because it %s is an error', async (_title, disturb, expected) => {
    let outcome: unknown
    const server = createServer((req, res) => {
      readNodeBody(req, { bytes: 1000, timeoutMs: 60_000 }, 50).catch((error) => {
        outcome = error
        res.destroy()
      })
      disturb(req)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await exchange(port, 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{')
    await expect.poll(() => outcome).toMatchObject(expected)
    server.close()
  })
})

function firstData(socket: Socket): Promise<string> {
  return new Promise((resolve) => socket.once('data', (chunk) => resolve(chunk.toString())))
}

/** Sends chunks until the server ends the connection, or `most` bytes are out. */
function pour(port: number, start: string, most: number): Promise<{ answer: string; sent: number }> {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  return new Promise((resolve) => {
    let answer = ''
    let sent = 0
    const socket = connect(port, '127.0.0.1')
    const more = (): void => {
      while (!socket.destroyed && sent < most) {
        sent += chunk.length
        if (!socket.write(chunk)) return
      }
    }
    socket.write(start)
    socket.on('data', (data) => {
      answer += data.toString()
    })
    socket.on('drain', more)
    socket.on('error', () => {})
    socket.on('close', () => resolve({ answer, sent }))
    more()
  })
}
