import { connect, type Socket } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { UNLIMITED } from '../../src/core/tenancy/plans.ts'
import type { Provider } from '../../src/index.ts'
import { type ExpressHost, startExpressHost } from '../support/express-host.ts'

let host: ExpressHost
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
function post(
  path: string,
  { length, from, headers = '' }: { length?: number; from?: string; headers?: string | undefined } = {},
) {
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
    `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}${forwarded}${size}\r\n\r\n${length ? 'x' : '1\r\nx\r\n'}`,
  )
  return { socket, answer }
}

it('a receipt for an unknown provider, or one that takes none, is refused before its body comes', async () => {
  const { parseReceipts: _none, ...silent } = reporter
  host = await startExpressHost({ channel: silent })
  for (const path of [
    '/receipts/email/nobody',
    '/receipts/email/reporter',
    '/receipts/org_x/email/reporter',
  ]) {
    expect(await post(path, { length: 1_000_000 }).answer).toContain('HTTP/1.1 404 ')
  }
})

it('unfinished bodies without a key are bounded for each address, on all routes together', async () => {
  host = await startExpressHost({ channel: reporter })
  const open = Array.from({ length: 15 }, () => post('/receipts/email/reporter'))
  open.push(post('/unsubscribe?t=x', { length: 30 }))
  const refused = () => soon(post('/receipts/email/reporter').answer)
  let answer: string | undefined
  await expect.poll(async () => (answer = await refused()), { timeout: 5_000 }).toContain('HTTP/1.1 429 ')
  expect(answer).toContain('"resource":"open_bodies","limit":16')
  expect(answer).toMatch(/retry-after: 1\r/i)
  const whole = await host.call({ method: 'POST', path: '/receipts/email/reporter', body: 'x' })
  expect(whole.status, whole.text).toBe(200)
  for (const socket of sockets) socket.destroy()
  await expect.poll(refused).toBe('')
})

