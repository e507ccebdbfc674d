import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import type { Provider } from '../../src/index.ts'
import { type Host, startHost } from '../support/express-host.ts'
import { call } from '../support/http-client.ts'

let host: Host
const sockets: Socket[] = []
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await host.close()
})

const reporter: Provider = {
  name: 'reporter',
  send: async () => ({ kind: 'accepted' }),
  parseReceipts: async () => ({ kind: 'receipts', receipts: [] }),
}

/** Opens a post, sends some of its body, and gives the beginning of the answer; `closed` where none came. */
function post(path: string, { length, from }: { length?: number; from?: string } = {}) {
  const socket = connect(host.port, '127.0.0.1')
  sockets.push(socket)
  socket.on('error', () => {})
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString()))
    socket.once('close', () => resolve('closed'))
  })
  const size = length === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`
  const forwarded = from === undefined ? '' : `X-Forwarded-For: ${from}\r\nX-Forwarded-Proto: https\r\n`
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${forwarded}${size}\r\n\r\n${length ? 'x' : '1\r\nx\r\n'}`,
  )
  return { socket, answer }
}

it('a receipt for an unknown provider, or one that takes none, is refused before its body comes', async () => {
  const { parseReceipts: _none, ...silent } = reporter
  host = await startHost({ channel: silent })
  for (const path of [
    '/receipts/email/nobody',
    '/receipts/email/reporter',
    '/receipts/org_x/email/reporter',
  ]) {
    expect(await post(path, { length: 1_000_000 }).answer).toContain('HTTP/1.1 404 ')
  }
})

it('unfinished bodies without a key are bounded for each address, on all routes together', async () => {
  host = await startHost({ channel: reporter })
  const open = Array.from({ length: 15 }, () => post('/receipts/email/reporter'))
  open.push(post('/unsubscribe?t=x', { length: 30 }))
  const refused = () => soon(post('/receipts/email/reporter').answer)
  let answer: string | undefined
  await expect.poll(async () => (answer = await refused()), { timeout: 5_000 }).toContain('HTTP/1.1 429 ')
  expect(answer).toContain('"resource":"open_bodies","limit":16')
  expect(answer).toMatch(/retry-after: 1\r/i)
  const whole = await call(host.port, { method: 'POST', path: '/receipts/email/reporter', body: 'x' })
  expect(whole.status, whole.text).toBe(200)
  for (const socket of sockets) socket.destroy()
  await expect.poll(refused).toBe('')
})

it('idle bodies of a few addresses keep out no body that comes in two packets', async () => {
  host = await startHost({ channel: reporter, http: { trustedProxies: ['loopback'] } })
  for (let place = 0; place < 64; place += 1) {
    post('/receipts/email/reporter', { from: `203.0.113.${place >> 4}` })
  }
  // All 64 are open once one more of each address is refused.
  for (const place of [0, 1, 2, 3]) {
    await expect
      .poll(() => soon(post('/receipts/email/reporter', { from: `203.0.113.${place}` }).answer))
      .toContain('HTTP/1.1 429 ')
  }
  expect(await inTwo('/receipts/email/reporter')).toContain('HTTP/1.1 200 ')
  expect(await inTwo('/unsubscribe?t=x')).toContain('HTTP/1.1 404 ')
})

it('where unfinished bodies hold too many bytes, the oldest ends and the newest is read', async () => {
  host = await startHost({ channel: reporter, http: { trustedProxies: ['loopback'] } })
  const most = 1_048_576
  const open = []
  for (let place = 0; place < 64; place += 1) {
    const body = post('/receipts/email/reporter', { length: most, from: `203.0.113.${place >> 3}` })
    // With the one byte that is there, one less than the whole.
    await new Promise((resolve) => body.socket.write(Buffer.alloc(most - 2, 'x'), resolve))
    open.push(body)
  }
  // 64 bytes are left.
  const late = post('/receipts/email/reporter', { length: 100, from: '198.51.100.1' })
  late.socket.write('x'.repeat(98))
  expect(await open[0]?.answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r/i)
  expect(await soon(open[1]?.answer)).toBe('')
  late.socket.write('x')
  expect(await late.answer).toContain('HTTP/1.1 200 ')
})

/** The answer, or nothing when none comes soon. */
function soon(answer: Promise<string> | undefined): Promise<string | undefined> {
  return Promise.race([answer, new Promise<string>((resolve) => setTimeout(resolve, 200, ''))])
}

/** The answer to a body whose last byte comes later. */
async function inTwo(path: string): Promise<string> {
  const { socket, answer } = post(path, { length: 2, from: '198.51.100.1' })
  await soon(answer)
  socket.write('x')
  return answer
}
