import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' } as const

let host: Host
let headers: { authorization: string }
beforeAll(async () => {
  host = await startHost()
  headers = await host.operatorKey()
})
afterAll(() => host.close())

const api = (method: string, path: string, body?: object, more: Call['headers'] = {}): Promise<Answer> =>
  host.call({ method, path, headers: { ...headers, ...more }, body })
const create = (body: object): Promise<Answer> => api('POST', '/v1/organizations', body)
const outcome = (answer: Answer): unknown[] => [answer.status, codeOf(answer)]

describe('creating an organization', () => {
  it('answers the record, and everything works for it at once', async () => {
    const given = {
      id: 'org_acme',
      name: 'Acme',
      plan: 'pro',
      smsCountries: ['+49'],
      retention: { contentDays: 7, logDays: 30 },
    }
    const created = await create(given)
    expect([created.status, created.json]).toEqual([
      201,
      {
        ...given,
        senders: null,
        locale: null,
        timeZone: null,
        branding: { name: null, logoUrl: null, color: null },
        tracking: { opens: false, clicks: false },
        createdAt: created.json?.createdAt,
        deleting: false,
      },
    ])
    expect(created.json).toEqual(await host.notifier.organizations.get('org_acme'))
    expect((await api('GET', '/v1/organizations/org_acme')).json).toEqual(created.json)
    const limits = await api('GET', '/v1/account/limits', undefined, { 'x-organization-id': 'org_acme' })
    expect(limits.json).toMatchObject({ organizationId: 'org_acme', plan: 'pro' })
  })

  it('chooses an id where none is given', async () => {
    const { json } = await create({ name: 'Beta' })
    expect(json).toMatchObject({
      id: expect.stringMatching(/^org_[\w-]{22}$/),
      plan: null,
      retention: { contentDays: null, logDays: null },
    })
  })

  it.each<[object, number, string, string]>([
    [{}, 422, 'missing_required_field', 'name'],
    [{ name: '' }, 400, 'invalid_parameter', 'name'],
    [{ name: 'A', id: 'acme' }, 400, 'invalid_parameter', 'id'],
    [{ name: 'A', id: 'org_default' }, 409, 'already_exists', 'id'],
    [{ name: 'A', plan: 'golden' }, 400, 'invalid_parameter', 'plan'],
    [{ name: 'A', retention: { logDays: 0 } }, 400, 'invalid_parameter', 'retention.logDays'],
    [{ name: 'A', retention: { auditDays: 9 } }, 400, 'invalid_parameter', 'retention'],
    [{ name: 'A', smsCountries: ['49'] }, 400, 'invalid_parameter', 'smsCountries.0'],
    [{ name: 'A', senders: ['Ada <a@example.com>'] }, 400, 'invalid_parameter', 'senders.0'],
    [{ name: 'A', tracking: { opens: true } }, 400, 'invalid_parameter', 'tracking'],
    [{ name: 'A', branding: { color: 'blue' } }, 400, 'invalid_parameter', 'branding.color'],
  ])('refuses %j', async (body, status, code, field) => {
    const answer = await create(body)
    expect([...outcome(answer), answer.json?.error]).toEqual([
      status,
      code,
      expect.objectContaining({ details: expect.objectContaining({ field }) }),
    ])
  })
})

it('organizations are listed newest first, in pages', async () => {
  const known = (await host.notifier.organizations.list({ limit: 100 })).items.map(({ id }) => id)
  for (const name of ['one', 'two']) known.unshift((await create({ name })).json?.id as string)
  const found: unknown[] = []
  let cursor = ''
  do {
    const { json } = await api('GET', `/v1/organizations?limit=2${cursor}`)
    const items = json?.items as { id: string }[]
    found.push(...items.map(({ id }) => id))
    cursor = json?.nextCursor === null ? '' : `&cursor=${encodeURIComponent(String(json?.nextCursor))}`
  } while (cursor !== '')
  expect(found).toEqual(known)
})

