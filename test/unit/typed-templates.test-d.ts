import * as v from 'valibot'
import { expectTypeOf, it } from 'vitest'
import * as z from 'zod'
import {
  createNotifier,
  defineTemplates,
  type Notifier,
  type Provider,
  type Tenant,
} from '../../src/index.ts'
import { readTemplates } from '../../src/template-files/index.ts'

declare const smtp: Provider
declare const twilio: Provider
declare const id: `tpl_${string}`
declare const name: string
const to = 'ada@example.com'

const templates = defineTemplates({
  welcome: {
    channel: 'email',
    variables: z.object({ name: z.string(), trials: z.number().default(1) }),
    example: { name: 'Ada' },
    subject: ({ variables }) => `${variables.name} ${variables.trials.toFixed()}`,
    html: async ({ variables, locale, timeZone, urls }) =>
      `<p>${variables.name}${locale}${timeZone}${urls.unsubscribeUrl}</p>`,
  },
  code: {
    channel: 'sms',
    // Before the schema.
    text: ({ variables }) => variables.code.toUpperCase(),
    variables: v.object({ code: v.string() }),
  },
  tips: { channel: 'email', subject: 'Tips', html: '<p>Tips</p>' },
  optional: {
    channel: 'email',
    variables: z.object({ name: z.string().optional() }),
    text: 'Hi {{name}}',
  },
  due: { channel: 'email', variables: z.object({ at: z.date(), on: z.coerce.date() }), text: 'x' },
  invoice: { channel: 'email', variables: z.object({ total: z.number() }), stored: true },
  translated: {
    channel: 'email',
    variables: z.object({ name: z.string() }),
    messages: true,
    subject: ({ variables, t }) => t('title', { name: variables.name.trim(), at: new Date(), n: 1 }),
    // @ts-expect-error: a value of a message is no object
    text: ({ t }) => t('title', { name: {} }),
  },
  // @ts-expect-error: only with `messages: true`
  plain: { channel: 'email', text: ({ t }) => t('title') },
})

const notifier = createNotifier({ channels: { email: smtp, sms: twilio }, templates })

it('a message for several channels names a template for each, with their variables', () => {
  const on = { recipient: 'user:42', channels: ['email', 'sms'] } as const
  void notifier.send({ ...on, text: 'Hi' })
  const template = { email: 'welcome', sms: 'code' } as const
  void notifier.send({ ...on, template, variables: { name: 'Ada', trials: 2, code: 'abc' } })
  void notifier.sendBatch([{ ...on, template, variables: { name: 'Ada', code: 'abc' } }])
  void notifier.send({ ...on, template: { email: id, sms: id }, variables: { any: 1 } })
  void notifier.send({ recipient: 'user:42', channels: ['email'], template: { email: 'tips' } })
  // @ts-expect-error: one template
  void notifier.send({ ...on, template: 'tips' })
  // @ts-expect-error: no such template
  void notifier.send({ ...on, template: { email: 'wellcome', sms: 'code' } })
  // @ts-expect-error: a template of another channel
  void notifier.send({ ...on, template: { email: 'code', sms: 'code' } })
  // @ts-expect-error: a variable of another type
  void notifier.send({ ...on, template, variables: { name: 'Ada', code: 1 } })
  // @ts-expect-error: not as data, which would not be typed
  void notifier.send({ ...on, template, data: { name: 'Ada', code: 'abc' } })
})

