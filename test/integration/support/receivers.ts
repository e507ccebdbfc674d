import { constants } from 'node:crypto'
import { readFileSync } from 'node:fs'
import {
  createServer as createHttp,
  type IncomingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer as createTcp, type Server, type Socket } from 'node:net'

/** A server on a free port of this machine. */
export interface Receiver {
  readonly port: number
  /** Connections so far. */
  readonly connections: number
  /** Most connections open at one time. */
  readonly mostOpen: number
  /** Requests that arrived whole. */
  readonly requests: ReceivedRequest[]
  /** Resolves when no connection is open any more. */
  drained(): Promise<void>
  close(): Promise<void>
}

export interface ReceivedRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

type Respond = (response: ServerResponse, request: ReceivedRequest) => void

export const certificate = readFileSync(new URL('../../fixtures/localhost.cert.pem', import.meta.url), 'utf8')
const key = readFileSync(new URL('../../fixtures/localhost.key.pem', import.meta.url), 'utf8')

export function httpReceiver(respond: Respond): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  return start(createHttp(listener(requests, respond)), requests)
}

export function httpsReceiver(respond: Respond): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  return start(createHttps({ cert: certificate, key }, listener(requests, respond)), requests)
}

/** Ends every handshake that goes on where another one ended, as behind a store of sessions that is away. */
export function forgetfulReceiver(respond: Respond): Promise<Receiver> {
  const requests: ReceivedRequest[] = []
  const known = new Set<string>()
  const version = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const
  const secureOptions = constants.SSL_OP_NO_TICKET
  const server = createHttps(
    { cert: certificate, key, ...version, secureOptions },
    listener(requests, respond),
  )
  server.on('newSession', (id, _, done) => {
    known.add(id.toString('hex'))
    done()
  })
  server.on('resumeSession', (id, done) => {
    done(known.has(id.toString('hex')) ? new Error('The store is away.') : null, null)
  })
  return start(server, requests)
}

/** Answers with whatever bytes `talk` writes. */
export function tcpReceiver(talk: (socket: Socket) => void): Promise<Receiver> {
  return start(createTcp(talk), [])
}

/** A port that nothing listens on. */
export async function closedPort(): Promise<number> {
  const { port, close } = await tcpReceiver(() => {})
  await close()
  return port
}

function listener(requests: ReceivedRequest[], respond: Respond): RequestListener {
  return (request, response) => {
    const chunks: Buffer[] = []
    request.on('error', () => {})
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const received = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: Buffer.concat(chunks),
      }
      requests.push(received)
      respond(response, received)
    })
  }
}

async function start(server: Server, requests: ReceivedRequest[]): Promise<Receiver> {
  const open = new Set<Socket>()
  let connections = 0
  let mostOpen = 0
  let waiting: (() => void)[] = []
  server.on('connection', (socket) => {
    connections += 1
    open.add(socket)
    mostOpen = Math.max(mostOpen, open.size)
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      if (open.size > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    })
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get connections() {
      return connections
    },
    get mostOpen() {
      return mostOpen
    },
    drained: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}
