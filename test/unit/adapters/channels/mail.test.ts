import { describe, expect, it } from 'vitest'
import { composeMail } from '../../../../adapters/channels/email/mail.ts'
import { isMail, mailContent } from '../../../../adapters/channels/email/mail-content.ts'

const frame = {
  from: { name: 'Ada, "Countess"', address: 'ada@example.org' },
  replyTo: null,
  headers: {},
  toText: () => 'text',
}

describe('composeMail', () => {
  it('states the envelope and gives every address as an object, so that none is parsed again', () => {
    const message = { to: 'bob@bücher.example', subject: 'Hi', body: 'Hello', format: 'text' } as const
    const content = mailContent(frame, message, 'notif_1')
    expect(isMail(content) && composeMail(content)).toEqual({
      from: frame.from,
      to: [{ name: '', address: 'bob@xn--bcher-kva.example' }],
      envelope: { from: 'ada@example.org', to: ['bob@xn--bcher-kva.example'] },
      maxRecipients: 1,
      subject: 'Hi',
      messageId: expect.stringMatching(/^<notif_1\.[0-9a-f]{8}@example\.org>$/),
      headers: { 'Auto-Submitted': 'auto-generated' },
      text: 'Hello',
    })
  })
})
