import { describe, expect, it } from 'vitest'
import { resolveSmtpOptions } from '../../../../adapters/channels/smtp/options.ts'
import { type SmtpOptions, smtp } from '../../../../adapters/channels/smtp/send.ts'

const least: SmtpOptions = { host: 'mail.example.org', from: 'no-reply@example.org' }

describe('smtp', () => {
  it('needs a host and a sender, and fills the rest in', () => {
    expect(smtp(least)).toMatchObject({
      name: 'smtp',
      kind: { name: 'email' },
      maxConcurrent: 10,
      timeoutMs: 60_000,
      onAmbiguous: 'retry',
    })
    expect(resolveSmtpOptions(least)).toMatchObject({
      port: 587,
      secure: false,
      requireTls: false,
      timeouts: { dnsMs: 5_000, connectMs: 10_000, greetingMs: 10_000, socketMs: 30_000 },
    })
  })

  it('takes what is given', () => {
    const retry = { kind: 'exponential', maxAttempts: 3, baseMs: 1, capMs: 2 } as const
    expect(
      smtp({ ...least, name: 'backup', maxConnections: 2, timeoutMs: 9, onAmbiguous: 'fail', retry }),
    ).toMatchObject({ name: 'backup', maxConcurrent: 4, timeoutMs: 9, onAmbiguous: 'fail', retry })
  })

  it.each([
    [{ secure: true }, 465, true],
    [{ port: 465 }, 465, true],
    [{ port: 465, secure: false }, 465, false],
    [{ port: 2525 }, 2525, false],
  ])('with %j speaks to port %i, TLS from the start: %s', (options, port, secure) => {
    expect(resolveSmtpOptions({ ...least, ...options })).toMatchObject({ port, secure })
  })

  it('takes an address of IPv6 with its brackets, too', () => {
    expect(resolveSmtpOptions({ ...least, host: '[2001:db8::1]' }).host).toBe('2001:db8::1')
  })

  it.each([
    ['mail.example.org', true],
    ['10.0.0.1', true],
    ['localhost.example.org', true],
    ['localhost', false],
    ['127.0.0.1', false],
    ['::1', false],
  ])('requires TLS for a password to %s: %s', (host, requireTls) => {
    const auth = { user: 'u', pass: 'p' }
    expect(resolveSmtpOptions({ ...least, host, auth }).requireTls).toBe(requireTls)
    expect(resolveSmtpOptions({ ...least, host, auth, requireTls: !requireTls }).requireTls).toBe(!requireTls)
  })

  it.each<[string, Record<string, unknown>]>([
    ['host', { host: undefined }],
    ['host', { host: '' }],
    ['host', { host: 'mail.example.org\r\nx' }],
    ['port', { port: 0 }],
    ['port', { port: 65_536 }],
    ['port', { port: '25' }],
    ['secure', { secure: 'yes' }],
    ['auth', { auth: 'user:pass' }],
    ['auth.pass', { auth: { user: 'u' } }],
    ['auth.user', { auth: { user: '', pass: 'p' } }],
    ['from', { from: undefined }],
    ['from', { from: 'nobody' }],
    ['from', { from: 'a@example.org, b@example.org' }],
    ['from', { from: 'a@example.org\r\nBcc: evil@example.net' }],
    ['replyTo', { replyTo: 'nobody' }],
    ['headers.X-A', { headers: { 'X-A': 'a\r\nBcc: evil@example.net' } }],
    ['headers', { headers: { 'X A': 'a' } }],
    ['headers', { headers: { 'X-A\r\nBcc': 'a' } }],
    ['headers', { headers: { bcc: 'evil@example.net' } }],
    ['headers', { headers: { 'Content-Type': 'text/plain' } }],
    ['headers', { headers: { 'List-Unsubscribe': '<x>' } }],
    ['host', { host: 'smtp://mail.example.org' }],
    ['host', { host: 'mail.example.org:587' }],
    ['host', { host: '[2001:db8::1]:587' }],
    ['host', { host: 'ada@mail.example.org' }],
    ['name', { name: 'Main' }],
    ['name', { name: '' }],
    ['name', { name: 'a'.repeat(65) }],
    ['maxConnections', { maxConnections: 0 }],
    ['maxConnections', { maxConnections: 1.5 }],
    ['timeoutMs', { timeoutMs: -1 }],
    ['timeouts.socketMs', { timeouts: { socketMs: Number.POSITIVE_INFINITY } }],
    ['timeouts', { timeouts: 5 }],
    ['tls', { tls: 'yes' }],
    ['clientName', { clientName: 'a b' }],
    ['toText', { toText: 'text' }],
    ['onAmbiguous', { onAmbiguous: 'ignore' }],
    ['pass', { pass: 'correct horse' }],
  ])('names the option "%s" that is wrong in %j', (option, wrong) => {
    const options = { ...least, ...wrong } as SmtpOptions
    expect(() => smtp(options)).toThrowError(
      expect.objectContaining({
        code: 'invalid_configuration',
        details: { option },
        message: expect.stringMatching(`^smtp: "${option}"`),
      }),
    )
    expect(() => smtp(options)).not.toThrowError(/correct horse/)
  })
})