describe('changing an organization', () => {
  it('changes what is given', async () => {
    const { json } = await create({ name: 'Gamma', plan: 'pro', retention: { logDays: 7 } })
    const path = `/v1/organizations/${json?.id}`
    const changed = await api('PATCH', path, { name: 'Delta', plan: null })
    expect(changed.json).toEqual({ ...json, name: 'Delta', plan: null })
    expect((await api('PATCH', path, {})).json).toEqual(changed.json)
    expect((await api('GET', path)).json).toEqual(changed.json)
    const longer = await api('PATCH', path, { retention: { contentDays: 3 } })
    expect(longer.json).toEqual({ ...changed.json, retention: { contentDays: 3, logDays: 7 } })
    for (const retention of [{ contentDays: null, logDays: null }, null]) {
      await api('PATCH', path, { retention: { logDays: 9 } })
      expect((await api('PATCH', path, { retention })).json?.retention).toEqual({
        contentDays: null,
        logDays: null,
      })
    }
  })

  it('tells at once how long its data is kept, and what goes next', async () => {
    const { json } = await create({ name: 'Short', retention: { contentDays: 3, logDays: 7 } })
    const own = await host.key('Read Only', String(json?.id))
    const path = '/v1/retention/preview'
    const none = { removes: 0, exact: true, oldest: null }
    const { status, json: preview } = await host.call({ method: 'GET', path, headers: own })
    expect([status, preview]).toEqual([
      200,
      {
        at: expect.any(String),
        contents: { days: 3, source: 'organization', ...none },
        notifications: { days: 7, source: 'organization', ...none },
      },
    ])
    const all = await api('GET', `${path}?orgId=*`)
    expect(all.json).toMatchObject({ notifications: { days: 90, source: 'service', ...none } })
  })

  it('merges its branding, which null clears, and a key of the organization cannot change it', async () => {
    const { json } = await create({ name: 'Branded', branding: { name: 'Shop', color: '#0b5fff' } })
    const path = `/v1/organizations/${json?.id}`
    const changed = await api('PATCH', path, {
      branding: { color: null, logoUrl: 'https://example.com/l.png' },
    })
    expect(changed.json?.branding).toEqual({
      name: 'Shop',
      logoUrl: 'https://example.com/l.png',
      color: null,
    })
    const own = await host.key('Full Access', String(json?.id))
    const refused = await host.call({ method: 'PATCH', path, headers: own, body: { branding: null } })
    expect(outcome(refused)).toEqual([403, 'operator_key_required'])
    const cleared = await api('PATCH', path, { branding: null })
    expect(cleared.json).toEqual({ ...json, branding: { name: null, logoUrl: null, color: null } })
  })

  it('refuses what is wrong, and changes nothing', async () => {
    const { json } = await create({ name: 'Epsilon' })
    const path = `/v1/organizations/${json?.id}`
    for (const wrong of [{ name: null }, { plan: 'golden' }, { tracking: { opens: 'yes' } }])
      expect(outcome(await api('PATCH', path, { retention: { logDays: 1 }, ...wrong }))).toEqual([
        400,
        'invalid_parameter',
      ])
    expect((await api('GET', path)).json).toEqual(json)
    expect(outcome(await api('PATCH', '/v1/organizations/org_unknown', {}))).toEqual([404, 'not_found'])
  })
})

describe('deleting an organization', () => {
  async function withWaiting(): Promise<{ id: string; key: { authorization: string } }> {
    const { id } = await host.notifier.organizations.create({ name: 'Waiting' })
    const sendAt = new Date(host.clock.now() + 3_600_000)
    await host.notifier.organization(id).send({ ...mail, sendAt })
    return { id, key: await host.key('Read Only', id) }
  }
  const account = (key: { authorization: string }) => host.call({ path: '/v1/account/limits', headers: key })

  it('is refused while something waits, and says how it goes', async () => {
    const { id, key } = await withWaiting()
    const refused = await api('DELETE', `/v1/organizations/${id}`)
    expect(outcome(refused)).toEqual([409, 'organization_in_use'])
    expect(refused.text).toContain('?force=true')
    expect((await account(key)).status).toBe(200)
    expect(outcome(await api('DELETE', `/v1/organizations/${id}?force=yes`))).toEqual([
      400,
      'invalid_parameter',
    ])
    expect(outcome(await api('DELETE', `/v1/organizations/${id}?force=false`))).toEqual([
      409,
      'organization_in_use',
    ])
  })

  it('with force removes everything of it, its keys at once, and nothing else', async () => {
    const { id, key } = await withWaiting()
    const other = await withWaiting()
    const answer = await api('DELETE', `/v1/organizations/${id}?force=true`)
    expect([answer.status, answer.json]).toEqual([200, { id, notifications: 1 }])
    expect(outcome(await account(key))).toEqual([401, 'invalid_api_key'])
    for (const method of ['GET', 'DELETE'])
      expect(outcome(await api(method, `/v1/organizations/${id}`))).toEqual([404, 'not_found'])
    expect((await account(other.key)).status).toBe(200)
  })

  it('of the one that always exists is refused', async () => {
    const answer = await api('DELETE', '/v1/organizations/org_default?force=true')
    expect(outcome(answer)).toEqual([400, 'invalid_parameter'])
  })
})

it('an organization that a request names besides means nothing here', async () => {
  const named = { 'x-organization-id': 'org_unknown' }
  const answer = await api('GET', '/v1/organizations/org_default?orgId=org_unknown', undefined, named)
  expect([answer.status, answer.headers['x-ignored-parameters']]).toEqual([200, 'orgId'])
  expect(outcome(await api('GET', '/admin/organizations?orgId=org_default'))).toEqual([404, 'not_found'])
})
