import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import * as z from 'zod'
import { ROUTES } from '../../src/routes.ts'
import { custodyWorld } from '../support/custody-world.ts'
import { eventually } from '../support/eventually.ts'
import { describeEachWith } from '../support/left-out.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'
import { storedText } from '../support/stored-text.ts'

const MARK = 'mrkq'
/** Each mark ends with the field that it was planted through. */
const marked = (field: string): string => `${MARK}-${field.replace(/[^a-z]/gi, '')}`
const ADDRESS = `${marked('to')}@example.com`
const BOB = 'bob@example.com'
const RECIPIENT = marked('recipient')

/** Operations whose bodies concern no recipient. */
const EXEMPT: Readonly<Record<string, string>> = {
  explainMessage: 'stores nothing',
  rescheduleNotification: 'a time',
  retryDeadLetters: 'stores nothing of its filter',
  createTemplate: 'text for all recipients',
  updateTemplate: 'text for all recipients',
  previewTemplate: 'stores nothing',
  previewTemplateDraft: 'stores nothing',
  saveTemplateDraft: 'text for all recipients',
  publishTemplateDraft: 'numbers',
  lintTemplate: 'stores nothing',
  lintTemplateDraft: 'stores nothing',
  createLayout: 'text for all recipients',
  updateLayout: 'text for all recipients',
  createPartial: 'text for all recipients',
  updatePartial: 'text for all recipients',
  putCatalogue: 'text for all recipients',
  createApiKey: 'belongs to an application',
  rotateApiKey: 'a time',
  createWebhook: 'belongs to the organization',
  updateWebhook: 'belongs to the organization',
  rotateWebhookSecret: 'a time',
  redeliverWebhook: 'a time',
  createCategory: 'a setting',
  updateCategory: 'a setting',
  createOrganization: 'a tenant',
  updateOrganization: 'a tenant',
  changeOrganizationPreferences: 'of no person',
  replaceOrganizationPreferences: 'of no person',
  erasePerson: 'is the erasure',
  exportPerson: 'is the export',
  replacePreferences: 'as changePreferences',
  sendBatch: 'its items are those of sendNotification',
}

/** Fields of the others that concern no recipient. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  sendNotification: [
    'channel',
    'channels',
    'template',
    'locale',
    'timeZone',
    'format',
    'sensitive',
    'category',
    'priority',
    'sendAt',
    'expiresAt',
    'sms',
    'push',
    'slack',
    'webhook',
  ],
  addSuppression: ['channel', 'reason'],
  changePreferences: ['channels', 'categories'],
}

/** What the test plants, by field. */
const PLANTED: Readonly<Record<string, readonly string[]>> = {
  sendNotification: [
    'to',
    'recipient',
    'subject',
    'html',
    'text',
    'body',
    'variables',
    'data',
    'metadata',
    'email',
  ],
  addSuppression: ['to', 'source'],
  changePreferences: ['quietHours'],
}

it('every field of a body is planted, or concerns no recipient', () => {
  for (const { operation, body } of ROUTES) {
    if (!(body instanceof z.ZodObject) || operation in EXEMPT) continue
    const { properties = {} } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
    const known = [...(FIELDS[operation] ?? []), ...(PLANTED[operation] ?? [])]
    expect([operation, Object.keys(properties).filter((name) => !known.includes(name))]).toEqual([
      operation,
      [],
    ])
  }
})

