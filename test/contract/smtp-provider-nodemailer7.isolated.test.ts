import { setImmediate } from 'node:timers/promises'
import type { SMTPServerOptions } from 'smtp-server'
import { expect, test, vi } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { providerContract } from '../../src/testing/provider-contract.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { startMailServer } from '../support/mail-server.ts'
import { scriptedSmtp } from '../support/scripted-smtp.ts'
import { SMTP_ROWS, smtpHarness } from '../support/smtp-harness.ts'

/*
 * The oldest nodemailer that package.json allows: it knows no signal and gives some errors no code, so each error of the
 * contract may end differently.
 */
const loaded = vi.hoisted(() => ({ version: '' }))
vi.mock('nodemailer', async () => {
  const { createRequire } = await import('node:module')
  loaded.version = createRequire(import.meta.url)('nodemailer7/package.json').version
  // @ts-expect-error -- this version brings no types
  return await import('nodemailer7')
})
// @ts-expect-error -- this version brings no types
vi.mock('nodemailer/lib/mime-funcs/index.js', () => import('nodemailer7/lib/mime-funcs/index.js'))
// @ts-expect-error -- this version brings no types
vi.mock('nodemailer/lib/qp/index.js', () => import('nodemailer7/lib/qp/index.js'))

providerContract(test, smtpHarness, SMTP_ROWS)

test('a connection that ends before the greeting, or before anything was said, is tried again', async () => {
  const server = await scriptedSmtp()
  for (const script of [{ greeting: 'DROP' }, { ehlo: 'RESET' }, { rcpt: 'DROP' }]) {
    const channel = smtp({ host: '127.0.0.1', port: server.port, from: 'a@example.org' })
    server.play(script)
    const before = server.connections
    expect(await channel.send(mailMessage(), sendContext())).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'provider',
    })
    expect(server.connections - before).toBe(1)
    await channel.close?.()
  }
  await server.close()
})

test('a mail whose time is over before the client is ready asks for no connection', async () => {
  const server = await scriptedSmtp({ greeting: 'HANG' })
  const channel = smtp({
    host: '127.0.0.1',
    port: server.port,
    from: 'a@example.org',
    timeouts: { greetingMs: 500 },
  })
  const over = new AbortController()
  const sending = channel.send(mailMessage(), sendContext({ signal: over.signal }))
  over.abort()
  expect(await sending).toMatchObject({ kind: 'retry', message: 'The attempt was aborted before it began.' })
  expect(server.connections).toBe(0)
  await channel.close?.()
  await server.close()
})

test('a mail that waited for a connection until its time was over is known not to have left', async () => {
  const letGo: (() => void)[] = []
  const server = await startMailServer({ onRcptTo: (_address, _session, callback) => letGo.push(callback) })
  const channel = smtp({
    host: 'localhost',
    port: server.port,
    from: 'a@example.org',
    maxConnections: 1,
  })
  const send = (to: string, more = {}) => channel.send(mailMessage({ to }), sendContext(more))
  const over = new AbortController()
  const first = send('first@example.com')
  await vi.waitFor(() => expect(letGo).toHaveLength(1))
  const waits = send('waits@example.com', { signal: over.signal })
  const next = send('next@example.com')
  // Composed by now, and in line.
  await setImmediate()
  over.abort(new Error('No answer within 60000 ms.'))
  expect(await waits).toMatchObject({ kind: 'retry', code: 'provider_unavailable', scope: 'provider' })
  letGo[0]?.()
  expect(await first).toMatchObject({ kind: 'accepted' })
  await vi.waitFor(() => expect(letGo).toHaveLength(2))
  letGo[1]?.()
  expect(await next).toMatchObject({ kind: 'accepted' })
  expect(server.inbox.map((mail) => mail.to[0])).toEqual(['first@example.com', 'next@example.com'])
  await channel.close?.()
  await server.close()
})

test.each([
  ['greets', (letGo: (() => void)[]) => ({ onConnect: (_session, go) => letGo.push(go) })],
  ['answers RCPT TO', (letGo: (() => void)[]) => ({ onRcptTo: (_address, _session, go) => letGo.push(go) })],
] satisfies [string, (letGo: (() => void)[]) => SMTPServerOptions][])(
  'a mail whose time is over before the server %s never leaves, and the next one does not wait behind it',
  async (_moment, hangs) => {
    const letGo: (() => void)[] = []
    const server = await startMailServer(hangs(letGo))
    const channel = smtp({
      host: '127.0.0.1',
      port: server.port,
      from: 'a@example.org',
      maxConnections: 1,
    })
    const over = new AbortController()
    const first = channel.send(mailMessage({ to: 'first@example.com' }), sendContext({ signal: over.signal }))
    await vi.waitFor(() => expect(letGo).toHaveLength(1))
    // As by a timer, which comes before what was promised.
    setTimeout(() => over.abort(new Error('No answer within 60000 ms.')))
    expect(await first).toMatchObject({ kind: 'retry', code: 'provider_unavailable', scope: 'provider' })
    letGo[0]?.()
    const next = channel.send(mailMessage({ to: 'next@example.com' }), sendContext())
    await vi.waitFor(() => expect(letGo).toHaveLength(2))
    letGo[1]?.()
    expect(await next).toMatchObject({ kind: 'accepted' })
    expect(server.inbox.map((mail) => mail.to[0])).toEqual(['next@example.com'])
    await channel.close?.()
    await server.close()
  },
)

test('a mail whose envelope was answered in words that nobody knows has not left', async () => {
  const server = await scriptedSmtp({ rcpt: 'eh?' })
  const channel = smtp({ host: '127.0.0.1', port: server.port, from: 'a@example.org' })
  // This version reads the mail away all the same.
  expect(await channel.send(mailMessage(), sendContext())).toMatchObject({
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'provider',
  })
  expect(server.lines).not.toContain('DATA')
  await channel.close?.()
  await server.close()
})

test('it was the oldest one', () => {
  expect(loaded.version).toMatch(/^7\./)
})
