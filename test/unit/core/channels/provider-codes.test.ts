import { expect, it, onTestFinished } from 'vitest'
import { ERRORS } from '../../../../src/core/errors/catalogue.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { eventually } from '../../../support/eventually.ts'
import { inMemory } from '../../../support/in-memory.ts'

async function start(answer: object) {
  const email = recordingProvider({
    retry: { kind: 'schedule', delaysMs: [], jitter: 0 },
    send: () => answer as never,
  })
  const notifier = createNotifier({ storage: inMemory(), channels: { email } })
  const heard: unknown[] = []
  notifier.on('attempt.failed', ({ data }) => heard.push(data.error))
  notifier.on('notification.failed', ({ data }) => heard.push(data.error))
  await notifier.start()
  onTestFinished(() => notifier.stop())
  return { notifier, heard }
}

const message = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' } as const

it('a word of the provider that the catalogue lacks is in the failure, its events, history and log', async () => {
  const { notifier, heard } = await start({ kind: 'rejected', code: 'its_own', scope: 'message' })
  const { id } = await notifier.send(message)
  await eventually(() => heard.length === 2)
  const error = {
    code: 'provider_error',
    message: ERRORS.provider_error.message,
    providerCode: 'its_own',
  }
  expect(heard).toEqual([error, error])
  const found = await notifier.notifications.get(id)
  expect(found.error).toEqual(error)
  const entry = { event: 'failed', error, providerCode: 'its_own' }
  expect(found.timeline.at(-1)).toMatchObject(entry)
  expect((await notifier.logs.list({ notificationId: id })).items[0]).toMatchObject(entry)
})

it('what gives up names the code of the last attempt', async () => {
  const { notifier, heard } = await start({
    kind: 'retry',
    code: 'provider_unavailable',
    scope: 'message',
    providerCode: '503',
  })
  const { id } = await notifier.send(message)
  await eventually(() => heard.length === 2)
  const { error } = await notifier.notifications.get(id)
  expect(error).toMatchObject({ code: 'attempts_exhausted', providerCode: '503' })
})

it('a sensitive message keeps no word of the provider', async () => {
  const { notifier, heard } = await start({ kind: 'rejected', code: 'its_own', scope: 'message' })
  const { id } = await notifier.send({ ...message, sensitive: true })
  await eventually(() => heard.length === 2)
  const { error } = await notifier.notifications.get(id)
  expect(error).toEqual({ code: 'provider_error', message: ERRORS.provider_error.message })
  expect(JSON.stringify(heard)).not.toContain('its_own')
})
