import { describe, expect, it } from 'vitest'
import { addressGuard } from '../../src/outgoing/address-guard.ts'
import { createConnections } from '../../src/outgoing/connections.ts'
import { exchange } from '../../src/outgoing/exchange.ts'
import { closedAfterTest, outgoing, request, resolver } from '../support/outgoing.ts'
import { httpReceiver } from '../support/receivers.ts'

describe('the address guard', () => {
  it.each([
    ['a private address', ['10.0.0.1']],
    ['loopback', ['127.0.0.1']],
    ['the metadata service', ['169.254.169.254']],
    ['a public and a private address', ['8.8.8.8', '127.0.0.1']],
    ['a private and a public address', ['127.0.0.1', '8.8.8.8']],
    ['a mapped address', ['::ffff:127.0.0.1']],
    ['NAT64', ['64:ff9b::7f00:1']],
    ['6to4', ['2002:7f00:1::']],
    ['IPv6 loopback', ['::1']],
    ['a zone', ['fe80::1%lo']],
    ['nonsense', ['not an address']],
  ])('refuses a name that resolves to %s', async (_, addresses) => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
    const http = outgoing({ allow: [], lookup: resolver(addresses).lookup })
    expect(await http.post(request(`http://rebind.example.test:${receiver.port}/`))).toMatchObject({
      kind: 'failed',
      reason: 'blocked',
      requestSent: false,
    })
    expect(receiver.connections).toBe(0)
  })

  it('refuses names of this machine through the real resolver', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
    const http = outgoing({ allow: [] })
    for (const host of [
      'localhost',
      'localhost.',
      'app.localhost',
      '127.0.0.1',
      '0x7f.1',
      '[::ffff:7f00:1]',
    ]) {
      expect(await http.post(request(`http://${host}:${receiver.port}/`)), host).toMatchObject({
        reason: 'blocked',
        requestSent: false,
      })
    }
    expect(receiver.connections).toBe(0)
  })

  it('checks the resolved address of every connection', async () => {
    const receiver = await closedAfterTest(
      httpReceiver((response) => response.writeHead(200, { connection: 'close' }).end()),
    )
    const names = resolver(['127.0.0.1'], ['127.0.0.2'], ['127.0.0.1'])
    const http = outgoing({ allow: ['127.0.0.1/32'], lookup: names.lookup })
    const url = `http://rebind.example.test:${receiver.port}/`
    expect(await http.post(request(url))).toMatchObject({ kind: 'answered', status: 200 })
    expect(await http.post(request(url))).toMatchObject({ kind: 'failed', reason: 'blocked' })
    expect(await http.post(request(url))).toMatchObject({ kind: 'answered', status: 200 })
    expect(names.asked).toHaveLength(3)
    expect(receiver.connections).toBe(2)
  })

  it('checks the address of the connected socket too', async () => {
    const receiver = await closedAfterTest(httpReceiver((response) => response.end()))
    const connections = createConnections({ guard: addressGuard() })
    const result = await exchange({
      method: 'POST',
      url: new URL(`http://127.0.0.1:${receiver.port}/`),
      owner: 'org_a',
      connections,
      headers: {},
      body: '{}',
      timeoutMs: 20_000,
      maxResponseBytes: 10,
      signal: undefined,
      startedAt: performance.now(),
    })
    expect(result).toMatchObject({ kind: 'failed', reason: 'blocked', requestSent: false })
    await receiver.drained()
    expect(receiver.requests).toEqual([])
  })

  it.each([301, 302, 303, 307, 308])('follows no redirect: %i', async (status) => {
    const target = await closedAfterTest(httpReceiver((response) => response.end()))
    const location = `http://127.0.0.1:${target.port}/`
    const receiver = await closedAfterTest(
      httpReceiver((response) => response.writeHead(status, { location }).end()),
    )
    expect(await outgoing().post(request(`http://127.0.0.1:${receiver.port}/`))).toMatchObject({
      kind: 'answered',
      status,
      headers: { location },
    })
    expect(target.connections).toBe(0)
  })

  it.each(['http://user:pw@127.0.0.1:8080/', 'http://127.0.0.1:22/', 'ftp://127.0.0.1/', 'not a url'])(
    'refuses %s without a connection',
    async (url) => {
      const result = await outgoing().post(request(url))
      expect(result).toMatchObject({ kind: 'failed', reason: 'blocked', requestSent: false })
      expect(JSON.stringify(result)).not.toContain('pw')
    },
  )
})
