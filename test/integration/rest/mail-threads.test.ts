import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { codeOf } from '../../support/http-client.ts'
import { type MailingHost, startMailingHost } from '../../support/mailing-host.ts'

let host: MailingHost
afterEach(() => host.close())

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Order 17', body: 'Hi' } as const

/** The headers of a sent mail that hold a thread together. */
async function threadOf(id: string): Promise<Record<string, unknown>> {
  await eventually(async () => (await host.notifier.notifications.get(id)).status === 'sent')
  const { headers } = host.inbox.at(-1)?.parsed ?? {}
  const names = ['message-id', 'in-reply-to', 'references']
  return Object.fromEntries(names.flatMap((name) => (headers?.has(name) ? [[name, headers.get(name)]] : [])))
}

async function sent(message: Parameters<MailingHost['notifier']['send']>[0]) {
  const { id } = await host.notifier.send(message)
  return { id, thread: await threadOf(id) }
}

describe('a mail that answers another one', () => {
  it('is in its thread, also over REST, in a batch and once more', async () => {
    host = await startMailingHost({})
    const first = await sent({ ...mail, email: { from: 'news@example.org' } })
    expect(first.thread).toEqual({ 'message-id': expect.stringMatching(/^<notif_\d+\..+@example\.org>$/) })
    const inThread = {
      'message-id': expect.any(String),
      'in-reply-to': first.thread['message-id'],
      references: first.thread['message-id'],
    }
    const email = { inReplyTo: first.id }
    const second = await sent({ ...mail, to: 'bob@example.com', email })
    expect(second.thread).toEqual(inThread)
    expect(second.thread['message-id']).not.toBe(first.thread['message-id'])

    const answer = await host.call({
      method: 'POST',
      path: '/v1/notifications',
      headers: await host.key(),
      body: { ...mail, email },
    })
    expect(answer.status, answer.text).toBe(201)
    expect(await threadOf(String(answer.json?.id))).toEqual(inThread)

    const { items } = await host.notifier.sendBatch([{ ...mail, email }])
    expect(await threadOf((items[0] as { id: string }).id)).toEqual(inThread)

    const again = await host.notifier.notifications.resend(second.id)
    expect(await threadOf(again.id)).toEqual(inThread)
    expect(await host.notifier.notifications.get(again.id, { rendered: true })).toMatchObject({
      rendered: { email },
    })
  })

  it('keeps headers of its own', async () => {
    host = await startMailingHost({})
    const first = await sent(mail)
    const headers = { references: '<a@example.com> <b@example.com>' }
    const { thread } = await sent({ ...mail, email: { inReplyTo: first.id, headers } })
    expect(thread).toMatchObject({
      'in-reply-to': first.thread['message-id'],
      references: ['<a@example.com>', '<b@example.com>'],
    })
  })

  it('must answer a mail of its organization', async () => {
    host = await startMailingHost({})
    await host.notifier.organizations.create({ id: 'org_other', name: 'Other' })
    const { id } = await host.notifier.organization('org_other').send(mail)
    const error = {
      code: 'notification_not_found',
      status: 422,
      details: { field: 'email.inReplyTo' },
    }
    for (const inReplyTo of [id, 'notif_1', 'x']) {
      const message = { ...mail, email: { inReplyTo } }
      await expect(host.notifier.send(message)).rejects.toMatchObject(error)
      await expect(host.notifier.validate(message)).rejects.toMatchObject(error)
      const { items, accepted } = await host.notifier.sendBatch([message, mail])
      expect(accepted).toBe(1)
      expect(items[0]).toMatchObject({ error: { code: error.code, details: error.details } })
      const answer = await host.call({
        method: 'POST',
        path: '/v1/notifications',
        headers: await host.key(),
        body: message,
      })
      expect([answer.status, codeOf(answer)]).toEqual([422, 'notification_not_found'])
    }
  })
})
