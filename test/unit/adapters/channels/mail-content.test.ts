import { describe, expect, it } from 'vitest'
import { htmlToText } from '../../../../adapters/channels/kit/mail/html-to-text.ts'
import { mailContent } from '../../../../adapters/channels/kit/mail/mail-content.ts'
import { finish } from '../../../../src/core/loop/steps.ts'
import type { Message } from '../../../../src/core/ports/provider.ts'

const frame = {
  from: { name: '', address: 'ada@example.org' },
  senders: new Set<string>(),
  replyTo: null,
  headers: {},
  toText: () => 'text',
}
const page = { to: 'bob@example.com', subject: 'Hi', body: '<p>Hello</p>', format: 'html' } as const

describe('a mail of what is no text is a fault of that message alone:', () => {
  const throws = (): never => {
    throw new Error('a bug of the application')
  }
  it.each<[string, object, object, string]>([
    ['its subject', { subject: {} }, {}, 'The subject is not text.'],
    ['its text alternative', { text: { path: '/etc/passwd' } }, {}, 'The text alternative is not text.'],
    ['its body', { body: { path: '/etc/passwd' } }, {}, 'The body is not text.'],
    [
      'a header',
      { email: { headers: { 'X-A': 5 } } },
      {},
      'A header cannot be sent: "X-A" is not one line of at most 900 characters.',
    ],
    [
      'what toText answers',
      {},
      { toText: () => undefined },
      'The option "toText" failed or returned no text.',
    ],
    ['toText throws', {}, { toText: throws }, 'The option "toText" failed or returned no text.'],
  ])('%s', (_name, change, option, message) => {
    const given = { ...page, ...change } as Message
    expect(finish(mailContent({ ...frame, ...option }, given, 'notif_1', htmlToText))).toEqual({
      kind: 'rejected',
      code: 'invalid_content',
      scope: 'message',
      message,
    })
  })
})
