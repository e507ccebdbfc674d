import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newApiKey } from '../../../src/core/access/key-format.ts'
import type { Grant } from '../../../src/core/access/permissions.ts'
import { UNLIMITED } from '../../../src/core/tenancy/plans.ts'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const ORG = 'org_acme'
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' }

let host: Host
let operator: { authorization: string }
beforeEach(async () => {
  host = await startHost({
    overuse: { factor: 2, windowMs: 600_000, restrictMs: 300_000 },
    plans: {
      small: { ...UNLIMITED, requests: { limit: 2, windowMs: 60_000 } },
      few: { ...UNLIMITED, notificationsPerHour: 1 },
    },
  })
  await host.notifier.organizations.create({ id: ORG, name: 'Acme' })
  operator = await host.operatorKey()
})
afterEach(() => host.close())

const api = (options: Call): Promise<Answer> => host.call(options)
const outcome = (answer: Answer): unknown[] => [answer.status, codeOf(answer)]
const named = (more: object = {}) => ({ ...operator, 'x-organization-id': ORG, ...more })
const send = (headers: NonNullable<Call['headers']>, body: object = mail): Promise<Answer> =>
  api({ method: 'POST', path: '/v1/notify', headers, body })
const list = (headers: NonNullable<Call['headers']>): Promise<Answer> =>
  api({ path: '/v1/notifications', headers })

describe('the organization of a request with an operator key', () => {
  it('is the one that header or query names, and its keys see the same', async () => {
    const sent = await send(named())
    expect(sent.status).toBe(201)
    const tenant = await host.key('Read Only', ORG)
    const expected = { items: [{ id: sent.json?.id }] }
    for (const answer of [
      await list(tenant),
      await list(named()),
      await api({ path: `/v1/notifications?orgId=${ORG}`, headers: operator }),
    ]) {
      expect(answer.json).toMatchObject(expected)
    }
    expect((await list({ ...operator, 'x-organization-id': 'org_default' })).json).toMatchObject({
      items: [],
    })
  })

  it('must be named, and only once', async () => {
    const none = await send(operator)
    expect(outcome(none)).toEqual([422, 'missing_required_field'])
    expect(none.json).toMatchObject({
      error: {
        message: expect.stringMatching(/X-Organization-ID.*"orgId"/),
        details: { field: 'orgId', header: 'X-Organization-ID' },
      },
    })
    const two = await api({ path: '/v1/notifications?orgId=org_default', headers: named() })
    expect(outcome(two)).toEqual([400, 'invalid_parameter'])
  })

  it('is the one of the body, or the body is refused', async () => {
    const other = await send(named(), { ...mail, organizationId: 'org_default' })
    expect(outcome(other)).toEqual([400, 'invalid_parameter'])
    expect((await send(named(), { ...mail, organizationId: ORG })).status).toBe(201)
  })

  it('is unknown from the begin of its deletion on', async () => {
    await host.storage.deletions.begin(ORG, { force: true, kinds: [] })
    for (const path of ['/v1/account/limits', '/v1/templates/tpl_unknown', '/v1/notifications'])
      expect(outcome(await api({ path, headers: named() }))).toEqual([404, 'not_found'])
    expect(outcome(await send(named()))).toEqual([404, 'not_found'])
  })
})

