import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'

/** A complete request. */
export interface ReceivedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  /** Lower-case names. */
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A server on a free port of this machine. */
export interface Receiver {
  readonly port: number
  /** Number of connections so far. */
  readonly connections: number
  /** Maximum number of concurrent connections so far. */
  readonly mostOpen: number
  /** Complete requests. */
  readonly requests: ReceivedRequest[]
  /** Resolves when no connection is open. */
  drained(): Promise<void>
  close(): Promise<void>
}

/** Records each complete request, then answers it. */
export function receive(
  requests: ReceivedRequest[],
  respond: (response: ServerResponse, request: ReceivedRequest) => void,
): RequestListener {
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

/** Starts a server and counts its connections. */
export async function startReceiver(server: Server, requests: ReceivedRequest[]): Promise<Receiver> {
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
