import { Console } from 'node:console'
import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import Fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { redactFields, redactText } from '../../../../src/core/observe/redact.ts'
import { redactingLogger } from '../../../../src/core/observe/redacting-logger.ts'
import type { Logger } from '../../../../src/core/ports/logger.ts'
import { processWarnings } from '../../../../src/http/process-warnings.ts'

const MASKED = { showRecipients: false }

/** What a stream was written, as text. */
function written(): { readonly stream: PassThrough; text(): string } {
  const stream = new PassThrough({ encoding: 'utf8' })
  return { stream, text: () => stream.read() ?? '' }
}

describe('redaction', () => {
  it.each([
    ['authorization', 'Bearer abc'],
    ['Proxy-Authorization', 'Basic abc'],
    ['set-cookie', 'a=b'],
    ['api_key', 'k'],
    ['X-API-Key', 'k'],
    ['webhookSecret', 's'],
    ['access_token', 't'],
    ['PASSWORD', 'p'],
    ['private-key', 'p'],
    ['secretAccessKey', 'k'],
    ['passphrase', 'p'],
    ['deviceTokens', ['t']],
    ['body', 'Dear Ada'],
    ['subject', 'Your diagnosis'],
    ['variables', { code: 123456 }],
    ['data', { code: 123456 }],
    ['blocks', [{ type: 'section' }]],
    ['HtmlBody', '<p>Dear Ada'],
  ])('hides %s', (key, value) => {
    expect(redactFields({ deep: { [key]: value } }, MASKED)).toEqual({ deep: { [key]: '[hidden]' } })
  })

  it.each([
    ['ada@example.com', 'a***@example.com'],
    ['ada.lovelace+x@mail.example.co.uk', 'a***@mail.example.co.uk'],
    ['+4915112345678', '+49…78'],
    ['ExponentPushToken[abcdef]', 'Expo…'],
    ['U02ABCDEF', 'U02A…'],
    ['abc', '***'],
  ])('masks the recipient %s, unless recipients are shown', (to, masked) => {
    expect(redactFields({ to }, MASKED)).toEqual({ to: masked })
    expect(redactFields({ to }, { showRecipients: true })).toEqual({ to })
    expect(redactFields({ cc: [to] }, MASKED)).toEqual({ cc: [masked] })
  })

  it('masks recipients and credentials inside texts, and leaves the rest', () => {
    const text =
      '550 <ada@example.com> unknown; call +491701234567 about notif_00123, Bearer abcdefghij1234, ' +
      'whsec_c2VjcmV0, crl_0123456789012345678901234567890123abcd, crlop_0123456789012345678901234567890123abcd'
    expect(redactText(text, MASKED)).toBe(
      '550 <a***@example.com> unknown; call +49…67 about notif_00123, Bearer [hidden], [hidden], [hidden], [hidden]',
    )
    expect(redactText(text, { showRecipients: true })).toContain('<ada@example.com>')
    expect(redactText(text, { showRecipients: true })).not.toContain('abcdefghij1234')
  })

  it.each([
    ['postgres://carillon:hunter2@db:5432/app', 'postgres://[hidden]@db:5432/app'],
    ['redis://:p@ss@10.0.0.1:6379', 'redis://[hidden]@10.0.0.1:6379'],
    ['https://user:pass@api.example.com/v1', 'https://[hidden]@api.example.com/v1'],
    ['https://example.com/@ada and https://example.com', 'https://example.com/@ada and https://example.com'],
  ])('hides user and password of a URL, also where recipients are shown: %s', (text, hidden) => {
    for (const showRecipients of [true, false]) {
      expect(redactText(`No answer of ${text}.`, { showRecipients })).toBe(`No answer of ${hidden}.`)
    }
  })

  it('shows no part of a credential or a recipient where a text is cut', () => {
    for (const secret of [
      'crl_0123456789012345678901234567890123abcd',
      'Bearer abcdefghij1234',
      'ada.lovelace@example.com',
    ]) {
      for (let shown = 1; shown < secret.length; shown += 1) {
        const text = `${'x '.repeat(2_000).slice(shown)}${secret} and more`
        const part = secret.slice(0, Math.max(12, shown))
        expect(redactText(text, MASKED)).not.toContain(part.slice(0, 12))
      }
    }
  })

  it('turns errors and their causes into plain data, redacted too', () => {
    const cause = Object.assign(new Error('no ada@example.com'), { code: 'EENVELOPE', password: 'p' })
    const error = new NotifierError('provider_error', { message: 'For grace@example.com', cause })
    const { error: shown } = redactFields({ error }, MASKED) as { error: Record<string, unknown> }
    expect(shown).toMatchObject({
      name: 'NotifierError',
      code: 'provider_error',
      message: 'For g***@example.com',
      stack: expect.stringContaining('redact.test.ts'),
      cause: { name: 'Error', message: 'no a***@example.com', code: 'EENVELOPE', password: '[hidden]' },
    })
    expect(JSON.stringify(shown)).not.toMatch(/ada@|grace@/)
  })

  it('cuts cycles, depth, length and what cannot be read', () => {
    const circular: Record<string, unknown> = { list: Array.from({ length: 500 }, (_, index) => index) }
    circular.self = circular
    let deep: unknown = 'bottom'
    for (let level = 0; level < 100; level += 1) deep = { deep }
    const hostile = {
      get broken(): never {
        throw new Error('no')
      },
    }
    const proxy = new Proxy({}, { ownKeys: () => 'nonsense' as never })
    const shown = redactFields(
      { circular, deep, hostile, proxy, big: 1n, bytes: new Uint8Array(9), long: 'x'.repeat(100_000) },
      MASKED,
    )
    expect(shown).toMatchObject({
      circular: { self: '[circular]' },
      hostile: { broken: '[unreadable]' },
      proxy: '[unreadable]',
      big: '1',
      bytes: '[9 bytes]',
    })
    expect((shown.circular as { list: unknown[] }).list).toHaveLength(50)
    expect(JSON.stringify(shown).length).toBeLessThan(6_000)
    expect(JSON.stringify(shown)).toContain('[too deep]')
  })

  it('bounds a line whose values are full of references, and keeps the cause of an error before them', () => {
    const rows = Array.from({ length: 49 }, (_, id): Record<string, unknown> => ({ id }))
    for (const row of rows) for (const [place, other] of rows.entries()) row[`row${place}`] = other
    const cause = new Error('the reason')
    const { error } = redactFields({ error: Object.assign(new Error('failed', { cause }), { rows }) }, MASKED)
    expect(error).toMatchObject({ message: 'failed', cause: { message: 'the reason' } })
    expect(JSON.stringify(error)).toContain('[too much]')
    expect(JSON.stringify(error).length).toBeLessThan(100_000)
  })

  it('never throws, and lets no secret through, whatever the fields are', () => {
    const secret = 'S3CR3T-VALUE'
    const keys = fc.constantFrom(
      'authorization',
      'apiKey',
      'client_secret',
      'refreshToken',
      'passWord',
      'body',
    )
    const hidden = fc.tuple(keys, fc.constant(secret)).map(([key, value]) => ({ [key]: value }))
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.anything(),
        hidden,
        fc.dictionary(fc.string(), tie('tree'), { maxKeys: 4 }),
        fc.array(tie('tree'), { maxLength: 4 }),
        fc.tuple(fc.string(), tie('tree')).map(([message, inner]) => new Error(message, { cause: inner })),
      ),
    }))
    fc.assert(
      fc.property(fc.dictionary(fc.string(), tree), (fields) => {
        expect(JSON.stringify(redactFields(fields, MASKED))).not.toContain(secret)
      }),
      { numRuns: 300 },
    )
  })
})

