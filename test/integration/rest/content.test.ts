import { afterEach, describe, expect, it } from 'vitest'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Grant, Permission, Provider } from '../../../src/index.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const SECRET = 'code-739154'
const code = {
  channel: 'email',
  to: 'ada@example.com',
  subject: SECRET,
  body: SECRET,
  sensitive: true,
} as const
const NOT_NOW = new Date(Date.now() + 3_600_000)

let host: Host
const logged: unknown[] = []
afterEach(async () => {
  await host.close()
  logged.length = 0
})

function start(send?: Provider['send']): Promise<Host> {
  const log = (message: string, fields?: object): void => void logged.push(message, fields)
  return startHost({
    logger: { debug: log, info: log, warn: log, error: log },
    ...(send === undefined ? {} : { channel: { name: 'recorder', onAmbiguous: 'fail', send } }),
  })
}

async function keyWith(permission: Permission, grants: readonly Grant[]) {
  const { secret } = await host.notifier.apiKeys.create({ name: 'k', permission, grants })
  return { authorization: `Bearer ${secret}` }
}

async function view(
  id: string,
  grants: readonly Grant[] = ['content'],
  query = '?rendered=true',
): Promise<Answer> {
  const headers = await keyWith('Read Only', grants)
  return host.call({ path: `/v1/notifications/${id}${query}`, headers })
}

async function settled(id: string, status: string): Promise<void> {
  await eventually(async () => {
    const record = await host.notifier.notifications.get(id)
    return record.status === status
  })
}

describe('the content of a message', () => {
  it('is shown as the recipient got it, of the template version that it was sent with', async () => {
    host = await start()
    const { templates, notifications } = host.notifier
    await templates.create({ name: 'hi', channel: 'email', subject: 'Hi {{name}}', body: '<p>{{name}}</p>' })
    const message = { to: 'ada@example.com', template: 'hi', variables: { name: 'A & B' } } as const
    const { id } = await host.notifier.send({ ...message, email: { replyTo: 'help@example.com' } })
    await settled(id, 'sent')
    await templates.update('hi', { body: 'edited' })
    await templates.delete('hi')
    const { json } = await view(id)
    expect(json?.rendered).toEqual({
      subject: 'Hi A & B',
      body: '<p>A &amp; B</p>',
      format: 'html',
      email: { replyTo: [{ address: 'help@example.com' }] },
    })
    expect(host.sent).toMatchObject([{ body: '<p>A &amp; B</p>' }])
    expect((await notifications.get(id, { rendered: true })).rendered).toEqual(json?.rendered)
    expect(await notifications.get(id)).not.toHaveProperty('rendered')
  })

  it.each(['Read Only', 'Write', 'Full Access'] as const)(
    'is not shown to a %s key without the grant',
    async (permission) => {
      host = await start()
      const { id } = await host.notifier.send({ ...code, sensitive: false, subject: 'Hi', sendAt: NOT_NOW })
      const without = await host.call({
        path: `/v1/notifications/${id}?rendered=true`,
        headers: await keyWith(permission, []),
      })
      expect([without.status, codeOf(without)]).toEqual([403, 'insufficient_permissions'])
      expect(without.json).toMatchObject({ error: { details: { required: 'content', granted: [] } } })
      for (const query of ['', '?rendered=false']) {
        const plain = await view(id, [], query)
        expect(plain.status).toBe(200)
        expect(plain.text).not.toContain(SECRET)
      }
      expect((await view(id)).text).toContain(SECRET)
      expect((await view(id, ['content'], '?rendered=yes')).status).toBe(400)
    },
  )
})

describe('the grant of a key', () => {
  it('is given by keys that have it, and shown in the list', async () => {
    host = await start()
    const body = { name: 'support', permission: 'Read Only', grants: ['content'] }
    const create = async (permission: Permission, grants: readonly Grant[]) =>
      host.call({
        method: 'POST',
        path: '/v1/api-keys',
        headers: await keyWith(permission, grants),
        body: JSON.stringify(body),
      })
    expect(codeOf(await create('Full Access', []))).toBe('insufficient_permissions')
    expect(codeOf(await create('Write', ['content']))).toBe('insufficient_permissions')
    const created = await create('Full Access', ['content'])
    expect([created.status, created.json?.grants]).toEqual([201, ['content']])
    const { items } = await host.notifier.apiKeys.list()
    expect(items.map(({ name, grants }) => [name, grants])).toContainEqual(['support', ['content']])
    const rotate = async (permission: Permission, grants: readonly Grant[]) =>
      host.call({
        method: 'POST',
        path: `/v1/api-keys/${created.json?.id}/rotate`,
        headers: await keyWith(permission, grants),
      })
    expect(codeOf(await rotate('Full Access', []))).toBe('insufficient_permissions')
    const rotated = await rotate('Full Access', ['content'])
    expect([rotated.status, rotated.json?.grants]).toEqual([201, ['content']])
    expect(rotated.json?.secret).not.toBe(created.json?.secret)
  })

  it('must be one that there is', async () => {
    host = await start()
    const wrong = { name: 'k', permission: 'Write', grants: ['everything'] } as never
    await expect(host.notifier.apiKeys.create(wrong)).rejects.toMatchObject({ code: 'invalid_parameter' })
  })
})

describe('a sensitive message', () => {
  it('arrives, and is hidden before, and gone after', async () => {
    host = await start()
    const { notifications } = host.notifier
    const { id } = await host.notifier.send({ ...code, sendAt: NOT_NOW })
    const waiting = await view(id)
    expect([waiting.status, codeOf(waiting)]).toEqual([403, 'sensitive_content'])
    expect((await view(id, [], '')).text).not.toContain(SECRET)
    expect(JSON.stringify(await notifications.list())).not.toContain(SECRET)
    await notifications.cancel(id)

    const { id: sent } = await host.notifier.send(code, { idempotencyKey: 'one' })
    await settled(sent, 'sent')
    expect(host.sent).toMatchObject([{ subject: SECRET, body: SECRET }])
    for (const ended of [id, sent]) {
      expect((await host.storage.notifications.get(ended))?.content).not.toHaveProperty('subject')
      await expect(notifications.resend(ended)).rejects.toMatchObject({
        code: 'content_removed',
        status: 409,
      })
      await expect(notifications.get(ended, { rendered: true })).rejects.toMatchObject({
        code: 'sensitive_content',
      })
    }
  })

  it.each([
    [
      'a refusal',
      async (): Promise<Outcome> => ({
        kind: 'rejected',
        scope: 'message',
        code: 'spam_detected',
        message: SECRET,
        providerCode: SECRET,
      }),
    ],
    ['a throw', async (): Promise<Outcome> => Promise.reject(new Error(SECRET))],
  ])('leaves no trace where %s of the provider repeats it', async (_title, answer) => {
    host = await start(answer)
    const { notifications, deadLetters } = host.notifier
    const errors: unknown[] = []
    host.notifier.on('error', (error) => void errors.push(error.message, error.cause))
    const { accepted, items } = await host.notifier.sendBatch([code])
    expect(accepted).toBe(1)
    const id = (items[0] as { id: string }).id
    await settled(id, 'failed')
    const shown = [await notifications.get(id), await deadLetters.list(), await host.notifier.logs.list()]
    expect(JSON.stringify([shown, logged, errors])).not.toContain(SECRET)
    await expect(notifications.retry(id)).rejects.toMatchObject({ code: 'content_removed', status: 409 })
    expect((await deadLetters.retry({ filter: {} })).skipped.contentRemoved).toBe(1)
  })
})
