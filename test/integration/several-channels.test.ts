import { expect, it, onTestFinished } from 'vitest'
import { discord } from '../../adapters/channels/discord/send.ts'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { createNotifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { inMemory } from '../support/in-memory.ts'
import { startMailServer } from '../support/mail-server.ts'

it('one call reaches a person by mail and in a chat, each in its own form', async () => {
  const mails = await startMailServer()
  const chat = await providerServer({ accept: () => ({ status: 200, body: { id: '1' } }) })
  const url = `${chat.url}/api/webhooks/123456789012345671/${'a'.repeat(68)}`
  const ada = { channels: { email: ['ada@example.com', 'ada@example.org'], discord: '#ada' } }
  const notifier = createNotifier({
    storage: inMemory(),
    channels: {
      email: smtp({ host: '127.0.0.1', port: mails.port, from: 'shop@example.com' }),
      discord: discord({ url, to: '#ada' }),
    },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, ada])) },
  })
  await notifier.start()
  onTestFinished(async () => {
    await notifier.stop()
    await mails.close()
    await chat.close()
  })
  const { ids = [], groupId } = await notifier.send({
    recipient: 'user:42',
    channels: ['discord', 'email'],
    subject: 'Shipped',
    html: '<p>On its <b>way</b></p>',
    text: 'On its way',
    email: { attachments: [{ filename: 'a.txt', contentType: 'text/plain', content: 'SGVsbG8K' }] },
    discord: { embeds: [{ title: 'Order 17' }] },
  })
  expect(ids).toHaveLength(3)
  for (const id of ids) expect(await notifier.waitFor(id)).toMatchObject({ status: 'sent', groupId })
  expect(mails.inbox.map(({ to }) => to[0]).sort()).toEqual(['ada@example.com', 'ada@example.org'])
  for (const { parsed } of mails.inbox) {
    expect([parsed.subject, parsed.html, parsed.text]).toEqual([
      'Shipped',
      '<p>On its <b>way</b></p>',
      'On its way',
    ])
    expect(parsed.attachments.map(({ filename }) => filename)).toEqual(['a.txt'])
  }
  expect(chat.taken.map(({ body }) => JSON.parse(String(body)))).toMatchObject([
    { content: 'On its way', embeds: [{ title: 'Order 17' }] },
  ])
})
