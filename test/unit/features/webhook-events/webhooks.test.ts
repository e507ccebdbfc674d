import { describe, expect, it } from 'vitest'
import type { PostRequest } from '../../../../src/core/ports/outgoing.ts'
import { organization } from '../../../../src/testing/storage/fixtures.ts'
import { answered, DAY, recordOf, URL, webhookWorld } from '../../../support/webhook-world.ts'

describe('webhook endpoints', () => {
  it.each([
    ['https://example.com/hook?a=%20b&c=d#e', undefined],
    ['https://example.com', undefined],
    ['https://example.com/a/../b', 'https://example.com/b'],
    ['HTTPS://Example.COM:443/Hook', 'https://example.com/Hook'],
    ['https:\\\\example.com\\hook', 'https://example.com/hook'],
    ['https:example.com/ä', 'https://example.com/%C3%A4'],
    ['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
    ['https://0x8.8.8.8/', 'https://8.8.8.8/'],
  ])('keep the address %s in the form in which they are checked and called', async (given, kept = given) => {
    const { webhooks, posts, emit } = await webhookWorld()
    const { id, url } = await webhooks.create({ url: given })
    const other = await webhooks.create({ url: URL })
    expect([url, (await webhooks.update(other.id, { url: given })).url]).toEqual([kept, kept])
    expect((await webhooks.get(id)).url).toBe(kept)
    await emit()
    expect(posts.map((post) => post.url)).toEqual([kept, kept])
  })

  it.each([
    ' https://example.com/',
    'https://example.com/ ',
    'https://exa\nmple.com/',
    'https://example.com/\tx',
    'https://example.com/\u0000',
    'https://example.com/\u00a0',
    'https://example.com/\ud800',
    `https://example.com/${'ä'.repeat(1_000)}`,
  ])('refuse the address %j', async (url) => {
    const { webhooks } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    const refused = { code: 'invalid_parameter', details: { field: 'url' } }
    await expect(webhooks.create({ url })).rejects.toMatchObject(refused)
    await expect(webhooks.update(id, { url })).rejects.toMatchObject(refused)
  })

  it('number fifty per organization at most, disabled ones included', async () => {
    const { webhooks } = await webhookWorld()
    const created = await Promise.all(Array.from({ length: 50 }, () => webhooks.create({ url: URL })))
    await webhooks.update(created[0]?.id ?? '', { status: 'disabled' })
    await expect(webhooks.create({ url: URL })).rejects.toMatchObject({
      code: 'endpoint_limit_reached',
      status: 409,
      details: { limit: 50 },
    })
    await webhooks.delete(created[1]?.id ?? '')
    await webhooks.create({ url: URL })
  })

  it('can change under the same checks as new ones', async () => {
    const { webhooks, posts, emit } = await webhookWorld()
    const { secret, ...hook } = await webhooks.create({ url: URL })
    const url = 'https://example.com/b'
    expect(await webhooks.update(hook.id, { url, successStatus: '2xx' })).toEqual({
      ...hook,
      url,
      successStatus: '2xx',
    })
    await expect(webhooks.update(hook.id, { url: 'https://127.0.0.1/' })).rejects.toMatchObject({
      code: 'blocked_address',
      details: { field: 'url' },
    })
    for (const change of [{ events: [] }, { events: ['x'] }, { status: 'gone' }, { url: '' }, { url: 1 }]) {
      await expect(webhooks.update(hook.id, change as never)).rejects.toMatchObject({
        code: 'invalid_parameter',
      })
    }
    expect((await webhooks.get(hook.id)).url).toBe(url)
    await emit()
    expect(posts.map((post) => post.url)).toEqual([url])
    expect(secret).toMatch(/^whsec_/)
  })

  it('are posted to for their organization, so that no other one uses the same connection', async () => {
    const { tenants, storage, posts } = await webhookWorld()
    await organization(storage, 'org_b')
    for (const owner of ['org_default', 'org_b']) {
      const { id } = await tenants.create(owner, { url: URL })
      await tenants.test(owner, id)
    }
    expect(posts.map(({ organizationId }) => organizationId)).toEqual(['org_default', 'org_b'])
  })

  it('sign with a new secret and up to four older ones until these expire', async () => {
    const { webhooks, posts, emit, signer, clock } = await webhookWorld()
    const { id, secret: first } = await webhooks.create({ url: URL })
    const signedWith = (secrets: string[]): string | undefined => {
      const { headers, body } = posts.at(-1) as PostRequest
      const at = Number(headers['webhook-timestamp'])
      return signer.headers(headers['webhook-id'] ?? '', at, String(body), secrets)['webhook-signature']
    }
    const signature = (): string | undefined => posts.at(-1)?.headers['webhook-signature']

    const { secret: second, ...shown } = await webhooks.rotateSecret(id)
    expect(shown).toEqual(await webhooks.get(id))
    expect(second).not.toBe(first)
    await emit()
    expect(signature()).toBe(signedWith([second, first]))
    await clock.advance(DAY - 1)
    await emit()
    expect(signature()).toBe(signedWith([second, first]))
    await clock.advance(1)
    await emit()
    expect(signature()).toBe(signedWith([second]))

    const { secret: third } = await webhooks.rotateSecret(id, { overlapMs: 0 })
    await emit()
    expect(signature()).toBe(signedWith([third]))
    for (let turn = 0; turn < 6; turn += 1) await webhooks.rotateSecret(id)
    await emit()
    expect(signature()?.split(' ')).toHaveLength(5)
    for (const overlapMs of [-1, 1.5, 31 * DAY, Number.NaN])
      await expect(webhooks.rotateSecret(id, { overlapMs })).rejects.toMatchObject({
        code: 'invalid_parameter',
      })
  })

  it('can be tested with a signed example that the delivery log keeps, even if disabled', async () => {
    const { webhooks, posts, world, signer } = await webhookWorld()
    const { id, secret } = await webhooks.create({ url: URL })
    expect(await webhooks.test(id)).toEqual({
      succeeded: true,
      status: 200,
      response: 'said 200',
      durationMs: 1,
      request: recordOf(posts[0]),
    })
    const { headers, body } = posts[0] as PostRequest
    expect(JSON.parse(String(body))).toMatchObject({
      event: 'webhook.test',
      data: { organizationId: 'org_default' },
    })
    const eventId = headers['webhook-id'] ?? ''
    expect(headers).toMatchObject(
      signer.headers(eventId, Number(headers['webhook-timestamp']), String(body), [secret]),
    )
    await webhooks.update(id, { status: 'disabled' })
    world.answer = () => answered(410)
    expect(await webhooks.test(id)).toMatchObject({ succeeded: false, status: 410 })
    expect(posts[1]?.headers['webhook-id']).not.toBe(eventId)
    expect(await webhooks.get(id)).toMatchObject({
      disabledReason: 'manual',
      failingSince: null,
      lastAttempt: { event: 'webhook.test', succeeded: false, status: 410 },
    })
    const { items } = await webhooks.deliveries(id)
    expect(items).toMatchObject([
      { event: 'webhook.test', status: 'failed', attempts: [{ attempt: 1, status: 410 }] },
      { eventId, event: 'webhook.test', status: 'delivered', payload: String(body), nextAttemptAt: null },
    ])
    expect(items[1]?.attempts).toMatchObject([{ attempt: 1, succeeded: true, request: recordOf(posts[0]) }])
  })

  it('keep their 20 newest test events, which are sent once', async () => {
    const { webhooks, posts, emit } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    await emit()
    for (let turn = 0; turn < 22; turn += 1) await webhooks.test(id)
    const { items } = await webhooks.deliveries(id, { limit: 100 })
    expect(items.map(({ event }) => event)).toEqual([
      ...Array.from({ length: 20 }, () => 'webhook.test'),
      'notification.sent',
    ])
    const eventId = posts.at(-1)?.headers['webhook-id'] ?? ''
    await expect(webhooks.redeliverOne(id, eventId)).rejects.toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'eventId' },
    })
    expect(await webhooks.redeliver(id, { since: new Date(0) })).toEqual({ redelivered: 0 })
    expect(posts).toHaveLength(23)
  })

  it('that are gone when their test ends keep no trace of it', async () => {
    const { webhooks, world } = await webhookWorld()
    const { id } = await webhooks.create({ url: URL })
    world.answer = async () => {
      await webhooks.delete(id)
      return answered(200)
    }
    await expect(webhooks.test(id)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are visible to their own organization only', async () => {
    const { tenants, webhooks, storage } = await webhookWorld()
    await organization(storage, 'org_b')
    const { id } = await webhooks.create({ url: URL })
    const calls = (target: string, organizationId: string) => [
      tenants.update(organizationId, target, { status: 'disabled' }),
      tenants.rotateSecret(organizationId, target),
      tenants.test(organizationId, target),
      tenants.deliveries(organizationId, target),
      tenants.redeliver(organizationId, target, { since: new Date(0) }),
    ]
    for (const foreign of calls(id, 'org_b'))
      await expect(foreign).rejects.toMatchObject({ code: 'organization_mismatch' })
    for (const unknown of calls('wh_unknown', 'org_default'))
      await expect(unknown).rejects.toMatchObject({ code: 'not_found', status: 404 })
    expect((await webhooks.get(id)).status).toBe('active')
  })
})
