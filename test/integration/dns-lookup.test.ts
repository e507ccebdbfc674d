import { expect, it, onTestFinished } from 'vitest'
import { dnsLookup } from '../../src/outgoing/dns-lookup.ts'
import { guardedHttp } from '../../src/outgoing/guarded-http.ts'
import { dnsServer } from '../support/dns-server.ts'
import { request } from '../support/outgoing.ts'
import { httpReceiver } from '../support/receivers.ts'

const V6 = '2a00:0000:0000:0000:0000:0000:0000:0001'

async function start(answers: Readonly<Record<string, readonly string[] | null>>) {
  const server = await dnsServer(answers)
  onTestFinished(server.close)
  return dnsLookup([server.address])
}

it.each<[readonly string[], readonly object[]]>([
  [['8.8.8.8'], [{ address: '8.8.8.8', family: 4 }]],
  [[V6], [{ address: '2a00::1', family: 6 }]],
  [
    [V6, '8.8.8.8', '127.0.0.1'],
    [
      { address: '8.8.8.8', family: 4 },
      { address: '127.0.0.1', family: 4 },
      { address: '2a00::1', family: 6 },
    ],
  ],
])('gives all addresses of a name: %j', async (addresses, expected) => {
  const lookup = await start({ 'hooks.example.test': addresses })
  expect(await lookup('hooks.example.test')).toEqual(expected)
})

it('says that a name does not exist, or has no address', async () => {
  const lookup = await start({ 'empty.example.test': [] })
  await expect(lookup('nowhere.example.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  await expect(lookup('empty.example.test')).rejects.toMatchObject({ code: 'ENODATA' })
})

it('knows this machine by its name', async () => {
  const lookup = await start({})
  expect(await lookup('localhost')).toContainEqual({ address: '127.0.0.1', family: 4 })
})

it('lets names whose servers do not answer keep nobody else from being looked up', async () => {
  const receiver = await httpReceiver((response) => response.end())
  onTestFinished(receiver.close)
  const hanging = Array.from({ length: 40 }, (_, number) => `hangs-${number}.example.test`)
  const names = Object.fromEntries(hanging.map((name) => [name, null] as const))
  const lookup = await start({ ...names, 'good.example.test': ['127.0.0.1'] })
  const http = guardedHttp({ allow: ['127.0.0.1/32'], allowHttp: true, lookup })
  onTestFinished(http.close)
  const post = (host: string) => http.post(request(`http://${host}:${receiver.port}/`, { timeoutMs: 60_000 }))
  let ended = 0
  const ends = hanging.map((name) =>
    post(name).finally(() => {
      ended += 1
    }),
  )
  expect(await post('good.example.test')).toMatchObject({ kind: 'answered', status: 200 })
  expect(ended).toBe(0)
  expect(await Promise.all(ends)).toMatchObject(
    hanging.map(() => ({ reason: 'unreachable', message: expect.stringContaining('ETIMEOUT') })),
  )
})
