import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import type { Outcome } from '../../src/core/notification/outcome.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { mailMessage, sendContext } from './channel-context.ts'
import { type ScriptedSmtp, type SmtpScript, scriptedSmtp } from './scripted-smtp.ts'

/** The SMTP provider of each test, before one scripted server of its file. */
export function scriptedProvider() {
  let server: ScriptedSmtp
  let provider: Provider
  beforeAll(async () => {
    server = await scriptedSmtp()
  })
  beforeEach(() => {
    server.lines.length = 0
    provider = smtp({
      host: '127.0.0.1',
      port: server.port,
      from: 'Carillon <no-reply@example.org>',
      auth: { user: 'mailer', pass: 'correct horse' },
    })
  })
  afterEach(() => provider.close?.())
  afterAll(() => server.close())
  return {
    get server() {
      return server
    },
    get provider() {
      return provider
    },
    outcomeOf(script: SmtpScript): Promise<Outcome> {
      server.play(script)
      return provider.send(mailMessage(), sendContext())
    },
  }
}
