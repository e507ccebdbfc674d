import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import type { Message, Provider } from '../../src/core/ports/provider.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { type ScriptedSmtp, scriptedSmtp } from '../support/scripted-smtp.ts'

/* What one mail leaves to the next on the connection that they share. */

let server: ScriptedSmtp
let channel: Provider
beforeEach(async () => {
  server = await scriptedSmtp()
  channel = smtp({
    host: '127.0.0.1',
    port: server.port,
    from: 'a@example.org',
    maxConnections: 1,
    timeouts: { socketMs: 1_000 },
  })
})
afterEach(async () => {
  await channel.close?.()
  await server.close()
})

const send = (message: Partial<Message> = {}) => channel.send(mailMessage(message), sendContext())

/** More than the buffers of a connection hold. */
const LARGE: Partial<Message> = {
  to: 'first@example.com',
  email: {
    attachments: [
      {
        filename: 'a.bin',
        contentType: 'application/octet-stream',
        content: new Uint8Array(6_000_000),
      },
    ],
  },
}

describe('an answer before the server has the whole mail', () => {
  it.each([
    ['250 2.0.0 Ok', { kind: 'ambiguous', reason: expect.stringContaining('250 2.0.0 Ok') }],
    ['451 4.3.0 Later', { kind: 'retry', providerCode: '451 4.3.0' }],
    ['552 5.3.4 Too big', { kind: 'rejected', code: 'message_too_large' }],
  ])('(%s) is no acceptance, and what is left of the mail goes nowhere', async (begun, outcome) => {
    server.play({ begun })
    expect(await send(LARGE)).toMatchObject(outcome)
    server.play({})
    await send({ to: 'second@example.com' })
    expect(server.mails.flatMap(({ addressees }) => addressees)).not.toContain('first@example.com')
    expect(server.mails.map(({ source }) => source).join()).not.toContain('RCPT TO')
    expect(await send({ to: 'third@example.com' })).toMatchObject({ kind: 'accepted' })
  })
})

describe('a server that ends the connection after each mail', () => {
  it.each(['DROP', '421 4.4.2 Closing'])('(%s) gets the next one over another', async (after) => {
    server.play({ after })
    const sending = Array.from({ length: 8 }, (_, index) => send({ to: `u${index}@example.com` }))
    for (const outcome of await Promise.all(sending)) expect(outcome).toMatchObject({ kind: 'accepted' })
    expect(server.mails.flatMap(({ addressees }) => addressees).sort()).toEqual(
      sending.map((_, index) => `u${index}@example.com`),
    )
  })

  it('and takes no new one is away', async () => {
    server.play({ after: 'DROP' })
    await send()
    server.play({ greeting: 'DROP' })
    const before = server.connections
    expect(await send()).toMatchObject({ kind: 'retry', code: 'provider_unavailable', scope: 'provider' })
    expect(server.connections - before).toBe(1)
  })
})