it('idle bodies of a few addresses keep out no body that comes in two packets', async () => {
  host = await startExpressHost({ channel: reporter, http: { trustedProxies: ['loopback'] } })
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

/** Holds bytes in unfinished bodies: from each address as many bodies as it may have, of equal size. */
async function drip(
  addresses: number,
  bodies: number,
  size: number,
  path = '/receipts/email/reporter',
  headers = '',
): Promise<{ answers: Promise<string>[] }> {
  const answers: Promise<string>[] = []
  for (let address = 0; address < addresses; address += 1) {
    for (let body = 0; body < bodies; body += 1) {
      const { socket, answer } = post(path, { length: size + 1, from: attacker(address), headers })
      answers.push(answer)
      await new Promise((resolve) => socket.write(Buffer.alloc(size - 1, 'x'), resolve))
    }
  }
  return { answers }
}

const attacker = (number: number): string => `203.0.113.${number}`

/** The status of each answer that has come. */
async function statuses(answers: readonly Promise<string>[]): Promise<string[]> {
  const all = await Promise.all(answers.map((answer) => Promise.race([answer, Promise.resolve('')])))
  return all.flatMap((answer) => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? [])
}

it.each([
  ['seven addresses', 7, 16, 1_048_575],
  ['a hundred addresses', 100, 2, 400_000],
])('%s without a key end neither an upload with one nor a report of a provider', async (_, ...attack) => {
  host = await startExpressHost({ channel: reporter, http: { trustedProxies: ['loopback'] } })
  const headers = await host.key()
  const upload = post('/v1/attachments?filename=a.bin', {
    length: 1_000_000,
    from: '198.51.100.1',
    headers: `Authorization: ${headers.authorization}\r\nContent-Type: application/octet-stream\r\n`,
  })
  upload.socket.write(Buffer.alloc(500_000, 'x'))
  const { answers } = await drip(...attack)
  // More has been sent than may be held.
  await expect.poll(() => statuses(answers)).toContain('503')
  for (let times = 0; times < 3; times += 1) {
    // Larger than any body of the attackers.
    const report = post('/receipts/email/reporter', { length: 1_000_000, from: '198.51.100.2' })
    for (let part = 0; part < 10; part += 1) {
      await new Promise((resolve) => report.socket.write(Buffer.alloc(99_999, 'x'), resolve))
    }
    expect(await soon(report.answer)).toBe('')
    report.socket.write('x'.repeat(9))
    expect(await report.answer).toContain('HTTP/1.1 200 ')
  }
  upload.socket.write(Buffer.alloc(499_999, 'x'))
  expect(await upload.answer).toContain('HTTP/1.1 201 ')
  expect(new Set(await statuses(answers))).toEqual(new Set(['503']))
})

it('refusals count against the address that caused them, until it may send only whole bodies', async () => {
  host = await startExpressHost({ channel: reporter, http: { trustedProxies: ['loopback'] } })
  await drip(1, 16, 1)
  const path = '/receipts/email/reporter'
  const refusal = async (from: string) => (await post(path, { length: 2, from }).answer).split('\r\n\r\n')
  let answers = 0
  let last: string[] = []
  do {
    last = await refusal(attacker(0))
    answers += 1
  } while (!last[1]?.includes('"limit":60') && answers < 200)
  expect([answers, last[0]]).toEqual([
    expect.any(Number),
    expect.stringMatching(/ 429 [\s\S]*x-ratelimit-limit: 60\r/i),
  ])
  for (const socket of sockets.splice(0)) socket.destroy()
  expect((await refusal(attacker(0)))[0]).toContain(' 429 ')
  const whole = {
    method: 'POST',
    path,
    body: 'x',
    headers: { 'x-forwarded-for': attacker(0), 'x-forwarded-proto': 'https' },
  }
  expect((await host.call(whole)).status).toBe(200)
  expect(await inTwo(path)).toContain('HTTP/1.1 200 ')
})

it('an organization that holds most in unfinished uploads loses them first, and is restricted for it', async () => {
  host = await startExpressHost({
    http: { trustedProxies: ['loopback'] },
    plans: { free: { ...UNLIMITED, requests: { limit: 100, windowMs: 60_000 } } },
    overuse: { factor: 0.01, windowMs: 60_000, restrictMs: 60_000 },
  })
  const { organizations } = host.notifier
  const [mallory, acme] = await Promise.all(
    ['org_mallory', 'org_acme'].map(async (id) => {
      await organizations.create({ id, name: id })
      const { secret } = await host.notifier
        .organization(id)
        .apiKeys.create({ name: 'x', permission: 'Write' })
      return `Authorization: Bearer ${secret}\r\nContent-Type: application/octet-stream\r\n`
    }),
  )
  const path = '/v1/attachments?filename=a.bin'
  const upload = post(path, { length: 1_000_000, from: attacker(0), headers: acme })
  upload.socket.write(Buffer.alloc(500_000, 'x'))
  const { answers } = await drip(12, 1, 7_000_000, path, mallory)
  await expect
    .poll(async () => (await statuses(answers)).filter((status) => status === '503').length)
    .toBeGreaterThanOrEqual(2)
  const restrictionOf = async (id: string) => (await host.notifier.organization(id).limits.get()).restriction
  await expect.poll(() => restrictionOf('org_mallory')).not.toBeNull()
  expect(await restrictionOf('org_acme')).toBeNull()
  upload.socket.write(Buffer.alloc(499_999, 'x'))
  expect(await upload.answer).toContain('HTTP/1.1 201 ')
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

/** Some of a large batch of an organization. */
function batch(headers: string, length: number) {
  return post('/v1/notifications/batch', { length, headers: `${headers}Content-Type: application/json\r\n` })
}

async function organizations(...ids: string[]): Promise<string[]> {
  return Promise.all(
    ids.map(async (id) => {
      await host.notifier.organizations.create({ id, name: id })
      const { secret } = await host.notifier
        .organization(id)
        .apiKeys.create({ name: 'x', permission: 'Write' })
      return `Authorization: Bearer ${secret}\r\n`
    }),
  )
}

it('of one organization, two large batches are received or processed at once', async () => {
  let resolve = (): void => {}
  const resolved = new Promise<void>((done) => {
    resolve = done
  })
  let asked = 0
  host = await startExpressHost({
    plans: { free: UNLIMITED },
    recipients: {
      async resolve(ids) {
        asked += 1
        await resolved
        return new Map(ids.map((id) => [id, { channels: { email: 'ada@example.com' } }]))
      },
    },
  })
  const [acme = '', other = ''] = await organizations('org_acme', 'org_other')
  const receiving = batch(acme, 2_000_000)
  await expect.poll(() => soon(receiving.answer)).toBe('')
  const authorization = acme.slice('Authorization: '.length, -2)
  const text = 'x'.repeat(11_000)
  const notifications = Array.from({ length: 100 }, () => ({ recipient: 'ada', channel: 'email', text }))
  const send = () =>
    host.call({
      method: 'POST',
      path: '/v1/notifications/batch',
      headers: { authorization },
      body: { notifications },
    })
  const judged = send()
  await expect.poll(() => asked).toBe(1)
  const refused = await send()
  expect(refused).toMatchObject({
    status: 429,
    headers: { 'retry-after': '1' },
    json: { error: { details: { resource: 'open_batches', limit: 2 } } },
  })
  expect(await soon(batch(other, 2_000_000).answer)).toBe('')
  notifications.splice(1)
  const small = send()
  await expect.poll(() => asked).toBe(2)
  resolve()
  expect((await judged).json).toMatchObject({ accepted: 100 })
  expect((await small).json).toMatchObject({ accepted: 1 })
  const again = batch(acme, 2_000_000)
  expect(await soon(again.answer)).toBe('')
  expect(await batch(acme, 2_000_000).answer).toContain('HTTP/1.1 429 ')
})

it('of large batches that are received, the organization that holds most loses them first', async () => {
  host = await startExpressHost({ plans: { free: UNLIMITED } })
  const [acme = '', ...others] = await organizations('org_acme', 'org_1', 'org_2', 'org_3')
  const length = 16_000_000
  const small = batch(acme, 1_100_000)
  const answers: Promise<string>[] = []
  for (const other of [...others, ...others].slice(0, 5)) {
    const { socket, answer } = batch(other, length)
    answers.push(answer)
    await new Promise((resolve) => socket.write(Buffer.alloc(length - 2, ' '), resolve))
  }
  await expect.poll(() => statuses(answers), { timeout: 10_000 }).toEqual(['503'])
  small.socket.write(Buffer.alloc(1_099_999, ' '))
  expect(await small.answer).toContain('HTTP/1.1 400 ')
})
