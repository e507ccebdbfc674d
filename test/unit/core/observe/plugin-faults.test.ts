import { describe, expect, it } from 'vitest'
import { email } from '../../../../src/core/channels/built-in.ts'
import { perOrganization } from '../../../../src/core/channels/channel-option.ts'
import { failureOf, watched } from '../../../../src/core/observe/plugin-calls.ts'
import { createNotifier, memoryRateLimiter, type NotifierOptions } from '../../../../src/index.ts'
import { type FakeClock, fakeClock, recordingProvider } from '../../../../src/testing/index.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const MAIL = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hello' } as const
const never = (): Promise<never> => new Promise(() => {})

/** What a promise rejects with while about so much time goes by, in steps. */
async function rejection(work: Promise<unknown>, clock: FakeClock, ms: number): Promise<unknown> {
  let rejected: unknown = 'nothing'
  work.catch((error: unknown) => {
    rejected = error
  })
  for (let step = 0; step < 11 && rejected === 'nothing'; step += 1) await clock.advance(ms / 10)
  return rejected
}

describe('a plug-in that throws', () => {
  it('in accepts() is reported once a minute, by the name of its provider', async () => {
    const world = notifierWorld()
    const cause = new Error('no tokens here')
    const email = {
      ...recordingProvider(),
      name: 'broken',
      accepts() {
        throw cause
      },
    }
    const notifier = await world.start({ channels: { email } })
    for (let times = 0; times < 3; times += 1) {
      await expect(notifier.send(MAIL)).rejects.toMatchObject({ code: 'invalid_recipient' })
    }
    expect(world.errors).toEqual([
      expect.objectContaining({ message: expect.stringContaining('"broken" (email)'), cause }),
    ])
    await world.clock.advance(60_000)
    await expect(notifier.send(MAIL)).rejects.toMatchObject({ code: 'invalid_recipient' })
    expect(world.errors.length).toBe(2)
  })

  it.each<[string, () => unknown]>([
    ['a promise that rejects', () => Promise.reject(new Error('no registry'))],
    ['a promise', async () => true],
    ['nothing', () => undefined],
    ['a text', () => 'yes'],
  ])('or answers accepts() with %s is reported, and takes no message', async (_what, answer) => {
    const world = notifierWorld()
    const email = { ...recordingProvider(), name: 'late', accepts: answer as () => boolean }
    const notifier = await world.start({ channels: { email } })
    for (let times = 0; times < 2; times += 1) {
      await expect(notifier.send(MAIL)).rejects.toMatchObject({ code: 'invalid_recipient' })
    }
    // An unhandled rejection would fail the run.
    await new Promise(setImmediate)
    expect(world.errors.map((error) => (error as Error).message)).toEqual([
      'The accepts() of the provider "late" (email) must answer true or false, not a promise, so the recipient counts as refused.',
    ])
    expect(email.messages).toEqual([])
  })

  const cause = new TypeError('fetch failed')
  const fail = async (): Promise<never> => {
    throw cause
  }
  it.each<[string, Partial<NotifierOptions>]>([
    ['limiter', { rateLimiter: { ...memoryRateLimiter(), consume: fail } }],
    ['storage', { storage: { ...inMemory(), accept: fail } }],
  ])('as a %s makes a send service_unavailable, with its cause', async (_part, options) => {
    const notifier = createNotifier({ channels: { email: recordingProvider() }, ...options })
    await notifier.start({ deliver: false })
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
    const sent = notifier.organization(organizationId).send(MAIL)
    await expect(sent).rejects.toMatchObject({ name: 'NotifierError', code: 'service_unavailable', cause })
    await notifier.stop()
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'yes'],
    ['no states', { allowed: true }],
    ['too few states', { allowed: true, states: [] }],
    ['states without numbers', { allowed: true, states: [{ allowed: true }, { allowed: true }] }],
  ])('no decision but %s as a limiter makes a send service_unavailable', async (_what, answer) => {
    const rateLimiter = { ...memoryRateLimiter(), consume: async () => answer as never }
    const notifier = createNotifier({ channels: { email: recordingProvider() }, rateLimiter })
    await notifier.start({ deliver: false })
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
    await expect(notifier.organization(organizationId).send(MAIL)).rejects.toMatchObject({
      code: 'service_unavailable',
      cause: {
        message: expect.stringContaining('consume() of the rate limiter must return { allowed, states }'),
      },
    })
    expect(await notifier.health()).toMatchObject({ reason: 'The rate limiter does not answer.' })
    await notifier.stop()
  })

  it('as a limiter makes the health degraded, until it answers', async () => {
    const limiter = memoryRateLimiter()
    let away = true
    const consume: typeof limiter.consume = (checks) => (away ? fail() : limiter.consume(checks))
    const notifier = createNotifier({
      channels: { email: recordingProvider() },
      rateLimiter: { ...limiter, consume },
    })
    await notifier.start({ deliver: false })
    expect(await notifier.health()).toMatchObject({
      status: 'degraded',
      reason: 'The rate limiter does not answer.',
    })
    away = false
    expect(await notifier.health()).toMatchObject({ status: 'ok', reason: null })
    await notifier.stop()
  })
})

