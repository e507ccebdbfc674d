import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Proxy {
  readonly port: number
  /** Breaks all connections. */
  reset(): void
  close(): Promise<void>
}

const PATIENCE_MS = 5_000

/**
 * A TCP load balancer: one port in front of several, and each connection goes to the next one that accepts. It does not
 * inspect traffic, so a server that dies resets its connections.
 */
export async function startProxy(ports: () => readonly number[]): Promise<Proxy> {
  const sockets = new Set<Socket>()
  let turn = 0

  async function open(): Promise<Socket | undefined> {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await sleep(20)) {
      for (const _ of ports()) {
        turn += 1
        const port = ports()[turn % ports().length]
        const socket = connect(port ?? 0, '127.0.0.1')
        try {
          await once(socket, 'connect')
          return socket
        } catch {
          // Tries the next port.
        }
      }
    }
    return undefined
  }

  function keep(socket: Socket, other: () => Socket | undefined): void {
    sockets.add(socket)
    socket.setNoDelay(true)
    socket.on('error', () => other()?.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      // Closes after pending writes.
      other()?.destroySoon()
    })
  }

  const server = createServer({ pauseOnConnect: true }, (client) => {
    let upstream: Socket | undefined
    keep(client, () => upstream)
    void open().then((socket) => {
      if (socket === undefined || client.destroyed) {
        socket?.destroy()
        client.destroy()
        return
      }
      upstream = socket
      keep(upstream, () => client)
      client.pipe(upstream)
      upstream.pipe(client)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  function reset(): void {
    for (const socket of sockets) socket.destroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    reset,
    async close() {
      server.close()
      reset()
      await once(server, 'close')
    },
  }
}