it('is passed by what becomes a warning of the process, without a logger', async () => {
  const warned = once(process, 'warning')
  const error = new Error('No answer of redis://:hunter2@db for ada@example.com.')
  processWarnings.error('A request failed unexpectedly.', { requestId: 'req_1', error })
  const [warning] = (await warned) as [Error & { detail?: string }]
  expect(warning.message).toBe('A request failed unexpectedly. {"requestId":"req_1"}')
  expect(warning.detail).toContain('Error: No answer of redis://[hidden]@db for a***@example.com.\n')
})

describe('the logger of an application', () => {
  const fields = {
    to: 'ada@example.com',
    error: new Error('refused', { cause: new Error('by ada@example.com') }),
  }

  it('can be pino, as Fastify has it, which takes the fields first', () => {
    const { stream, text } = written()
    const logger = redactingLogger(Fastify({ logger: { stream, level: 'debug' } }).log, MASKED)
    logger.error('It failed for ada@example.com.', fields)
    logger.warn('No fields.')
    const [first, second] = text()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    expect(first).toMatchObject({
      level: 50,
      msg: 'It failed for a***@example.com.',
      to: 'a***@example.com',
      error: { message: 'refused', cause: { message: 'by a***@example.com' } },
    })
    expect(second).toMatchObject({ level: 40, msg: 'No fields.' })
  })

  it('can be the console', () => {
    const { stream, text } = written()
    redactingLogger(new Console(stream), MASKED).info('Sent.', fields)
    const line = text()
    expect(line).toContain('Sent.')
    expect(line).toContain('a***@example.com')
    expect(line).not.toContain('ada@')
  })

  it.each([
    [
      'throws',
      () => {
        throw new Error('disk full')
      },
    ],
    ['rejects', () => Promise.reject(new Error('socket closed'))],
  ])('may fail: one that %s is not noticed', async (_title, fail) => {
    const broken = { debug: fail, info: fail, warn: fail, error: fail } as unknown as Logger
    const logger = redactingLogger(broken, MASKED)
    for (const level of ['debug', 'info', 'warn', 'error'] as const) {
      expect(() => logger[level]('message', fields)).not.toThrow()
    }
    // A rejection that nobody handled would fail the run.
    await new Promise((resolve) => setImmediate(resolve))
  })
})
