import { afterEach, describe, expect, it } from 'vitest'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { inMemory } from '../../support/in-memory.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

describe('over REST', () => {
  let host: Host
  let auth: { authorization: string }
  afterEach(() => host.close())

  async function start(): Promise<void> {
    const clock = fakeClock()
    host = await startHost({ clock, storage: inMemory(clock) })
    auth = await host.key()
  }
  const post = (path: string, body: unknown): Promise<Answer> =>
    host.call({ method: 'POST', path, headers: auth, body })

  it('a batch of 10,000 keeps its order, good and bad mixed, each validated separately', async () => {
    await start()
    await host.notifier.templates.create({ name: 'welcome', channel: 'email', body: 'Hi {{name}}' })
    const kinds = [
      [{ channel: 'email', body: 'Hi' }, undefined],
      [{ channel: 'email', body: 'Hi', to: 'nobody' }, 'invalid_email'],
      [{ template: 'welcome', variables: { name: 'Ada' } }, undefined],
      [{ template: 'welcome' }, 'invalid_template_variable'],
      [{ template: 'none' }, 'template_not_found'],
      [{ channel: 'pigeon', body: 'Hi' }, 'invalid_channel'],
      [{ channel: 'email' }, 'missing_required_field'],
      [{ channel: 'email', body: 7 }, 'invalid_parameter'],
      [null, 'invalid_parameter'],
    ] as const
    const kindOf = (index: number) => kinds[index % kinds.length] ?? kinds[0]
    const notifications = Array.from({ length: 10_000 }, (_item, index) => {
      const [message] = kindOf(index)
      return message === null ? message : { to: `user${index}@example.com`, ...message }
    })
    const { status, json } = await post('/v1/notifications/batch', { notifications })
    expect(status).toBe(201)
    const items = json?.items as { index: number; id?: string; error?: { code: string } }[]
    const good = items.filter(({ id }) => id !== undefined)
    expect(items.map(({ index }) => index)).toEqual(notifications.map((_item, index) => index))
    expect(items.map(({ error }) => error?.code)).toEqual(
      notifications.map((_item, index) => kindOf(index)[1]),
    )
    expect(json).toMatchObject({ accepted: good.length, rejected: 10_000 - good.length })
    for (const position of [0, 1, 1234, good.length - 1]) {
      const { id, index } = good[position] ?? {}
      expect(await host.notifier.notifications.get(String(id))).toMatchObject({
        to: `user${index}@example.com`,
      })
    }
    expect(new Set(good.map(({ id }) => id)).size).toBe(good.length)
  })

  it('a batch with more values than are parsed at once is still validated item by item', async () => {
    await start()
    const names = (count: number, from: number): Record<string, number> =>
      Object.fromEntries(Array.from({ length: count }, (_name, index) => [`n${from + index}`, index]))
    await host.notifier.templates.create({ name: 'welcome', channel: 'email', body: 'Hi {{n5}}{{n50005}}' })
    const items = Array.from({ length: 30 }, (_item, index) => ({
      to: `user${index}@example.com`,
      template: 'welcome',
      variables: { n5: 'Ada', n50005: '', ...names(5_000, 10_000 * index) },
    }))
    const wrong = { to: 'x@example.com', channel: 'email', body: 'Hi', email: { headers: names(10_000, 0) } }
    const { status, json } = await post('/v1/notifications/batch', { notifications: [...items, wrong] })
    expect(status).toBe(201)
    expect(json).toMatchObject({ accepted: 30, rejected: 1 })
    expect((json as { items: unknown[] }).items.at(-1)).toMatchObject({
      error: { message: '"email.headers": at most 20 headers.' },
    })

    const huge = { ...wrong, email: { headers: names(100_001, 0) } }
    const answer = await post('/v1/notifications/batch', { notifications: [...items, huge] })
    expect(answer.status).toBe(400)
    expect(codeOf(answer)).toBe('invalid_parameter')
    expect(JSON.stringify(answer.json)).toContain('has more than 25000 values and names')

    const dense = { to: 'ada@example.com', template: 'welcome', variables: { l: Array(740).fill(0) } }
    const many = await post('/v1/notifications/batch', { notifications: Array(700).fill(dense) })
    expect(many).toMatchObject({
      status: 400,
      json: {
        error: {
          code: 'invalid_parameter',
          message: expect.stringContaining('more than 500000 values and names in all'),
        },
      },
    })
  })

  it('a batch of 10,001 is refused whole, and so is an empty one or none', async () => {
    await start()
    const item = { channel: 'email', to: 'ada@example.com', body: 'Hi' }
    for (const notifications of [Array(10_001).fill(item), [], {}, 'x', null]) {
      const answer = await post('/v1/notifications/batch', { notifications })
      expect([answer.status, codeOf(answer)]).toEqual([422, 'invalid_parameter'])
    }
    expect(codeOf(await post('/v1/notifications/batch', {}))).toBe('missing_required_field')
    expect((await host.notifier.notifications.list()).items).toEqual([])
  })

  it('of ten parallel creations of one template name, one is 201 and nine are 409', async () => {
    await start()
    for (const name of ['one', 'two', 'three']) {
      const paths = ['/v1/templates', '/admin/templates?orgId=org_default']
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_item, index) =>
          post(paths[index % 2] ?? '', { name, channel: 'email', body: `Version ${index}` }),
        ),
      )
      const created = answers.filter(({ status }) => status === 201)
      expect(created).toHaveLength(1)
      for (const answer of answers) {
        if (answer.status !== 201)
          expect([answer.status, codeOf(answer)]).toEqual([409, 'template_already_exists'])
      }
      const kept = await host.call({ path: `/v1/templates/${name}`, headers: auth })
      expect(kept.json).toEqual(created[0]?.json)
    }
  })
})
