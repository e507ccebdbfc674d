import { createServer, request as httpRequest, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { notifierRouter } from '../../adapters/http/express.ts'
import { type HttpApiOptions, notifierHandler } from '../../adapters/http/node.ts'
import { NodeHttpRequest } from '../../adapters/http/node-request.ts'
import { createNotifier, type Notifier } from '../../src/index.ts'
import { EXPRESS } from '../support/express-host.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const directory = temporaryDirectory()
let sockets = 0
let notifier: Notifier
let server: Server

beforeEach(async () => {
  notifier = createNotifier({
    channels: { email: { name: 'mail', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await notifier.stop()
})

/** Asks for a list that needs a key which only 203.0.113.9 may use. */
async function ask(socketPath: string, forwarded: Record<string, string>): Promise<number | undefined> {
  const allowedIps = ['203.0.113.9']
  const { secret } = await notifier.apiKeys.create({ name: 'proxied', permission: 'Read Only', allowedIps })
  const headers = { authorization: `Bearer ${secret}`, ...forwarded }
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath, path: '/v1/templates', headers, agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })
}

const servers: readonly (readonly [string, (http: HttpApiOptions) => Server])[] = [
  ['node:http', (http) => createServer(notifierHandler(notifier, http))],
  ...EXPRESS.map(([name, express]) => {
    const create = (http: HttpApiOptions) => createServer(express().use(notifierRouter(notifier, http)))
    return [name, create] as const
  }),
]

describe.each(servers)('behind a proxy on a Unix socket, %s', (_name, create) => {
  async function listen(trustedProxies: readonly string[]): Promise<string> {
    sockets += 1
    const path = join(directory, `${sockets}.sock`)
    server = create({ https: 'require', trustedProxies })
    await new Promise<void>((resolve) => server.listen(path, resolve))
    return path
  }
  const forwarded = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }

  it('believes the proxy where it is named, and nobody else', async () => {
    const path = await listen(['unix'])
    expect(await ask(path, forwarded)).toBe(200)
    expect(await ask(path, { ...forwarded, 'x-forwarded-for': '203.0.113.10' })).toBe(403)
    expect(await ask(path, { ...forwarded, 'x-forwarded-proto': 'http' })).toBe(403)
    expect(await ask(path, {})).toBe(403)
  })

  it('refuses everything where it is not', async () => {
    expect(await ask(await listen(['loopback', 'uniquelocal']), forwarded)).toBe(403)
  })
})

it('a connection over TCP that has ended is none over a Unix socket', async () => {
  const seen = new Promise<unknown[]>((resolve) => {
    server = createServer((req, res) => {
      const incoming = new NodeHttpRequest(req, res, '/')
      req.socket.destroy()
      resolve([incoming.aborted, incoming.remoteAddress])
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'))
  socket.on('error', () => {})
  expect(await seen).toEqual([true, undefined])
})
