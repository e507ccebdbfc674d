import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../src/routes.ts'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { type Host, type HostOptions, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' }

let host: Host
let auth: { authorization: string }

/** One for all tests of a suite. */
function startOne(options: HostOptions = {}): void {
  beforeAll(async () => {
    host = await startHost(options)
    auth = await host.key('Full Access', 'org_default', ['content'])
  })
  afterAll(() => host.close())
}
const api = (options: Call): Promise<Answer> => host.call({ headers: auth, ...options })
const post = (path: string, body: unknown): Promise<Answer> => api({ method: 'POST', path, body })

const withBody = ROUTES.filter(({ body }) => body !== undefined)

describe('another organization in a body', () => {
  startOne()
  const ofOrganizations = withBody.filter(({ belongsTo }) => belongsTo !== 'operator')
  it.each(ofOrganizations)('of $operation is refused, and the own one is not', async ({ method, paths }) => {
    for (const path of paths) {
      const query = path.startsWith('/admin') ? '?orgId=org_default' : ''
      const named = (organizationId: unknown) =>
        api({
          method,
          path: path.replaceAll(/\{\w+\}/g, 'notif_1') + query,
          body: { organizationId },
        })
      for (const other of ['org_b', '', null, 5]) {
        const answer = await named(other)
        expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
        expect(answer.json).toMatchObject({ error: { details: { field: 'organizationId' } } })
      }
      expect((await named('org_default')).text).not.toContain('another organization')
    }
  })
})

describe('unknown fields of a body, where they are to be refused', () => {
  startOne({ http: { strictBody: true } })

  it.each(withBody)('of $operation are refused, and named', async ({ method, paths, belongsTo }) => {
    const headers = belongsTo === 'operator' ? await host.operatorKey() : auth
    for (const path of paths) {
      const query = path.startsWith('/admin') ? '?orgId=org_default' : ''
      const answer = await api({
        method,
        headers,
        path: path.replaceAll(/\{\w+\}/g, 'notif_1') + query,
        body: { surprise: 1, 'another\u0000one': null },
      })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
      expect(answer.json).toMatchObject({
        error: { details: { field: 'surprise', fields: ['surprise', 'another\u0000one'] } },
      })
    }
  })

  it('are refused in a batch for the item that has them', async () => {
    const notifications = [
      mail,
      { ...mail, bodyy: 'typo' },
      { ...mail, variables: { anything: { goes: 1 } } },
    ]
    const { status, json } = await post('/v1/notifications/batch', { notifications })
    expect([status, json?.accepted]).toEqual([201, 2])
    expect(json?.items).toMatchObject([
      {},
      { error: { code: 'invalid_parameter', details: { field: 'bodyy' } } },
      {},
    ])
  })

  it('are refused in test mode, as the send would be', async () => {
    const headers = { ...auth, 'x-test-mode': 'true' }
    const answer = await api({ method: 'POST', path: '/v1/notify', headers, body: { ...mail, bodyy: 1 } })
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
  })

  it('named like members of every object are unknown, too', async () => {
    for (const name of ['__proto__', 'constructor', 'toString']) {
      const answer = await api({
        method: 'POST',
        path: '/v1/notify',
        headers: { ...auth, 'content-type': 'application/json' },
        body: `{"channel":"email","to":"ada@example.com","body":"Hi","${name}":{}}`,
      })
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
    }
  })
})

describe('unknown fields of a body', () => {
  startOne()

  it('are ignored by default', async () => {
    expect((await post('/v1/notify', { ...mail, surprise: 1 })).status).toBe(201)
    const batch = await post('/v1/notifications/batch', {
      notifications: [{ ...mail, surprise: 1 }],
      more: 1,
    })
    expect(batch.json).toMatchObject({ accepted: 1 })
  })

  it.each([
    ['idempotencyKey', 'Idempotency-Key'],
    ['idempotency_key', 'Idempotency-Key'],
    ['from', 'email'],
    ['cc', 'recipient'],
    ['tags', 'metadata'],
  ])('of a message that belong elsewhere are always refused: %s', async (field, place) => {
    const wrong = { ...mail, [field]: 'x' }
    const alone = await post('/v1/notify', wrong)
    expect([alone.status, codeOf(alone)]).toEqual([400, 'invalid_parameter'])
    expect(alone.text).toContain(place)
    const batch = await post('/v1/notifications/batch', { notifications: [wrong, mail] })
    expect(batch.json?.items).toMatchObject([{ error: { details: { field } } }, { status: 'queued' }])
    const around = await post('/v1/notifications/batch', { notifications: [mail], [field]: 'x' })
    expect([around.status, codeOf(around)]).toEqual([400, 'invalid_parameter'])
  })

  it('of a template are ignored, also where a message could not have them, but not tags', async () => {
    const template = { name: 'hi', channel: 'email', body: 'Hi', from: 'x' }
    expect((await post('/v1/templates', template)).status).toBe(201)
    const tagged = await post('/v1/templates', { ...template, name: 'ho', tags: ['x'] })
    expect([tagged.status, codeOf(tagged)]).toEqual([400, 'invalid_parameter'])
    expect(tagged.text).toContain('metadata')
  })
})
