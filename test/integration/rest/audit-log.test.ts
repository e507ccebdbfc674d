import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Host, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'A text that someone reads.' } as const
const HOUR = 3_600_000

let host: Host

beforeEach(async () => {
  host = await startHost()
})
afterEach(() => host.close())

async function keyWith(grants: readonly 'content'[]) {
  const key = await host.notifier.apiKeys.create({ name: 'Support', permission: 'Read Only', grants })
  return { id: key.id, headers: { authorization: `Bearer ${key.secret}` } }
}

describe('a message that is read with the grant content', () => {
  it('makes an entry, once an hour for each reader', async () => {
    const { id } = await host.notifier.send(mail)
    const [one, other] = [await keyWith(['content']), await keyWith(['content'])]
    const read = async (headers: object, query = '?rendered=true') =>
      (await host.call({ path: `/v1/notifications/${id}${query}`, headers: { ...headers } })).status
    const readers = async () => {
      const { items } = await host.notifier.auditLog.list({ action: 'notification.content_read' })
      return items.map(({ actor, target }) => [actor.id, target.id])
    }
    for (const headers of [one.headers, one.headers, other.headers]) expect(await read(headers)).toBe(200)
    expect(await readers()).toEqual([
      [other.id, id],
      [one.id, id],
    ])
    host.clock.advance(HOUR)
    expect(await read(one.headers)).toBe(200)
    expect(await readers()).toHaveLength(3)
    expect(JSON.stringify(await host.notifier.auditLog.list())).not.toContain('someone reads')
  })

  it('makes none without its text, without the grant, or if there is no such message', async () => {
    const { id } = await host.notifier.send(mail)
    const [reader, other] = [await keyWith(['content']), await keyWith([])]
    const status = async (path: string, { headers }: typeof reader) =>
      (await host.call({ path, headers })).status
    expect(await status(`/v1/notifications/${id}`, reader)).toBe(200)
    expect(await status(`/v1/notifications/${id}?rendered=true`, other)).toBe(403)
    expect(await status(`/v1/notifications/notif_${'0'.repeat(34)}?rendered=true`, reader)).toBe(404)
    expect((await host.notifier.auditLog.list({ action: 'notification.content_read' })).items).toEqual([])
  })
})

describe('GET /v1/audit-log', () => {
  it('answers as the method in code, with filters and cursors', async () => {
    const headers = await host.key()
    for (const name of ['a', 'b', 'c'])
      await host.notifier.actingAs(name, () => host.notifier.categories.create({ id: name, name }))
    const { auditLog } = host.notifier
    const get = async (query: string) => (await host.call({ path: `/v1/audit-log${query}`, headers })).json
    expect(await get('')).toEqual(await auditLog.list())
    expect(await get('?actor=b')).toEqual(await auditLog.list({ actor: 'b' }))
    const first = await get('?action=category.created&limit=2')
    expect(first).toMatchObject({ items: [{ target: { id: 'c' } }, { target: { id: 'b' } }] })
    const rest = await get(`?action=category.created&cursor=${first?.nextCursor}`)
    expect(rest).toMatchObject({ items: [{ target: { id: 'a' } }], hasMore: false })
    const wrong = await host.call({ path: '/v1/audit-log?action=category.painted', headers })
    expect(wrong).toMatchObject({ status: 400, json: { error: { code: 'invalid_parameter' } } })
  })

  it('shows operators where they acted from, and organizations only that they did', async () => {
    await host.notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    const operator = await host.operatorKey()
    const own = await host.key('Full Access', 'org_acme')
    const headers = { ...operator, 'x-organization-id': 'org_acme', 'user-agent': 'c'.repeat(500) }
    const body = { id: 'news', name: 'News' }
    expect((await host.call({ method: 'POST', path: '/v1/categories', headers, body })).status).toBe(201)
    const entry = async (given: object) =>
      (await host.call({ path: '/v1/audit-log?action=category.created', headers: { ...given } })).json?.items
    const actor = { type: 'operator', name: 'test' }
    expect(await entry(own)).toMatchObject([{ actor, origin: null }])
    const all = await entry({ ...operator, 'x-organization-id': '*' })
    expect(all).toMatchObject([
      { actor, organizationId: 'org_acme', origin: { ip: '127.0.0.1', userAgent: 'c'.repeat(200) } },
    ])
  })

  it('names its own keys with where they acted from', async () => {
    const headers = { ...(await host.key()), 'user-agent': 'curl/8' }
    const body = { channel: 'email', to: 'ada@example.com' }
    await host.call({ method: 'POST', path: '/v1/suppressions', headers, body })
    const [entry] = (await host.notifier.auditLog.list({ action: 'suppression.added' })).items
    expect(entry).toMatchObject({
      actor: { type: 'key', name: 'test' },
      origin: { ip: '127.0.0.1', userAgent: 'curl/8' },
    })
  })

  it('tells requests that overlap apart, and knows the actors of code afterwards', async () => {
    const keys = await Promise.all([1, 2, 3].map(() => host.key()))
    const ids = ['a', 'b', 'c']
    const create = (id: string, index: number) => {
      const body = { id, name: id }
      return host.call({ method: 'POST', path: '/v1/categories', headers: keys[index] ?? {}, body })
    }
    await host.notifier.actingAs('ada', async () => {
      await Promise.all(ids.map(create))
      await host.notifier.categories.create({ id: 'd', name: 'd' })
    })
    await Promise.all(ids.map((id) => host.notifier.categories.update(id, { name: 'New' })))
    const { items } = await host.notifier.auditLog.list({ action: 'category.created' })
    const actors = new Map(items.map(({ target, actor }) => [target.id, actor.id]))
    expect(actors.get('d')).toBe('ada')
    expect(new Set(actors.values()).size).toBe(4)
    const updates = await host.notifier.auditLog.list({ action: 'category.updated' })
    expect(updates.items.map(({ actor }) => actor.id)).toEqual(['code', 'code', 'code'])
  })

  it('does not take the actor of a host application for a request with a key', async () => {
    const headers = await host.key()
    const body = { id: 'news', name: 'News' }
    await host.notifier.actingAs('middleware', () =>
      host.call({ method: 'POST', path: '/v1/categories', headers, body }),
    )
    const [entry] = (await host.notifier.auditLog.list({ action: 'category.created' })).items
    expect(entry?.actor.type).toBe('key')
  })
})
