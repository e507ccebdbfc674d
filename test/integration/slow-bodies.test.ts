import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { apiKeyKind } from '../../src/core/access/key-kind.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { type ExpressHost, startExpressHost } from '../support/express-host.ts'
import { type Answer, call } from '../support/http-client.ts'
import { inMemory } from '../support/in-memory.ts'
import { HARNESSES } from '../support/parity/index.ts'
import { createWorld, type World } from '../support/parity/world.ts'
import { watchReads } from '../support/record-reads.ts'

const mail = JSON.stringify({ channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi' })
const newKey = JSON.stringify({ name: 'planted', permission: 'Full Access' })

/** A request whose body comes in pieces. */
function openRequest(port: number, path: string, authorization: string, length: number) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  const answer = new Promise<string>((resolve) => {
    let text = ''
    socket.setEncoding('utf8').on('data', (data) => {
      text += data
      if (text.includes('\r\n\r\n')) resolve(text)
    })
    socket.on('close', () => resolve(text))
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`,
  )
  return { socket, answer }
}

/** Counts the look-ups of keys by their secret that are answered. */
function watchLookUps({ storage }: ExpressHost): { readonly answered: number } {
  const lookUps = { answered: 0 }
  watchReads(storage, apiKeyKind, async (inner, refs) => {
    const answer = await inner()
    lookUps.answered += refs.filter(({ key }) => key !== undefined).length
    return answer
  })
  return lookUps
}

async function expectRefusal(answer: Promise<string>, status: number, code: string): Promise<void> {
  const text = await answer
  expect(text).toContain(`HTTP/1.1 ${status} `)
  expect(text).toContain(`"${code}"`)
}

describe('a key that ends while a body arrives', () => {
  let host: ExpressHost
  beforeEach(async () => {
    host = await startExpressHost({ storage: inMemory() })
  })
  afterEach(() => host.close())

  async function openWith(secret: string, path: string, body: string) {
    const lookUps = watchLookUps(host)
    const request = openRequest(host.port, path, `Bearer ${secret}`, body.length)
    request.socket.write(body.slice(0, 5))
    await expect.poll(() => lookUps.answered, { timeout: 10_000 }).toBe(1)
    return { ...request, lookUps, finish: () => request.socket.write(body.slice(5)) }
  }

  it.each([
    ['a key', '/v1/api-keys', newKey],
    ['a notification', '/v1/notify', mail],
    ['a batch', '/v1/notifications/batch', `{"notifications":[${mail}]}`],
  ])('makes nothing once it is deleted: %s', async (_title, path, body) => {
    const { secret, id } = await host.notifier.apiKeys.create({ name: 'x', permission: 'Full Access' })
    const request = await openWith(secret, path, body)
    await host.notifier.apiKeys.delete(id)
    request.finish()
    await expectRefusal(request.answer, 401, 'invalid_api_key')
    expect(request.lookUps.answered).toBe(2)
    expect((await host.notifier.apiKeys.list()).items).toEqual([])
    expect((await host.notifier.notifications.list()).items).toEqual([])
    request.socket.destroy()
  })

  it.each([
    ['of an organization that it names', '/v1/api-keys?orgId=org_default', newKey],
    ['an organization', '/v1/organizations', '{"id":"org_planted","name":"Planted"}'],
  ])('makes nothing once it is deleted, an operator key: %s', async (_title, path, body) => {
    const { operatorKeys, apiKeys, organizations } = host.notifier
    const { secret, id } = await operatorKeys.create({ name: 'x', permission: 'Full Access' })
    const request = await openWith(secret, path, body)
    await operatorKeys.delete(id)
    request.finish()
    await expectRefusal(request.answer, 401, 'invalid_api_key')
    expect(request.lookUps.answered).toBe(2)
    expect((await apiKeys.list()).items).toEqual([])
    expect((await organizations.list()).items.map((one) => one.id)).toEqual(['org_default'])
    request.socket.destroy()
  })

  it('makes nothing once it has expired', async () => {
    const expiresAt = new Date(Date.now() + 2_000)
    const key = await host.notifier.apiKeys.create({ name: 'x', permission: 'Write', expiresAt })
    const request = await openWith(key.secret, '/v1/notify', mail)
    await expect
      .poll(() => host.notifier.apiKeys.verify(key.secret).catch((error) => error.code), { timeout: 5_000 })
      .toBe('expired_api_key')
    request.finish()
    await expectRefusal(request.answer, 401, 'expired_api_key')
    expect((await host.notifier.notifications.list()).items).toEqual([])
    request.socket.destroy()
  })

  it('is looked up once where the body comes with the head', async () => {
    const headers = await host.key('Write')
    const lookUps = watchLookUps(host)
    const { socket, answer } = openRequest(host.port, '/v1/notify', headers.authorization, mail.length)
    socket.cork()
    socket.write(mail)
    socket.uncork()
    expect(await answer).toMatch(/^HTTP\/1\.1 201 /)
    socket.destroy()
    const before = lookUps.answered
    const whole = await host.call({ method: 'POST', path: '/v1/notify', headers, body: mail })
    expect(whole.status, whole.text).toBe(201)
    expect(lookUps.answered - before).toBe(1)
  })
})

describe.each(HARNESSES.map((harness) => ({ harness, name: harness.name })))('$name', ({ harness }) => {
  let world: World
  afterEach(() => world.close())
  const admitted = (): Promise<void> => expect.poll(() => world.admitted.count, { interval: 5 }).toBe(1)

  it.each([
    ['/v1/api-keys', newKey],
    ['/v1/notify', mail],
  ])('refuses a key that was deleted while the body arrived: POST %s', async (path, body) => {
    world = await createWorld(harness, { prefix: '/n' })
    const { secret, id } = await world.notifier.apiKeys.create({ name: 'x', permission: 'Full Access' })
    const before = (await world.notifier.apiKeys.list()).items.length
    const request = openRequest(world.port, `/n${path}`, `Bearer ${secret}`, body.length)
    request.socket.write(body.slice(0, 5))
    await admitted()
    await world.notifier.apiKeys.delete(id)
    request.socket.write(body.slice(5))
    await expectRefusal(request.answer, 401, 'invalid_api_key')
    expect((await world.notifier.apiKeys.list()).items).toHaveLength(before - 1)
    expect((await world.notifier.notifications.list()).items).toEqual([])
    request.socket.destroy()
  })

  it('ends a body at its deadline, however steadily it comes, and gives its slot back', async () => {
    world = await createWorld(harness, { prefix: '/n', http: { bodyTimeoutMs: 200 } })
    const request = openRequest(world.port, '/n/v1/notify', `Bearer ${world.keys.slot}`, 40_000)
    const drip = setInterval(() => request.socket.write(' '), 10)
    try {
      await expectRefusal(request.answer, 408, 'request_timeout')
    } finally {
      clearInterval(drip)
    }
    request.socket.destroy()
    await expect.poll(() => world.admitted.count, { interval: 5 }).toBe(0)
    const next = await call(world.port, {
      method: 'POST',
      path: '/n/v1/notify',
      headers: { authorization: `Bearer ${world.keys.slot}` },
      body: mail,
    })
    expect(next.status, next.text).toBe(201)
  })
})

it('a concurrency slot is held for as long as the body arrives, and no longer', async () => {
  const clock = fakeClock()
  const plan = { requests: null, notificationsPerHour: null, notificationsPerMonth: null, storedBytes: null }
  const host = await startExpressHost({ clock, plans: { org_default: { ...plan, concurrentRequests: 1 } } })
  try {
    const headers = await host.key('Write')
    const next = (): Promise<Answer> => host.call({ method: 'POST', path: '/v1/notify', headers, body: mail })
    const lookUps = watchLookUps(host)
    const request = openRequest(host.port, '/v1/notify', headers.authorization, mail.length)
    request.socket.write(mail.slice(0, 5))
    await expect.poll(() => lookUps.answered, { timeout: 10_000 }).toBe(1)
    for (let minute = 1; minute < 60; minute += 1) await clock.advance(60_000)
    expect((await next()).json).toMatchObject({ error: { details: { resource: 'concurrency' } } })
    request.socket.write(mail.slice(5))
    expect(await request.answer).toMatch(/^HTTP\/1\.1 201 /)
    await expect.poll(async () => (await next()).status).toBe(201)
    request.socket.destroy()
  } finally {
    await host.close()
  }
})