describe('a plug-in that hangs', () => {
  const clock = fakeClock()
  const queue = { name: 'stuck', open: never, enqueue: never, work: never, close: async () => {} }
  it.each<[string, number, Partial<NotifierOptions>]>([
    ['provider "slow"', 30, { channels: { email: { ...recordingProvider(), name: 'slow', open: never } } }],
    ['rate limiter', 30, { rateLimiter: { ...memoryRateLimiter(), open: never } }],
    ['telemetry plug-in "otel"', 30, { telemetry: { name: 'otel', start: never } }],
    ['storage "sqlite"', 600, { storage: { ...inMemory(), start: never } }],
    ['queue "stuck"', 30, { queue, storage: { ...inMemory(), enqueueJobs: async () => {} } as never }],
  ])('while it opens ends the start: the %s after %d seconds', async (part, seconds, options) => {
    const notifier = createNotifier({ clock, channels: { email: recordingProvider() }, ...options })
    const error = await rejection(notifier.start(), clock, seconds * 1_000)
    expect(error).toMatchObject({
      code: 'service_unavailable',
      message: `The ${part} did not answer within ${seconds} seconds.`,
    })
    const stopped = notifier.stop({ timeoutMs: 1 })
    await clock.advance(60_000)
    await stopped
  })

  it('while a storage claims makes the health degraded, until it answers', async () => {
    const world = notifierWorld()
    const answers: (() => void)[] = []
    const claim: typeof world.storage.claim = async (request) => {
      await new Promise<void>((resolve) => answers.push(resolve))
      return world.storage.claim(request)
    }
    const notifier = await world.start({
      channels: { email: recordingProvider() },
      storage: { ...world.storage, claim },
      delivery: { pollMs: 1_000 },
    })
    await world.clock.until(async () => (answers.length > 0 ? true : null))
    expect(await notifier.health()).toMatchObject({ status: 'ok' })
    await world.clock.advance(11_000)
    expect(await notifier.health()).toMatchObject({
      status: 'degraded',
      reason: expect.stringMatching(/^The storage has not answered a claim for 1\d seconds: /),
    })
    answers[0]?.()
    await new Promise(setImmediate)
    expect(await notifier.health()).toMatchObject({ status: 'ok', reason: null })
    for (const answer of answers) answer()
  })

  it('as a provider in every send makes the health degraded, until it works', async () => {
    const world = notifierWorld()
    const works = recordingProvider()
    let hangs = true
    const email: typeof works = {
      ...works,
      name: 'stuck',
      timeoutMs: 1_000,
      send: (message, context) => (hangs ? never() : works.send(message, context)),
    }
    const notifier = await world.start({ channels: { email } })
    for (let sent = 0; sent < 3; sent += 1) await notifier.send(MAIL)
    await world.clock.until(async () => ((await notifier.health()).status === 'degraded' ? true : null))
    expect(await notifier.health()).toMatchObject({
      reason: 'The provider "stuck" (email) has an unknown result for its last attempts: delivery_unknown.',
      providers: [{ state: 'ready', code: 'delivery_unknown' }],
    })
    hangs = false
    const { id } = await notifier.send(MAIL)
    expect(await world.ended(notifier, id)).toBe('sent')
    expect(await notifier.health()).toMatchObject({ status: 'ok', reason: null })
  })

  it('for one organization leaves the health of the service as it is', async () => {
    const world = notifierWorld()
    const fails = (): never => {
      throw new Error('no credentials')
    }
    const notifier = await world.start({ channels: { email: perOrganization(email, fails) } })
    await notifier.send(MAIL)
    await world.clock.until(async () => ((await notifier.health()).waiting.length > 0 ? true : null))
    expect(await notifier.health()).toMatchObject({ status: 'ok', waiting: [{ lane: 'email@org_default' }] })
  })

  it.each(['accept', 'findIdempotent'] as const)(
    'as a storage in %s ends the send after a minute, and a repetition is accepted once',
    async (verb) => {
      const world = notifierWorld()
      let hangs = true
      const { accept, findIdempotent } = world.storage
      const storage: typeof world.storage = {
        ...world.storage,
        // It stores, and its answer is lost.
        accept: async (requests) => {
          const answers = await accept(requests)
          return hangs && verb === 'accept' ? never() : answers
        },
        findIdempotent: (keys) => (hangs && verb === 'findIdempotent' ? never() : findIdempotent(keys)),
      }
      const notifier = await world.start({ channels: { email: recordingProvider() }, storage })
      const send = () => notifier.send(MAIL, { idempotencyKey: 'once' })
      const sent = rejection(send(), world.clock, 60_000)
      expect(await sent).toMatchObject({
        code: 'service_unavailable',
        message: 'The storage "sqlite" did not answer within 60 seconds.',
      })
      hangs = false
      expect(await send()).toMatchObject({ replayed: verb === 'accept' })
      expect((await notifier.notifications.list()).items).toHaveLength(1)
    },
  )

  it('while a limiter decides ends the send after ten seconds', async () => {
    const world = notifierWorld()
    const rateLimiter = { ...world.limiter, consume: never }
    const notifier = await world.start({ channels: { email: recordingProvider() }, rateLimiter })
    const { id: organizationId } = await notifier.organizations.create({ name: 'Acme' })
    const error = await rejection(notifier.organization(organizationId).send(MAIL), world.clock, 10_000)
    expect(error).toMatchObject({
      code: 'service_unavailable',
      message: 'The rate limiter did not answer within 10 seconds.',
    })
  })
})

describe('the faults of a plug-in', () => {
  const broken = new Error('broken')
  class Plugin {
    #broken = broken
    nested = Object.freeze({ call: async (): Promise<never> => Promise.reject(this.#broken) })
    atOnce(): Promise<never> {
      throw this.#broken
    }
  }

  it('are told from the faults of everything else, in methods of classes and of frozen objects', async () => {
    const verbs = { nested: { call: {} }, atOnce: {} }
    const plugin = watched('storage', Object.freeze(new Plugin()), verbs, fakeClock())
    const own = new Error('our own')
    expect(failureOf(own)).toBe(own)
    for (const call of [plugin.atOnce, plugin.nested.call]) {
      const fault = await call().catch((error: unknown) => error)
      expect(fault).toBe(broken)
      expect(failureOf(fault)).toMatchObject({ code: 'service_unavailable', cause: broken })
    }
  })
})
