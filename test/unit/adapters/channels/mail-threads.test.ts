import { expect, it } from 'vitest'
import { mailContent } from '../../../../adapters/channels/kit/mail/mail-content.ts'
import { mailFrame } from '../../../../adapters/channels/kit/mail/mail-frame.ts'
import { mailgun } from '../../../../adapters/channels/mailgun/send.ts'
import { postmark } from '../../../../adapters/channels/postmark/send.ts'
import { resend } from '../../../../adapters/channels/resend/send.ts'
import { sendgrid } from '../../../../adapters/channels/sendgrid/send.ts'
import { ses } from '../../../../adapters/channels/ses/send.ts'
import { smtp } from '../../../../adapters/channels/smtp/send.ts'

const from = 'Shop <shop@example.org>'
const senders = ['example.net']
const options = { from, senders }
const earlier = {
  notificationId: 'notif_1',
  to: 'Ada@bücher.example',
  parts: undefined,
  providerMessageId: 'a1',
}

/** The Message-ID with which a mail is composed. */
function composed(sender?: string): string {
  const frame = mailFrame('x', { ...options, headers: {}, toText: undefined })
  const email = sender === undefined ? undefined : { from: { address: sender } }
  const message = { to: earlier.to, subject: null, body: 'Hi', format: 'text', email } as const
  const { value } = mailContent(frame, message, earlier.notificationId, null).next()
  return (value as { messageId: string }).messageId
}

const ours = {
  smtp: smtp({ host: 'localhost', ...options }),
  sendgrid: sendgrid({ apiKey: 'SG.k', ...options }),
  postmark: postmark({ serverToken: 'token', ...options }),
  mailgun: mailgun({ apiKey: 'key', domain: 'mg.example.org', ...options }),
}

it.each(Object.entries(ours))(
  '%s names a mail by the Message-ID with which it composed it',
  (_, provider) => {
    expect(provider.threadIdOf?.(earlier)).toBe(composed())
    const parts = { from: { address: 'news@example.net' } }
    expect(provider.threadIdOf?.({ ...earlier, parts, providerMessageId: null })).toBe(
      composed('news@example.net'),
    )
    expect(provider.threadIdOf?.({ ...earlier, to: '' })).toBeNull()
  },
)

it.each(['smtp', 'mailgun'] as const)('%s prefers a Message-ID that its server answered', (name) => {
  const accepted = { ...earlier, providerMessageId: 'b2@mail.example.com' }
  expect(ours[name].threadIdOf?.(accepted)).toBe('<b2@mail.example.com>')
})

it.each([
  ['us-east-1', '<a1@email.amazonses.com>'],
  ['eu-central-1', '<a1@eu-central-1.amazonses.com>'],
])('ses sets its own, by its region %s', (region, id) => {
  const provider = ses({ region, ...options })
  expect(provider.threadIdOf?.(earlier)).toBe(id)
  expect(provider.threadIdOf?.({ ...earlier, providerMessageId: null })).toBeNull()
})

it('resend tells none', () => {
  expect(resend({ apiKey: 're_k', ...options }).threadIdOf).toBeUndefined()
})
