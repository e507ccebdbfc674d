import { expect, it, onTestFinished } from 'vitest'
import { telegram } from '../../adapters/channels/telegram/send.ts'
import { notifierFetch } from '../../adapters/http/fetch.ts'
import { createNotifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { eventually } from '../support/eventually.ts'
import { inMemory } from '../support/in-memory.ts'

/* A channel whose kind comes with its provider, from a send to an update of the person who blocks the bot. */

const SECRET = 'secret-token-of-the-webhook'

async function start() {
  const server = await providerServer({
    accept: (_, number) => ({
      status: 200,
      body: { ok: true, result: { message_id: number, chat: { id: 42 } } },
    }),
  })
  const provider = telegram({
    token: `1:${'a'.repeat(35)}`,
    baseUrl: server.url,
    receipts: { secret: SECRET },
  })
  const notifier = createNotifier({ storage: inMemory(), channels: { telegram: provider } })
  await notifier.start()
  onTestFinished(async () => {
    await notifier.stop()
    await server.close()
  })
  const taken = (count: number) =>
    eventually(
      () =>
        server.taken.length === count &&
        server.taken.map(({ body }) => JSON.parse(body.toString('utf8')) as unknown),
    )
  return { notifier, taken }
}

it('sends text and parts, as they are and by a template, and checks them before', async () => {
  const { notifier, taken } = await start()
  const to = '@News'
  await notifier.send({ channel: 'telegram', to, body: '<b>Hi</b>', telegram: { silent: true } })
  await notifier.templates.create({ name: 'hi', channel: 'telegram', body: 'Hi *{{name}}*' })
  await taken(1)
  await notifier.send({ to, template: 'hi', variables: { name: '_Ada_ & <Bob>' } })
  expect(await taken(2)).toEqual([
    { chat_id: to, text: '<b>Hi</b>', disable_notification: true },
    { chat_id: to, text: 'Hi *_Ada_ & <Bob>*' },
  ])

  const message = { channel: 'telegram', to, body: 'Hi' } as const
  await expect(notifier.send({ ...message, to: 'ada@example.com' })).rejects.toMatchObject({
    code: 'invalid_recipient',
  })
  await expect(notifier.send({ ...message, body: 'a'.repeat(4_097) })).rejects.toMatchObject({
    code: 'message_too_large',
  })
  await expect(notifier.send({ ...message, body: ' ' })).rejects.toMatchObject({ code: 'invalid_parameter' })
  await expect(
    // @ts-expect-error an option of the Bot API, which the channel does not take
    notifier.send({ ...message, telegram: { parse_mode: 'HTML' } }),
  ).rejects.toMatchObject({ code: 'invalid_parameter' })
  await expect(notifier.send({ ...message, format: 'html' })).rejects.toMatchObject({
    code: 'invalid_parameter',
  })
})

it('suppresses who blocks the bot, until they unblock it', async () => {
  const { notifier, taken } = await start()
  let update = 0
  const change = async (status: string, secret = SECRET) => {
    update += 1
    const body = {
      update_id: update,
      my_chat_member: { chat: { id: 42, type: 'private' }, new_chat_member: { status } },
    }
    const request = new Request('https://app.example/receipts/telegram/telegram', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret },
      body: JSON.stringify(body),
    })
    const connection = { remoteAddress: '192.0.2.1', encrypted: true }
    return (await notifierFetch(notifier)(request, connection))?.status
  }
  const send = () => notifier.send({ channel: 'telegram', to: '42', body: 'Hi' })

  expect(await change('kicked', 'another-secret-token')).toBe(401)
  await send()
  expect(await taken(1)).toHaveLength(1)
  expect(await change('kicked')).toBe(200)
  await expect(send()).rejects.toMatchObject({ code: 'unsubscribed' })
  expect(await change('member')).toBe(200)
  await send()
  expect(await taken(2)).toHaveLength(2)
})
