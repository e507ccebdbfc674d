import { describe, expect, it } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { prometheusMetrics } from '../../adapters/telemetry/prometheus.ts'
import { email } from '../../src/core/channels/built-in.ts'
import { perOrganization } from '../../src/core/channels/channel-option.ts'
import { isNotifierError } from '../../src/core/errors/notifier-error.ts'
import { memoryRateLimiter } from '../../src/core/limits/memory-rate-limiter.ts'
import { UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { type NotifierOptions, resolveOptions } from '../../src/options.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { inMemory } from '../support/in-memory.ts'

const channel = recordingProvider()
const channels = { email: channel }
const resolved = (options: NotifierOptions) => resolveOptions(options, inMemory)
const odd = (change: object) => ({ channels: { email: { ...channel, ...change } } })
const list = (change: object) => ({ channels: { email: { providers: [channel], ...change } } })
const PROXY = 'http://proxy.example.net:3128'
const exponential = { kind: 'exponential', maxAttempts: 3, baseMs: 1, capMs: 2 }
const schedule = { kind: 'schedule', delaysMs: [1], jitter: 0 }

describe('a wrong option is one error that names it and says what is right', () => {
  it.each<[option: string, options: unknown, right: string]>([
    ['options', undefined, 'an object'],
    ['options', null, 'an object'],
    ['options', 'x', 'an object'],
    ['channels', {}, 'an object, such as { email: smtp({ … }) }'],
    ['channels', { channels: [] }, 'an object'],
    ['chanels', { chanels: {} }, 'is not an option: use channels'],
    ['channels.fax', { channels: { fax: channel } }, 'email, sms, push, slack, webhook'],
    ['channels.email', { channels: { email: null } }, 'send'],
    ['channels.email', { channels: { email: {} } }, 'send'],
    ['channels.email', { channels: { email: [] } }, 'at least one'],
    ['channels.email', { channels: { email: 'smtp' } }, 'send'],
    ['channels.email', { channels: { email: [smtp] } }, 'call it'],
    ['channels.email', { channels: { email: Promise.resolve(channel) } }, 'await it'],
    ['storage', { channels, storage: inMemory }, 'call it'],
    ['storage', { channels, storage: 'x.db' }, "such as sqlite({ file: 'notifications.db' })"],
    ['channels.emial', { channels: { emial: channel } }, 'left out (did you mean "email"?), or'],
    ['channels.sms', { channels: { sms: { ...channel, kind: email } } }, 'for sms'],
    ['channels.fax', { channels: { fax: channel } }, 'a provider with a kind'],
    [
      'channels.sms',
      { channels: { sms: perOrganization(email, () => null) } },
      'for sms; this one is for email',
    ],
    ['channels.sms', { channels: { sms: perOrganization('sms' as never, () => null) } }, '(kind, function)'],
    ['channels.email', { channels: { email: () => channel } }, 'perOrganization(kind, function)'],
    ['channels.email[1]', { channels: { email: [channel, {}] } }, 'send'],
    ['channels.email[1].name', { channels: { email: [channel, channel] } }, 'unique'],
    ['recipients', { channels, recipients: () => ({}) }, '{ resolve: yourFunction }'],
    ['publicUrl', { channels, publicUrl: 'app.example' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'ftp://app.example' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https://app.example\n' }, 'white space'],
    ['publicUrl', { channels, publicUrl: ' https://app.example' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https://app.example/a b' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https:app.example' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https:\\\\app.example' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'HTTPS://app.example' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https:///app.example' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https://app.example/\u200b' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https://app.example/?a' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https://app.example/?' }, 'white space'],
    ['publicUrl', { channels, publicUrl: 'https://app.example#' }, 'white space'],
    ['publicUrl', { channels, publicUrl: new URL('https://app.example') }, 'white space'],
    ['channels.email.name', odd({ name: '' }), 'lower-case'],
    ['channels.email.name', odd({ name: 'A b' }), 'lower-case'],
    ['channels.email.name', odd({ name: 'a\n' }), 'lower-case'],
    ['channels.email.name', odd({ name: 'a'.repeat(65) }), '64'],
    ['channels.email.maxConcurrent', odd({ maxConcurrent: 0 }), 'at least 1'],
    ['channels.email.maxConcurrent', odd({ maxConcurrent: 1.5 }), 'whole number'],
    ['channels.email.maxConcurrent', odd({ maxConcurrent: '5' }), 'whole number'],
    ['channels.email.timeoutMs', odd({ timeoutMs: 0 }), 'above 0'],
    ['channels.email.timeoutMs', odd({ timeoutMs: Number.POSITIVE_INFINITY }), 'above 0'],
    ['channels.email.onAmbiguous', odd({ onAmbiguous: 'ignore' }), '"retry" or "fail"'],
    ['channels.email.accepts', odd({ accepts: true }), 'a function'],
    ['channels.email.close', odd({ close: {} }), 'a function'],
    ['channels.email.retry', odd({ retry: 3 }), 'an object'],
    ['channels.email.retry', odd({ retry: null }), 'an object'],
    ['channels.email.retry.kind', odd({ retry: {} }), '"exponential"'],
    ['channels.email.retry.maxAttempts', odd({ retry: { ...exponential, maxAttempts: 0 } }), 'at least 1'],
    [
      'channels.email.retry.maxAttempts',
      odd({ retry: { ...exponential, maxAttempts: Number.NaN } }),
      'at least 1',
    ],
    ['channels.email.retry.baseMs', odd({ retry: { ...exponential, baseMs: undefined } }), 'above 0'],
    ['channels.email.retry.capMs', odd({ retry: { ...exponential, capMs: -1 } }), 'above 0'],
    ['channels.email.retry.delaysMs', odd({ retry: { ...schedule, delaysMs: undefined } }), 'a list'],
    ['channels.email.retry.delaysMs', odd({ retry: { ...schedule, delaysMs: [1, Number.NaN] } }), 'a list'],
    ['channels.email.retry.jitter', odd({ retry: { ...schedule, jitter: 2 } }), 'from 0 to 1'],
    ['channels.email.maxPerSecond', odd({ maxPerSecond: 0 }), 'whole number'],
    ['channels.email.maxPerSecond', odd({ maxPerSecond: 2.5 }), 'fraction'],
    ['channels.email.maxPerSecond', odd({ maxPerSecond: '5' }), 'whole number'],
    ['channels.email.providers', list({ providers: [] }), 'at least one'],
    ['channels.email.providers', list({ providers: channel }), 'a list'],
    ['channels.email.providers.name', list({ providers: [{ ...channel, name: '' }] }), 'lower-case'],
    ['channels.email.provider', list({ provider: channel }), 'channels.email.providers'],
    ['channels.email.distribution', list({ distribution: 'random' }), '"ordered" or "weighted"'],
    ['channels.email.weights', list({ weights: { recorder: 1 } }), 'left out'],
    ['channels.email.weights', list({ distribution: 'weighted' }), 'recorder'],
    ['channels.email.weights', list({ distribution: 'weighted', weights: {} }), 'recorder'],
    ['channels.email.weights.other', list({ distribution: 'weighted', weights: { other: 1 } }), 'recorder'],
    [
      'channels.email.weights.recorder',
      list({ distribution: 'weighted', weights: { recorder: 0 } }),
      'whole number from 1',
    ],
    [
      'channels.email',
      { channels: { email: perOrganization(email, {} as never) } },
      'perOrganization(kind, function)',
    ],
    ['delivery.maxPauseMs', { channels, delivery: { maxPauseMs: 0 } }, 'above 0'],
    ['storage', { channels, storage: 'file.db' }, 'start, stop, accept, claim, settle'],
    ['storage', { channels, storage: null }, 'start'],
    ['logger', { channels, logger: { info() {} } }, 'debug, warn, error'],
    ['logger', { channels, logger: true }, 'such as console'],
    ['locale', { channels, locale: 'german' }, 'such as en or fr-BE'],
    ['proxy.noProxy', { channels, proxy: { url: PROXY, noProxy: 'a.example' } }, 'a list'],
    ...['10.0.0.9-10.0.0.1', '10.0.0.1-::1', 'https://a.example', 'a.example,b.example', '10.0.0.0/99'].map(
      (host): [string, unknown, string] => [
        'proxy.noProxy[1]',
        { channels, proxy: { url: PROXY, noProxy: ['a-b.example', host] } },
        'one host such as',
      ],
    ),
    [
      'templates.code.channel',
      { channels, templates: { code: { channel: 'sms', text: 'x' } } },
      'a channel of the option "channels" (email); "sms" is not one',
    ],
    ['clock', { channels, clock: { now: Date.now } }, 'monotonic, timer'],
    ['rateLimiter', { channels, rateLimiter: {} }, 'consume'],
    ['rateLimiter', { channels, rateLimiter: { ...memoryRateLimiter(), close: undefined } }, 'close'],
    ['webhooks.allow', { channels, webhooks: { allow: [127] } }, 'CIDR'],
    ['telemetry', { channels, telemetry: prometheusMetrics }, 'call it'],
    ['telemetry', { channels, telemetry: [prometheusMetrics] }, 'call it'],
    ['telemetry', { channels, telemetry: Promise.resolve(prometheusMetrics()) }, 'await it'],
    ['secret', { channels, secret: '' }, '32 characters'],
    ['secret', { channels, secret: 'short' }, '32 characters'],
    ['secret', { channels, secret: [] }, '32 characters'],
    ['secret', { channels, secret: ['x'.repeat(32), 'short'] }, '32 characters'],
    ['secret', { channels, secret: 5 }, '32 characters'],
    ['webhooks', { channels, webhooks: null }, 'an object'],
    ['webhooks.alow', { channels, webhooks: { alow: [] } }, 'webhooks.allow'],
    ['webhooks.allow', { channels, webhooks: { allow: ['10.0.0.0/99'] } }, 'CIDR'],
    ['webhooks.allow', { channels, webhooks: { allow: ['localhost'] } }, 'CIDR'],
    ['webhooks.allow', { channels, webhooks: { allow: '10.0.0.0/8' } }, 'list'],
    ['webhooks.allowHttp', { channels, webhooks: { allowHttp: 'yes' } }, 'true or false'],
    ['delivery', { channels, delivery: [] }, 'an object'],
    ['delivery.lease', { channels, delivery: { lease: 5 } }, 'delivery.leaseMs'],
    ['delivery.leaseMs', { channels, delivery: { leaseMs: 0 } }, 'above 0'],
    ['delivery.leaseMs', { channels, delivery: { leaseMs: 59_999 } }, 'at least 60000'],
    ['delivery.leaseMs', { channels, delivery: { leaseMs: '60000' } }, 'milliseconds'],
    ['delivery.pollMs', { channels, delivery: { pollMs: -1 } }, 'above 0'],
    ['delivery.pollMs', { channels, delivery: { pollMs: Number.NaN } }, 'above 0'],
    ['plans', { channels, plans: [] }, 'an object'],
    ...[undefined, 5, { limit: null, windowMs: 60_000 }, { limit: 5 }].map(
      (requests): [string, unknown, string] => [
        'plans.tiny.requests',
        { channels, plans: { tiny: { ...UNLIMITED, requests } } },
        'an object with "limit" and "windowMs", both whole numbers of at least 1, or null',
      ],
    ),
    ['plans.tiny.storedBytes', { channels, plans: { tiny: { ...UNLIMITED, storedBytes: 0 } } }, 'or null'],
    ['overuse', { channels, overuse: null }, 'an object'],
    ['overuse.factor', { channels, overuse: { factor: 0, windowMs: 1, restrictMs: 1 } }, 'above 0'],
  ])('%s (%#)', (option, options, right) => {
    let error: unknown
    try {
      createNotifier(options as NotifierOptions)
    } catch (thrown) {
      error = thrown
    }
    if (!isNotifierError(error)) throw error ?? new Error('It was taken.')
    expect(error.code).toBe('invalid_configuration')
    expect(error.message).toContain(`"${option}"`)
    expect(error.message).toContain(right)
    expect(error.details).toMatchObject({ option })
  })
})

describe('defaults', () => {
  it('are in place', () => {
    const options = resolved({ channels })
    expect(options).toMatchObject({
      leaseMs: 60_000,
      pollMs: 1_000,
      secrets: [],
      storage: { name: 'sqlite', durable: false },
    })
    expect(options.sources.get('email')?.shared?.providers).toMatchObject([
      {
        name: 'recorder',
        maxConcurrent: 10,
        timeoutMs: 30_000,
        onAmbiguous: 'retry',
        retry: { maxAttempts: 8 },
      },
    ])
  })

  it('make a lease last twice the longest timeout', () => {
    const slow = recordingProvider({ name: 'slow', timeoutMs: 90_000 })
    expect(resolved({ channels: { email: [channel, slow] } }).leaseMs).toBe(180_000)
  })

  it('make a lease last long enough for what a function makes of our own providers', () => {
    const own = { email: perOrganization(email, () => channel) }
    const { timeoutMs } = smtp({ host: 'localhost', from: 'a@example.com' })
    expect(resolved({ channels: own }).leaseMs).toBe(2 * Number(timeoutMs))
    expect(resolved({ channels: own, delivery: { leaseMs: 60_000 } }).leaseMs).toBe(60_000)
  })

  it('leave a channel out that is undefined', () => {
    expect([...resolved({ channels: { email: channel, sms: undefined } }).sources.keys()]).toEqual(['email'])
  })
})
