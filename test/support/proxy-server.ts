import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { onTestFinished } from 'vitest'
import { certificate, key } from './localhost-certificate.ts'

/** A proxy that connects to this machine, whatever the name. */
export interface ProxyServer {
  readonly port: number
  /** Places that it was asked to connect to, with their port. */
  readonly asked: readonly string[]
}

export interface ProxyServerOptions {
  /** `user:password` that every request must bring. */
  readonly credentials?: string | undefined
  /** Answers with this status and connects nothing. */
  readonly status?: number | undefined
  /** Speaks TLS itself. */
  readonly secure?: boolean | undefined
}

export async function proxyServer(options: ProxyServerOptions = {}): Promise<ProxyServer> {
  const { credentials, status, secure = false } = options
  const asked: string[] = []
  const open = new Set<Duplex>()
  const server = secure ? createSecureServer({ cert: certificate, key }) : createServer()
  const expected =
    credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {}).on('close', () => open.delete(socket))
  })
  server.on('connect', ({ url = '', headers }, client: Duplex) => {
    asked.push(url)
    client.on('error', () => {})
    const mayPass = expected === undefined || headers['proxy-authorization'] === expected
    const refused = mayPass ? status : 407
    if (refused !== undefined) {
      client.end(`HTTP/1.1 ${refused} No\r\nContent-Length: 4\r\nProxy-Authenticate: Basic\r\n\r\nNo.\n`)
      return
    }
    const onward = connect(Number(url.slice(url.lastIndexOf(':') + 1)), '127.0.0.1')
    open.add(onward)
    onward
      .on('connect', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n')
        client.pipe(onward).pipe(client)
      })
      .on('error', () => client.destroy())
      .on('close', () => open.delete(onward))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, asked }
}
