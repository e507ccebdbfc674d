import { expect, it, onTestFinished } from 'vitest'
import { discord } from '../../adapters/channels/discord/send.ts'
import { createNotifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { eventually } from '../support/eventually.ts'
import { inMemory } from '../support/in-memory.ts'

it('posts to the webhook that stands for a channel, with the values of a template escaped', async () => {
  const server = await providerServer({
    accept: (_, number) => ({ status: 200, body: { id: `1${number}` } }),
  })
  const url = (id: number) => `${server.url}/api/webhooks/12345678901234567${id}/${'a'.repeat(68)}`
  const notifier = createNotifier({
    storage: inMemory(),
    channels: {
      discord: [
        discord({ url: url(1), to: '#alerts' }),
        discord({ name: 'ops', url: url(2), to: ['#Ops', '123456789012345678'] }),
      ],
    },
  })
  await notifier.start()
  onTestFinished(async () => {
    await notifier.stop()
    await server.close()
  })
  await notifier.templates.create({ name: 'down', channel: 'discord', body: '**{{host}}** is down' })
  const message = { template: 'down', variables: { host: '@everyone [db_1](https://evil.example)' } }
  await notifier.send({ channel: 'discord', to: '#OPS', ...message })
  await eventually(() => server.taken.length === 1)
  const [request] = server.taken
  expect(request?.path).toContain('/123456789012345672/')
  expect(JSON.parse(String(request?.body))).toEqual({
    content: '**@everyone \\[db\\_1\\]\\(https://evil.example\\)** is down',
    allowed_mentions: { parse: [] },
  })

  const embeds = [{ title: 'db_1 is up' }]
  await notifier.send({ channel: 'discord', to: '#alerts', discord: { embeds } })
  await eventually(() => server.taken.length === 2)
  expect(JSON.parse(String(server.taken[1]?.body))).toMatchObject({ content: '', embeds })

  const rejects = async (more: object, code: string) =>
    expect(notifier.send({ channel: 'discord', to: '#alerts', body: 'Hi', ...more })).rejects.toMatchObject({
      code,
    })
  await rejects({ to: '#general' }, 'invalid_recipient')
  await rejects({ body: 'a'.repeat(2_001) }, 'message_too_large')
  await rejects({ body: ' ' }, 'invalid_parameter')
  await rejects({ discord: { mentions: { everyone: true } } }, 'invalid_parameter')
})
