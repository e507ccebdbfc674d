import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ExpressHost, startExpressHost } from '../support/express-host.ts'

const FREE = 'org_free'
/** Of the plan `free`. */
const SLOTS = 5

let host: ExpressHost
let headers: { authorization: string }

beforeAll(async () => {
  host = await startExpressHost({ bounds: { textBytes: 2_000_000, templateBytes: 8_000_000 } })
  await host.notifier.organizations.create({ id: FREE, name: 'Free' })
  const { templates } = host.notifier.organization(FREE)
  // Six MB in one page: more than the system buffers for a client that does not read.
  const texts = { html: '漢'.repeat(500_000), text: '漢'.repeat(500_000) }
  await templates.create({ name: 'large', channel: 'email', ...texts, locales: { de: texts } })
  headers = await host.key('Read Only', FREE)
})
afterAll(() => host.close())

/** Asks for the templates, reads the status and nothing more. */
function askAndStop(): Promise<{ readonly socket: Socket; readonly status: number }> {
  return new Promise((resolve, reject) => {
    const socket = connect(host.port, '127.0.0.1', () => {
      socket.write(
        `GET /v1/templates HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${headers.authorization}\r\n\r\n`,
      )
    })
    socket.once('data', (head) => {
      socket.pause()
      resolve({ socket, status: Number(/^HTTP\/1.1 (\d{3})/.exec(head.toString('latin1'))?.[1]) })
    })
    socket.once('error', reject)
  })
}

it('holds the slot of a large response until it has left, and frees it when the client is gone', async () => {
  const held: Socket[] = []
  const statuses: number[] = []
  for (let asked = 0; asked < SLOTS + 3; asked += 1) {
    const { socket, status } = await askAndStop()
    held.push(socket)
    statuses.push(status)
  }
  expect(statuses.filter((status) => status === 200)).toHaveLength(SLOTS)
  expect(statuses.filter((status) => status === 429)).toHaveLength(3)
  for (const socket of held) socket.destroy()
  await expect.poll(async () => (await host.call({ path: '/v1/templates', headers })).status).toBe(200)
})

it('serves a client that reads, one large response after another', async () => {
  for (let asked = 0; asked < 2 * SLOTS; asked += 1) {
    expect((await host.call({ path: '/v1/templates', headers })).status).toBe(200)
  }
})
