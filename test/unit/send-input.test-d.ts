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

it('a message goes to several channels of a person', () => {
  const on = { recipient: 'user:42', channels: ['push', 'email'] } as const
  const chosen: (keyof BuiltInInputs)[] = []
  send({ ...on, text: 'Hi' })
  send({ recipient: 'user:42', channels: chosen, body: 'Hi', subject })
  send({
    ...on,
    html: '<p>Hi</p>',
    text: 'Hi',
    email: { replyTo: 'a@example.com' },
    push: { data: { a: 'b' } },
  })
  send({ ...on, push: { data: { a: 'b' } } })
  send({ ...on, text: 'Hi', sendAt: new Date(), metadata: { order: '17' } })
  sendBatch([
    { ...on, text: 'Hi' },
    { to, channel: 'email', body: 'Hi' },
  ])
  // @ts-expect-error: no text
  send({ ...on, subject: 'Hi' })
  // @ts-expect-error: two texts of which one is all
  send({ ...on, html: '<p>Hi</p>', body: 'Hi' })
  // @ts-expect-error: a channel as well
  send({ ...on, channel: 'email', text: 'Hi' })
  // @ts-expect-error: an address
  send({ channels: ['email'], to, text: 'Hi' })
  // @ts-expect-error: an address as well
  send({ ...on, to, text: 'Hi' })
  // @ts-expect-error: nobody
  send({ channels: ['email'], text: 'Hi' })
  send({ ...on, template: { push: 'welcome-push', email: 'welcome-mail' }, variables: { name: 'Ada' } })
  send({ ...on, template: { email: 'welcome-mail', push: 'welcome-push' }, email: { replyTo: to } })
  // @ts-expect-error: one template, which is of one channel
  send({ ...on, template: 'welcome' })
  // @ts-expect-error: a template for a channel that is not configured
  send({ ...on, template: { pager: 'welcome' } })
  // @ts-expect-error: a template by channel, and one channel
  send({ recipient: 'user:42', channel: 'email', template: { email: 'welcome' } })
  // @ts-expect-error: a template by channel, and no channels
  send({ recipient: 'user:42', template: { email: 'welcome' } })
  // @ts-expect-error: a channel that is not configured
  send({ recipient: 'user:42', channels: ['email', 'pager'], text: 'Hi' })
  // @ts-expect-error: one channel
  send({ recipient: 'user:42', channels: 'email', text: 'Hi' })
  // @ts-expect-error: parts that the channel does not have
  send({ ...on, text: 'Hi', push: { unknown: true } })
})

it('a notifier of any channels takes them, too', () => {
  const loose: AnySendInput = {
    recipient: 'user:42',
    channels: ['pager', 'email'],
    text: 'Hi',
    pager: { beeps: 3 },
  }
  // @ts-expect-error: an address
  const toAddress: AnySendInput = { to, channels: ['email'], text: 'Hi' }
  const ofTemplates: AnySendInput = {
    recipient: 'user:42',
    channels: ['email', 'pager'],
    template: { email: 'welcome-mail', pager: 'welcome-pager' },
    variables: { name: 'Ada' },
  }
  // @ts-expect-error: one template
  const ofTemplate: AnySendInput = { recipient: 'user:42', channels: ['email'], template: 'welcome' }
  void [loose, toAddress, ofTemplate, ofTemplates]
})
