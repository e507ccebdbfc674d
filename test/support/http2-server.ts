import {
  createSecureServer,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { certificate, key } from './localhost-certificate.ts'

/** One request that arrived whole. */
export interface Http2Received {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface Http2Server {
  readonly origin: string
  readonly port: number
  readonly requests: readonly Http2Received[]
  readonly sessions: ReadonlySet<ServerHttp2Session>
  /** Sessions so far. */
  readonly opened: number
  /** Most TCP connections, and most streams of one session, at one time. */
  readonly mostConnections: number
  readonly mostStreams: number
  /** PINGs that clients have sent. */
  readonly pings: number
  /** Resolves when no connection is open any more. */
  drained(): Promise<void>
  close(): Promise<void>
}

/** An HTTP/2 server over TLS on a free port of this machine. */
export async function http2Server(
  respond: (stream: ServerHttp2Stream, request: Http2Received) => void,
  settings: { readonly maxConcurrentStreams?: number } = {},
): Promise<Http2Server> {
  const requests: Http2Received[] = []
  const sessions = new Set<ServerHttp2Session>()
  const open = new Set<Socket>()
  let [opened, mostConnections, mostStreams, pings] = [0, 0, 0, 0]
  let waiting: (() => void)[] = []
  const server = createSecureServer({ cert: certificate, key, settings })
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    mostConnections = Math.max(mostConnections, open.size)
    socket.on('error', () => {})
    socket.on('close', () => {
      open.delete(socket)
      if (open.size > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    })
  })
  server.on('session', (session) => {
    opened += 1
    sessions.add(session)
    session.on('error', () => {})
    session.on('ping', () => {
      pings += 1
    })
    session.on('close', () => sessions.delete(session))
  })
  let streams = 0
  server.on('stream', (stream, headers) => {
    streams += 1
    mostStreams = Math.max(mostStreams, streams)
    const chunks: Buffer[] = []
    stream.on('error', () => {})
    stream.on('close', () => {
      streams -= 1
    })
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('end', () => {
      const request = { headers, body: Buffer.concat(chunks) }
      // A stream that is reset ends early.
      if (Number(headers['content-length'] ?? request.body.length) !== request.body.length) return
      requests.push(request)
      respond(stream, request)
    })
  })
  server.on('sessionError', () => {})
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `https://localhost:${port}`,
    port,
    requests,
    sessions,
    get opened() {
      return opened
    },
    get mostConnections() {
      return mostConnections
    },
    get mostStreams() {
      return mostStreams
    },
    get pings() {
      return pings
    },
    drained: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      }),
  }
}
