import { expect, it, onTestFinished } from 'vitest'
import { type WhatsAppContent, whatsapp } from '../../adapters/channels/whatsapp/send.ts'
import { notifierFetch } from '../../adapters/http/fetch.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { inMemory } from '../support/in-memory.ts'

async function start() {
  const server = await providerServer({
    accept: (_request, number) => ({ status: 200, body: { messages: [{ id: `wamid.${number}` }] } }),
  })
  const notifier = createNotifier({
    storage: inMemory(),
    channels: { whatsapp: whatsapp({ accessToken: 'token', phoneNumberId: '17', baseUrl: server.url }) },
  })
  onTestFinished(async () => {
    await notifier.stop()
    await server.close()
  })
  await notifier.start()
  const to = '+4915112345678'
  const send = (body: string | undefined, parts?: WhatsAppContent, more: object = {}) =>
    notifier.send({
      channel: 'whatsapp',
      to,
      ...(body === undefined ? {} : { body }),
      whatsapp: parts,
      ...more,
    } as Parameters<typeof notifier.send>[0])
  return { server, notifier, send }
}

const approvedTemplate = { name: 'order_shipped', language: 'en_US' }

it('goes from a template of the vendor to its API, without a text', async () => {
  const { server, notifier, send } = await start()
  const { id } = await send(' ', { approvedTemplate })
  expect(await notifier.waitFor(id, { timeoutMs: 10_000 })).toMatchObject({ status: 'sent' })
  expect(JSON.parse(server.requests[0]?.body.toString() ?? '')).toMatchObject({
    type: 'template',
    template: { name: 'order_shipped', language: { code: 'en_US' } },
    biz_opaque_callback_data: id,
  })
})

it('needs no text beside a template of the vendor, over HTTP either', async () => {
  const { server, notifier, send } = await start()
  const { id } = await send(undefined, { approvedTemplate })
  expect(await notifier.waitFor(id, { timeoutMs: 10_000 })).toMatchObject({ status: 'sent' })
  const { rendered } = await notifier.notifications.get(id, { rendered: true })
  expect(rendered).toMatchObject({ body: '', whatsapp: { approvedTemplate } })
  const { secret } = await notifier.apiKeys.create({ name: 'k', permission: 'Write' })
  const post = async (parts: object) => {
    const request = new Request('https://localhost/v1/notify', {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ channel: 'whatsapp', to: '+4915112345678', whatsapp: parts }),
    })
    const answer = await notifierFetch(notifier)(request, { remoteAddress: undefined, encrypted: true })
    return { status: answer?.status, body: await answer?.json() }
  }
  expect(await post({ approvedTemplate })).toMatchObject({ status: 201 })
  expect(await post({ previewUrl: true })).toMatchObject({
    status: 422,
    body: { error: { code: 'missing_required_field', details: { field: 'body' } } },
  })
  const resent = await notifier.notifications.resend(id)
  expect(await notifier.waitFor(resent.id, { timeoutMs: 10_000 })).toMatchObject({ status: 'sent' })
  const bodies = server.requests.map(({ body }) => JSON.parse(body.toString()))
  expect(bodies).toHaveLength(3)
  for (const body of bodies) expect(body).toMatchObject({ type: 'template' })
})

it('takes a text as it is, up to 4096 characters', async () => {
  const { server, notifier, send } = await start()
  const { id } = await send(`*<&>* ${'é'.repeat(4_090)}`)
  await notifier.waitFor(id, { timeoutMs: 10_000 })
  expect(JSON.parse(server.requests[0]?.body.toString() ?? '').text.body).toMatch(/^\*<&>\* é{4090}$/)
  await expect(send('x'.repeat(4_097))).rejects.toMatchObject({ code: 'message_too_large' })
})

it.each([
  ['a blank text', ' ', undefined, {}, 'invalid_parameter'],
  ['no text', undefined, undefined, {}, 'missing_required_field'],
  ['no text, and parts that are none', undefined, { previewUrl: true }, {}, 'missing_required_field'],
  ['a national number', 'Hi', undefined, { to: '015112345678' }, 'invalid_phone'],
  ['a trunk prefix', 'Hi', undefined, { to: '+4407911123456' }, 'invalid_phone'],
  [
    'a template of another name',
    'Hi',
    { approvedTemplate: { ...approvedTemplate, name: 'A b' } },
    {},
    'invalid_parameter',
  ],
  [
    'a language that is none',
    'Hi',
    { approvedTemplate: { ...approvedTemplate, language: 'English' } },
    {},
    'invalid_parameter',
  ],
  [
    'no components',
    'Hi',
    { approvedTemplate: { ...approvedTemplate, components: [] } },
    {},
    'invalid_parameter',
  ],
  [
    'too many components',
    'Hi',
    { approvedTemplate: { ...approvedTemplate, components: Array(21).fill({}) } },
    {},
    'invalid_parameter',
  ],
  [
    'too large components',
    'Hi',
    { approvedTemplate: { ...approvedTemplate, components: [{ text: 'x'.repeat(30_000) }] } },
    {},
    'invalid_parameter',
  ],
  ['a wrong sid', 'Hi', { contentTemplate: { sid: 'HX1' } }, {}, 'invalid_parameter'],
  [
    'too many variables',
    'Hi',
    {
      contentTemplate: {
        sid: `HX${'0'.repeat(32)}`,
        variables: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [at, 'x'])),
      },
    },
    {},
    'invalid_parameter',
  ],
  ['an unknown part', 'Hi', { template: 'x' } as never, {}, 'invalid_parameter'],
] as const)('is refused with %s', async (_what, body, parts, more, code) => {
  const { send } = await start()
  await expect(send(body, parts as WhatsAppContent | undefined, more)).rejects.toMatchObject({ code })
})

it('is kept to the countries that an organization permits', async () => {
  const { notifier } = await start()
  await notifier.organizations.create({ id: 'org_us', name: 'US', smsCountries: ['+1'] })
  const message = { channel: 'whatsapp', to: '+4915112345678', body: 'Hi' } as const
  await expect(notifier.organization('org_us').send(message)).rejects.toMatchObject({
    code: 'region_not_permitted',
  })
})
