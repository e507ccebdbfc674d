import { describe, expect, it } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { closedPort } from '../support/receivers.ts'
import { scriptedProvider } from '../support/scripted-provider.ts'
import type { SmtpScript } from '../support/scripted-smtp.ts'

const smtpProvider = scriptedProvider()

describe('a connection that ends', () => {
  const moments = ['greeting', 'ehlo', 'auth', 'mail', 'rcpt', 'data'] as const

  it.each(moments.flatMap((moment) => [[moment, 'DROP'] as const, [moment, 'RESET'] as const]))(
    'at %s (%s) leaves nothing behind: it is tried again',
    async (moment, act) => {
      const before = smtpProvider.server.connections
      expect(await smtpProvider.outcomeOf({ [moment]: act })).toMatchObject({
        kind: 'retry',
        code: 'provider_unavailable',
        scope: 'provider',
      })
      expect(smtpProvider.server.lines.join('\n')).not.toContain('Hi Ada')
      // Attempts are the engine's to count: the client makes one.
      expect(smtpProvider.server.connections - before).toBe(1)
    },
  )

  it.each([
    ['begun', 'DROP'],
    ['begun', 'RESET'],
    ['content', 'DROP'],
    ['content', 'RESET'],
  ] as const)('in the middle of the content (%s, %s): nobody knows', async (moment, act) => {
    const before = smtpProvider.server.lines.filter((line) => line === 'DATA').length
    expect(await smtpProvider.outcomeOf({ [moment]: act })).toMatchObject({
      kind: 'ambiguous',
      reason: expect.any(String),
    })
    expect(smtpProvider.server.lines.filter((line) => line === 'DATA').length).toBe(before + 1)
  })

  it('is refused', async () => {
    const down = smtp({ host: '127.0.0.1', port: await closedPort(), from: 'a@example.org' })
    expect(await down.send(mailMessage(), sendContext())).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
      scope: 'provider',
      providerCode: 'ECONNREFUSED',
    })
    await down.close?.()
  })

  it('cannot be made to an unknown name', async () => {
    const nowhere = smtp({ host: 'mail.invalid', from: 'a@example.org' })
    expect(await nowhere.send(mailMessage(), sendContext())).toMatchObject({
      kind: 'retry',
      code: 'provider_unavailable',
    })
    await nowhere.close?.()
  })
})

describe('a server that hangs', () => {
  it.each([
    ['greeting', 'retry'],
    ['ehlo', 'retry'],
    ['auth', 'retry'],
    ['mail', 'retry'],
    ['rcpt', 'retry'],
    ['data', 'retry'],
    ['content', 'ambiguous'],
  ] as const)('at %s is left by a timeout as %s', async (moment, kind) => {
    smtpProvider.server.play({ [moment]: 'HANG' })
    const hasty = smtp({
      host: '127.0.0.1',
      port: smtpProvider.server.port,
      from: 'a@example.org',
      auth: { user: 'mailer', pass: 'correct horse' },
      // Once the content flows, a pause before it must not be taken for the one that is meant.
      timeouts: moment === 'content' ? { socketMs: 1_500 } : { greetingMs: 300, socketMs: 300 },
    })
    expect(await hasty.send(mailMessage(), sendContext())).toMatchObject({ kind })
    await hasty.close?.()
  })

  it.each([
    ['greeting', 'retry'],
    ['rcpt', 'retry'],
    ['content', 'ambiguous'],
  ] as const)('at %s is left by an abort as %s', async (moment, kind) => {
    const abort = new AbortController()
    smtpProvider.server.play({ [moment]: 'HANG' })
    const sending = smtpProvider.provider.send(mailMessage(), sendContext({ signal: abort.signal }))
    const reached = { greeting: '', rcpt: 'RCPT TO:<ada@example.com>', content: '.' }[moment]
    while (reached !== '' && !smtpProvider.server.lines.includes(reached))
      await new Promise((resolve) => setTimeout(resolve, 5))
    abort.abort()
    expect(await sending).toMatchObject({ kind })
  })

  it('is not contacted by an attempt that is aborted before it begins', async () => {
    smtpProvider.server.play({})
    expect(
      await smtpProvider.provider.send(mailMessage(), sendContext({ signal: AbortSignal.abort() })),
    ).toMatchObject({
      kind: 'retry',
    })
    expect(smtpProvider.server.lines).toEqual([])
  })
})

describe('secrets', () => {
  it('stay out of the outcome if the server repeats them', async () => {
    const base64 = (text: string) => Buffer.from(text).toString('base64')
    const plain = base64('\0mailer\0correct horse')
    for (const echo of ['correct horse', base64('correct horse'), plain]) {
      const outcome = await smtpProvider.outcomeOf({ auth: `535 5.7.8 I do not like "${echo}"` })
      expect(outcome).toMatchObject({
        code: 'provider_auth_failed',
        message: expect.stringContaining('[secret]'),
      })
      expect(JSON.stringify(outcome)).not.toContain(echo)
    }
  })
})

describe('check', () => {
  it('resolves if server and credentials work, and sends nothing', async () => {
    smtpProvider.server.play({})
    await expect(smtpProvider.provider.check?.()).resolves.toBeUndefined()
    expect(smtpProvider.server.lines).not.toContain('DATA')
  })

  it.each<[SmtpScript, string]>([
    [{ auth: '535 5.7.8 Bad "correct horse"' }, 'provider_auth_failed'],
    [{ greeting: '421 Busy' }, 'provider_unavailable'],
    [{ greeting: 'DROP' }, 'provider_unavailable'],
  ])('rejects with the reason: %j', async (script, code) => {
    smtpProvider.server.play(script)
    const failure = await smtpProvider.provider.check?.().catch((error: unknown) => error)
    expect(failure).toMatchObject({ name: 'NotifierError', code })
    expect(String(failure)).not.toContain('correct horse')
  })
})