async function echoingEndpoint(): Promise<string> {
  const server = createServer((req, res) => void req.pipe(res))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describeEachWith(STORAGES, whyNoStorage, 'a person on %s', (_name, locationOf) => {
  it('is complete in the export, and gone after the erasure', { timeout: 120_000 }, async () => {
    const location = await locationOf()
    const { notifier, exported, erase, sent, storage } = await custodyWorld(location, {
      webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
      recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: ADDRESS } }])) },
      send: async ({ to, body }) =>
        body.includes('fails')
          ? {
              kind: 'rejected',
              code: 'invalid_recipient',
              scope: 'message',
              message: `No ${marked('answer')}`,
            }
          : { kind: 'accepted', providerMessageId: to === BOB ? 'other' : marked('messageid') },
    })
    await notifier.webhooks.create({ url: await echoingEndpoint() })
    await notifier.templates.create({
      name: 'hello',
      channel: 'email',
      subject: 'Hi {{name}}',
      body: 'Hi {{name}}',
    })
    const upload = await notifier.attachments.upload(Buffer.from(marked('upload')), {
      filename: `${marked('uploadname')}.txt`,
      contentType: 'text/plain',
    })
    const to = { channel: 'email', to: ADDRESS } as const
    await notifier.send(
      {
        ...to,
        subject: marked('subject'),
        html: `<p>${marked('html')}</p>`,
        text: marked('text'),
        metadata: { order: marked('metadata') },
        email: {
          cc: [`${marked('cc')}@example.com`],
          bcc: [`${marked('bcc')}@example.com`],
          replyTo: `${marked('replyto')}@example.com`,
          headers: { 'X-Note': marked('headers') },
          attachments: [
            { id: upload.id },
            {
              filename: `${marked('filename')}.txt`,
              contentType: 'text/plain',
              content: Buffer.from(marked('content')).toString('base64'),
            },
          ],
        },
      } as never,
      { idempotencyKey: 'once' },
    )
    await notifier.send({ ...to, template: 'hello', variables: { name: marked('variables') } } as never)
    await notifier.send({ ...to, subject: 'x', body: `fails ${marked('body')}` })
    await notifier.send({ channel: 'email', recipient: RECIPIENT, subject: 'x', body: marked('data') })
    await notifier.send({
      channel: 'email',
      to: BOB,
      subject: 'x',
      body: 'x',
      email: { cc: [{ name: marked('ccname'), address: ADDRESS }] },
    } as never)
    await notifier.sendBatch(
      [
        { ...to, subject: 'x', body: marked('batch') },
        { channel: 'email', to: 'wrong', body: 'x' },
      ],
      {
        idempotencyKey: 'batch',
      } as never,
    )
    await eventually(async () => sent.length === 6)
    const quietHours = { windows: [{ from: '22:00', to: '07:00' }], zone: 'Europe/Vienna' }
    await notifier.preferences.change({ recipient: RECIPIENT }, { quietHours })
    await notifier.preferences.change(to, { channels: { email: true } })
    await notifier.suppressions.add({ ...to, source: marked('source') })
    await eventually(async () => {
      const { items } = await notifier.notifications.list({ to: ADDRESS })
      return items.length > 0 && items.every(({ status }) => status !== 'queued')
    })
    // The endpoint echoes what it gets.
    await eventually(async () => {
      const [endpoint] = (await notifier.webhooks.list()).items
      const { items } = await notifier.webhooks.deliveries(endpoint?.id ?? '', { limit: 100 })
      return items.length > 5 && items.every(({ status }) => status === 'delivered')
    })
    const text = JSON.stringify([...(await exported(to)), ...(await exported({ recipient: RECIPIENT }))])
    for (const field of [
      'to',
      'recipient',
      'subject',
      'html',
      'text',
      'metadata',
      'cc',
      'replyto',
      'headers',
      'filename',
      'uploadname',
      'variables',
      'body',
      'data',
      'ccname',
      'batch',
      'source',
      'answer',
      'messageid',
    ])
      expect([field, text.includes(marked(field))]).toEqual([field, true])
    // The addressee was not shown it.
    expect(text).not.toContain(marked('bcc'))
    for (const field of ['content', 'upload']) {
      const base64 = Buffer.from(marked(field)).toString('base64')
      expect([field, text.includes(base64)]).toEqual([field, true])
    }
    await erase(to)
    await erase({ recipient: RECIPIENT })
    await notifier.stop()
    await storage.stop()
    const stored = storedText(location)
    expect(stored).toContain('(erased)')
    const found = stored.match(new RegExp(`[^]{0,60}${MARK}[^]{0,40}`, 'g')) ?? []
    const left = new Set(found.map((one) => one.replace(/[^ -~]/g, '.')))
    expect([...left]).toEqual([])
    for (const field of ['content', 'upload'])
      expect(stored).not.toContain(Buffer.from(marked(field)).toString('base64'))
  })
})