describe('limits', () => {
  it('of requests neither hold for an operator nor are used up by one', async () => {
    await host.notifier.organizations.update(ORG, { plan: 'small' })
    const tenant = await host.key('Read Only', ORG)
    for (let n = 0; n < 5; n += 1) {
      const answer = await list(named())
      expect([answer.status, answer.headers['x-ratelimit-resource']]).toEqual([200, 'unlimited'])
    }
    expect((await list(tenant)).headers['x-ratelimit-remaining']).toBe('1')
    let refused = await list(tenant)
    for (let n = 0; n < 10; n += 1) refused = await list(tenant)
    expect([refused.status, refused.headers['x-ratelimit-resource']]).toEqual([429, 'account'])
    expect((await list(named())).status).toBe(200)
  })

  it('of notifications hold for what an operator sends for an organization', async () => {
    await host.notifier.organizations.update(ORG, { plan: 'few' })
    expect((await send(named())).status).toBe(201)
    const refused = await send(named())
    expect([refused.status, refused.headers['x-ratelimit-resource']]).toEqual([429, 'hourly_notifications'])
  })

  it('of the address hold for guessed operator keys, and for those from elsewhere', async () => {
    const allowedIps = ['203.0.113.7']
    const { secret } = await host.notifier.operatorKeys.create({ name: 'x', permission: 'Write', allowedIps })
    const elsewhere = await list({ ...named(), authorization: `Bearer ${secret}` })
    expect(outcome(elsewhere)).toEqual([403, 'ip_not_allowed'])
    for (let n = 0; n < 75; n += 1) {
      const guess = await list({ ...named(), authorization: `Bearer ${newApiKey('operator')}` })
      if (guess.status === 429) {
        expect(guess.headers['x-ratelimit-resource']).toBe('address')
        expect((await list(named())).status).toBe(200)
        return
      }
      expect(outcome(guess)).toEqual([401, 'invalid_api_key'])
    }
    expect.fail('guesses are not limited')
  })
})

it('idempotency keys are the organization’s, whoever sends', async () => {
  const key = { 'idempotency-key': 'one' }
  const first = await send({ ...(await host.key('Write', ORG)), ...key })
  const again = await send(named(key))
  expect([again.status, again.json?.id, again.headers['idempotent-replayed']]).toEqual([
    201,
    first.json?.id,
    'true',
  ])
  const other = await send({ ...named(key), 'x-organization-id': 'org_default' })
  expect(other.headers['idempotent-replayed']).toBeUndefined()
  expect(other.json?.id).not.toBe(first.json?.id)
})

describe('keys', () => {
  it('of an organization are created and deleted by an operator; operator keys are not there', async () => {
    const body = { name: 'CI', permission: 'Write' }
    const created = await api({ method: 'POST', path: '/v1/api-keys', headers: named(), body })
    expect(created.json).toMatchObject({ organizationId: ORG, secret: expect.stringMatching(/^crl_/) })
    const { items } = await host.notifier.operatorKeys.list()
    const listed = await api({ path: '/v1/api-keys', headers: named() })
    expect(listed.json).toMatchObject({ items: [{ id: created.json?.id }] })
    const remove = (id: unknown) => api({ method: 'DELETE', path: `/v1/api-keys/${id}`, headers: named() })
    expect(outcome(await remove(items[0]?.id))).toEqual([404, 'not_found'])
    expect((await remove(created.json?.id)).status).toBe(200)
    expect((await list(named())).status).toBe(200)
  })

  it('show the content of messages, and give that grant, only where they have it', async () => {
    const { json } = await send(named())
    const withGrants = async (grants: readonly Grant[]) => {
      const { secret } = await host.notifier.operatorKeys.create({
        name: 'k',
        permission: 'Full Access',
        grants,
      })
      const headers = named({ authorization: `Bearer ${secret}` })
      const body = { name: 'k', permission: 'Read Only', grants: ['content'] }
      return [
        await api({ path: `/v1/notifications/${json?.id}?rendered=true`, headers }),
        await api({ method: 'POST', path: '/v1/api-keys', headers, body }),
      ].map(outcome)
    }
    const refused = [403, 'insufficient_permissions']
    expect(await withGrants([])).toEqual([refused, refused])
    expect(await withGrants(['content'])).toEqual([
      [200, undefined],
      [201, undefined],
    ])
  })

  it('stop at once when they are deleted or expire', async () => {
    const expiresAt = new Date(host.clock.now() + 3_600_000)
    const short = await host.notifier.operatorKeys.create({ name: 'x', permission: 'Write', expiresAt })
    const headers = named({ authorization: `Bearer ${short.secret}` })
    expect((await list(headers)).status).toBe(200)
    host.clock.advance(3_600_000)
    expect(outcome(await list(headers))).toEqual([401, 'expired_api_key'])
    for (const { id } of (await host.notifier.operatorKeys.list()).items)
      await host.notifier.operatorKeys.delete(id)
    expect(outcome(await list(named()))).toEqual([401, 'invalid_api_key'])
  })
})
