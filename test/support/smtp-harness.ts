import { type AddressObject, simpleParser } from 'mailparser'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import type { OutcomeRow, ProviderHarness } from '../../src/testing/provider-contract.ts'
import { type SmtpScript, scriptedSmtp } from './scripted-smtp.ts'

/** One of each kind and scope; the whole table is in test/integration/smtp-replies.test.ts. */
export const SMTP_ROWS: readonly (OutcomeRow & { readonly script: SmtpScript })[] = [
  {
    row: 'recipient unknown',
    script: { rcpt: '550 5.1.1 User unknown' },
    outcome: { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient', providerCode: '550 5.1.1' },
  },
  {
    row: 'greylisted',
    script: { rcpt: '451 4.7.1 Greylisted' },
    outcome: { kind: 'retry', code: 'provider_rate_limited', scope: 'recipient', retryAfterMs: 300_000 },
  },
  {
    row: 'too large',
    script: { content: '552 5.3.4 Too big' },
    outcome: { kind: 'rejected', code: 'message_too_large', scope: 'message' },
  },
  {
    row: 'sender refused',
    script: { mail: '550 5.1.8 Unknown sender' },
    outcome: { kind: 'rejected', code: 'invalid_sender', scope: 'account' },
  },
  {
    row: 'credentials refused',
    script: { auth: '535 5.7.8 "correct horse" is wrong' },
    outcome: { kind: 'rejected', code: 'provider_auth_failed', scope: 'account' },
  },
  {
    row: 'out of service',
    script: { greeting: '421 Busy' },
    outcome: { kind: 'retry', code: 'provider_unavailable', scope: 'provider' },
  },
  {
    row: 'an unusable reply to the content',
    script: { content: 'eh?' },
    outcome: { kind: 'ambiguous' },
  },
]

const addressesOf = (given: AddressObject | AddressObject[] | undefined): string[] =>
  [given ?? []].flat().flatMap(({ value }) => value.map(({ address = '' }) => address))

/** The SMTP channel before a server that says what a test wants. */
export async function smtpHarness(): Promise<ProviderHarness> {
  const server = await scriptedSmtp()
  const channelAt = (host: string, port: number) =>
    smtp({
      host,
      port,
      from: 'no-reply@example.org',
      auth: { user: 'mailer', pass: 'correct horse' },
      maxConnections: 4,
    })
  const message = { to: 'ada@example.com', subject: 'Hello', body: '', format: 'text' } as const
  return {
    provider: channelAt('127.0.0.1', server.port),
    message,
    secrets: ['correct horse', Buffer.from('\0mailer\0correct horse').toString('base64')],
    act(how) {
      if (how.kind === 'answer') server.play(SMTP_ROWS.find(({ row }) => row === how.row)?.script ?? {})
      else server.play({ accept: {}, hang: { content: 'HANG' }, break: { content: 'RESET' } }[how.kind])
    },
    async taken() {
      const parsed = await Promise.all(server.mails.map(({ source }) => simpleParser(source)))
      return parsed.map((mail, index) => {
        const { text = '', html, messageId = null, attachments } = mail
        const addressees = server.mails[index]?.addressees ?? []
        const [cc, replyTo, to] = [addressesOf(mail.cc), addressesOf(mail.replyTo), addressesOf(mail.to)]
        const bcc = addressees.filter((address) => !to.includes(address) && !cc.includes(address))
        return {
          to: addressees.find((address) => to.includes(address)) ?? '',
          body: text,
          id: messageId,
          mail: {
            ...{ cc, bcc, replyTo, text, html: html === false ? null : html },
            attachments: attachments.map(({ filename = '', ...file }) => ({ ...file, filename })),
          },
        }
      })
    },
    hanging: server.hanging,
    mostConnections: () => server.mostOpen,
    drained: server.drained,
    elsewhere: (host, port) => ({ provider: channelAt(host, port), message }),
    close: server.close,
  }
}
