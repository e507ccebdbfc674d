import { connect, type Socket } from 'node:net'
import type { Load } from './load.ts'

// Raw sockets with a search for two line ends: an HTTP client would use more processor time than the server.

const LENGTH = /\r\ncontent-length: (\d+)\r\n/i

process.on('message', async (load: Load) => {
  const state = { left: load.requests, answered: 0, fault: null as string | null }
  await Promise.all(Array.from({ length: load.connections }, () => drive(load, requestOf(load), state)))
  process.send?.({ answered: state.answered, fault: state.fault })
})

function requestOf({ path, headers, body }: Load): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.join('')}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  )
}

/** Drives one connection: the next request follows the complete answer to the last one. */
function drive(
  { port }: Load,
  request: Buffer,
  state: { left: number; answered: number; fault: string | null },
): Promise<void> {
  return new Promise((resolve) => {
    const socket: Socket = connect(port, '127.0.0.1')
    let pending = ''
    const next = (): void => {
      if (state.left === 0 || state.fault !== null) {
        socket.destroy()
        return
      }
      state.left -= 1
      socket.write(request)
    }
    socket.setNoDelay(true)
    socket.on('connect', next)
    socket.on('error', (error) => {
      state.fault ??= error.message
    })
    socket.on('close', () => resolve())
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      const head = pending.indexOf('\r\n\r\n')
      if (head === -1) return
      const length = Number(LENGTH.exec(pending)?.[1] ?? 0)
      if (pending.length < head + 4 + length) return
      if (pending.startsWith('HTTP/1.1 2')) state.answered += 1
      else state.fault ??= pending
      pending = ''
      next()
    })
  })
}
