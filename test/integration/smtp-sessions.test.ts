import { describe, expect, it, onTestFinished } from 'vitest'
import { type SmtpOptions, smtp } from '../../adapters/channels/smtp/send.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { certificate, key } from '../support/localhost-certificate.ts'
import { startMailServer } from '../support/mail-server.ts'
import { scriptedSmtp } from '../support/scripted-smtp.ts'

describe('an SMTP connection', () => {
  const to = (port: number, more: Partial<SmtpOptions> = {}) => {
    const opened = smtp({ host: 'localhost', port, from: 'a@example.org', ...more })
    onTestFinished(() => opened.close?.())
    return opened
  }

  it('is shared by many mails, and there are at most maxConnections', async () => {
    const busy = await startMailServer()
    onTestFinished(busy.close)
    const pooled = to(busy.port, { maxConnections: 3 })
    expect(pooled.maxConcurrent).toBe(6)
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        pooled.send(
          mailMessage({ to: `u${index}@example.com` }),
          sendContext({ idempotencyKey: `n${index}` }),
        ),
      ),
    )
    expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true)
    expect(busy.inbox.map((mail) => mail.to[0]).sort()).toEqual(
      Array.from({ length: 40 }, (_, index) => `u${index}@example.com`).sort(),
    )
    expect(busy.mostOpen).toBeLessThanOrEqual(3)
  })

  it('carries international domains in punycode', async () => {
    const ascii = await scriptedSmtp()
    onTestFinished(ascii.close)
    const one = to(ascii.port, { from: 'Büro <buero@bücher.example>', clientName: 'client.example.org' })
    expect(await one.send(mailMessage({ to: 'ada@BÜCHER.example' }), sendContext())).toMatchObject({
      kind: 'accepted',
    })
    expect(ascii.lines).toContain('EHLO client.example.org')
    expect(ascii.lines).toContain('MAIL FROM:<buero@xn--bcher-kva.example>')
    expect(ascii.lines).toContain('RCPT TO:<ada@xn--bcher-kva.example>')
    expect(ascii.lines).toContain('To: ada@xn--bcher-kva.example')
  })

  it('logs in', async () => {
    const guarded = await startMailServer({
      authOptional: false,
      allowInsecureAuth: true,
      onAuth({ username, password }, _session, callback) {
        if (username === 'mailer' && password === 'correct horse') callback(null, { user: username })
        else callback(new Error('Invalid username or password'))
      },
    })
    onTestFinished(guarded.close)
    const right = to(guarded.port, { auth: { user: 'mailer', pass: 'correct horse' } })
    expect(await right.send(mailMessage(), sendContext())).toMatchObject({ kind: 'accepted' })
    expect(guarded.inbox[0]).toMatchObject({ user: 'mailer', secure: false })
    const wrong = to(guarded.port, { auth: { user: 'mailer', pass: 'battery staple' } })
    const outcome = await wrong.send(mailMessage(), sendContext())
    expect(outcome).toMatchObject({ kind: 'rejected', code: 'provider_auth_failed', scope: 'account' })
    expect(JSON.stringify(outcome)).not.toContain('battery staple')
  })

  it.each([
    ['upgraded by STARTTLS', false],
    ['encrypted from the first byte', true],
  ])('is %s if the certificate of the server is trusted', async (_, secure) => {
    const tls = await startMailServer({ secure, cert: certificate, key })
    onTestFinished(tls.close)
    const trusting = to(tls.port, { secure, tls: { ca: certificate }, requireTls: true })
    await expect(trusting.check?.()).resolves.toBeUndefined()
    expect(await trusting.send(mailMessage(), sendContext())).toMatchObject({ kind: 'accepted' })
    expect(tls.inbox[0]?.secure).toBe(true)
    const doubting = to(tls.port, { secure })
    expect(await doubting.send(mailMessage(), sendContext())).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'provider',
      message: expect.stringMatching(/self-signed certificate.*"tls" of smtp\(\)/),
    })
    expect(tls.inbox).toHaveLength(1)
  })

  it('never carries a clear-text password if TLS is required', async () => {
    const plain = await scriptedSmtp()
    onTestFinished(plain.close)
    const strict = to(plain.port, { auth: { user: 'mailer', pass: 'correct horse' }, requireTls: true })
    expect(await strict.send(mailMessage(), sendContext())).toMatchObject({
      code: 'provider_unavailable',
      scope: 'provider',
    })
    expect(plain.lines.filter((line) => /^(?:AUTH|MAIL|DATA)/.test(line))).toEqual([])
  })

  it('serves the next recipient after a refused one', async () => {
    const picky = await startMailServer({
      onRcptTo({ address }, _session, callback) {
        if (address.startsWith('nobody')) {
          callback(Object.assign(new Error('5.1.1 No such user'), { responseCode: 550 }))
        } else callback()
      },
    })
    onTestFinished(picky.close)
    const one = to(picky.port)
    expect(await one.send(mailMessage({ to: 'nobody@example.com' }), sendContext())).toMatchObject({
      kind: 'rejected',
      code: 'invalid_recipient',
      scope: 'recipient',
      providerCode: '550 5.1.1',
    })
    expect(await one.send(mailMessage(), sendContext())).toMatchObject({ kind: 'accepted' })
  })

  it('is not opened again after a close', async () => {
    const server = await startMailServer()
    onTestFinished(server.close)
    const closed = to(server.port)
    await closed.send(mailMessage(), sendContext())
    await closed.close?.()
    expect(await closed.send(mailMessage(), sendContext())).toMatchObject({ kind: 'retry' })
    expect(server.inbox).toHaveLength(1)
  })
})
