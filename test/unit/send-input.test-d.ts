import { it } from 'vitest'
import type { SendInput as AnySendInput, BuiltInInputs, Notifier } from '../../src/index.ts'

declare function send(...args: Parameters<Notifier<never, BuiltInInputs>['send']>): void
declare function sendBatch(...args: Parameters<Notifier<never, BuiltInInputs>['sendBatch']>): void
type SendInput = AnySendInput<BuiltInInputs>
declare const subject: string | undefined
declare const template: string | undefined
const to = 'ada@example.com'

it('a message has a template, or a channel and a text', () => {
  send({ to, template: 'welcome' })
  send({ to, channel: 'email', template: 'welcome', body: 'ignored' })
  send({ to, channel: 'email', body: 'Hi', subject, template })
  send({ to, ...(template === undefined ? { channel: 'email', body: 'Hi' } : { template }) })
  send({ to, channel: 'email', html: '<p>Hi</p>', subject })
  send({ to, channel: 'sms', text: 'Hi' })
  send({ to, channel: 'email', html: '<p>Hi</p>', text: 'Hi' })
  // @ts-expect-error: two texts of which one is all
  send({ to, channel: 'email', html: '<p>Hi</p>', body: 'Hi' })
  // @ts-expect-error: no channel
  send({ to, html: '<p>Hi</p>' })
  // The notifier decides whether the parts stand in for a text.
  send({ to, channel: 'push', push: { data: { order: '17' } } })
  // @ts-expect-error: no text
  send({ to, channel: 'email' })
  // @ts-expect-error: no text, and parts of another channel
  send({ to, channel: 'sms', push: { data: { order: '17' } } })
  // @ts-expect-error: no channel
  send({ to, body: 'Hi' })
  // @ts-expect-error: nothing to send
  send({ to })
  // @ts-expect-error: perhaps nothing to send
  send({ to, template })
  // @ts-expect-error: no recipient
  send({ channel: 'email', body: 'Hi' })
  // @ts-expect-error: no such field
  send({ to, channel: 'email', body: 'Hi', sentAt: new Date() })
  send({ recipient: 'user:42', channel: 'email', body: 'Hi' })
  send({ recipient: 'user:42', template: 'welcome' })
  // @ts-expect-error: an address and a person
  send({ to, recipient: 'user:42', channel: 'email', body: 'Hi' })
  // @ts-expect-error: an address and a person
  send({ to, recipient: 'user:42', template: 'welcome' })
})

it('messages of a batch are written inline, and built from others', () => {
  const people: { readonly email: string; readonly channel: keyof BuiltInInputs }[] = []
  sendBatch(people.map(({ email, channel }) => ({ to: email, channel, body: 'Hi' })))
  const message = { to, channel: 'email', body: 'Hi' } satisfies SendInput
  sendBatch(people.map(({ email }) => ({ ...message, to: email })))
  // @ts-expect-error: no body
  sendBatch(people.map(({ email, channel }) => ({ to: email, channel })))
})