it('a message names a declared template with its variables', () => {
  void notifier.send({ to, template: 'welcome', variables: { name: 'Ada' } })
  void notifier.send({ to, template: 'welcome', variables: { name: 'Ada', trials: 2 }, subject: 'Hi' })
  void notifier.send({ to, channel: 'email', template: 'welcome', variables: { name: 'Ada' } })
  void notifier.send({ recipient: 'user:42', template: 'code', variables: { code: 'abc' } })
  void notifier.send({ to, template: 'invoice', variables: { total: 1 } })
  void notifier.send({ to, template: 'tips' })
  void notifier.send({ to, template: 'tips', variables: { anything: 1 } })
  void notifier.send({ to, template: 'optional' })
  void notifier.send({ to, channel: 'email', html: '<p>Hi</p>' })
  // @ts-expect-error: no such template
  void notifier.send({ to, template: 'wellcome', variables: { name: 'Ada' } })
  // @ts-expect-error: a variable of another type
  void notifier.send({ to, template: 'welcome', variables: { name: 1 } })
  // @ts-expect-error: an unknown variable
  void notifier.send({ to, template: 'welcome', variables: { name: 'Ada', nmae: 'Ada' } })
  // @ts-expect-error: a variable is missing
  void notifier.send({ to, template: 'welcome', variables: {} })
  // @ts-expect-error: no variables
  void notifier.send({ to, template: 'welcome' })
  // @ts-expect-error: not as data, which would not be typed
  void notifier.send({ to, template: 'welcome', data: { name: 'Ada' } })
  // @ts-expect-error: another channel
  void notifier.send({ to, channel: 'sms', template: 'welcome', variables: { name: 'Ada' } })
  // @ts-expect-error: the variables of another template
  void notifier.send({ to, template: 'code', variables: { name: 'Ada' } })
})

it('parts are those of the channel of the template', () => {
  const variables = { name: 'Ada' }
  void notifier.send({ to, template: 'welcome', variables, email: { replyTo: 'a@example.com' } })
  // @ts-expect-error: parts of another channel
  void notifier.send({ to, template: 'code', variables: { code: 'a' }, email: { replyTo: 'a@example.com' } })
})

it('a stored template is named by its id', () => {
  void notifier.send({ to, template: 'tpl_abc', variables: { any: 1 } })
  void notifier.send({ to, template: id })
  // @ts-expect-error: perhaps no template
  void notifier.send({ to, template: name })
})

it('what JSON cannot bring takes no value', () => {
  // @ts-expect-error: the schema would get a text
  void notifier.send({ to, template: 'due', variables: { at: new Date(), on: '2026-01-01' } })
})

it('batches, validation and organizations are typed alike', () => {
  void notifier.sendBatch([
    { to, template: 'welcome', variables: { name: 'Ada' } },
    { to, template: 'tips' },
  ])
  // @ts-expect-error: a variable of another type
  void notifier.sendBatch([{ to, template: 'welcome', variables: { name: 1 } }])
  // @ts-expect-error: no such template
  void notifier.validate({ to, template: 'wellcome' })
  const tenant = notifier.organization('org_a')
  void tenant.send({ to, template: 'welcome', variables: { name: 'Ada' } })
  // @ts-expect-error: no variables
  void tenant.send({ to, template: 'welcome' })
  const many = createNotifier({ channels: { email: smtp }, templates, organizations: 'required' })
  // @ts-expect-error: no variables
  void many.organization('org_a').send({ to, template: 'welcome' })
  // @ts-expect-error: its channel is not configured
  void many.organization('org_a').send({ to, template: 'code', variables: { code: 'a' } })
})

it('a typed notifier is a notifier', () => {
  expectTypeOf(notifier).toExtend<Notifier>()
  expectTypeOf(notifier.organization('org_a')).toExtend<Tenant>()
  const loose = createNotifier({ channels: { email: smtp } })
  void loose.send({ to, template: 'any', variables: { any: 1 } })
})

it('a definition is checked', () => {
  const variables = z.object({ n: z.number() })
  // @ts-expect-error: an example that the schema refuses
  defineTemplates({ a: { channel: 'email', variables, text: '', example: { n: 'x' } } })
  // @ts-expect-error: no such field
  defineTemplates({ a: { channel: 'email', htlm: '' } })
  // @ts-expect-error: no channel
  defineTemplates({ a: { html: '' } })
  // @ts-expect-error: a subject is a text
  defineTemplates({ a: { channel: 'email', subject: () => 1, text: '' } })
})

it('templates in files may have any name', async () => {
  const loaded = createNotifier({ channels: { email: smtp }, ...(await readTemplates('texts')) })
  void loaded.send({ to, template: name, variables: { any: 1 } })
  expectTypeOf(loaded).toExtend<Notifier>()
})
