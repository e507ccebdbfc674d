import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const OWNERS = ['org_default', 'org_acme', 'org_beta']

let host: Host
let notifier: Notifier
let operator: { authorization: string }
/** With their organizations, newest first. */
let sent: { id: string; organizationId: string }[]

beforeAll(async () => {
  host = await startHost({
    channel: {
      name: 'picky',
      async send({ to }) {
        if (to.startsWith('full')) return { kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }
        return { kind: 'accepted', providerMessageId: to }
      },
    },
  })
  notifier = host.notifier
  operator = await host.operatorKey('Read Only')
  sent = []
  for (const id of OWNERS.slice(1)) await notifier.organizations.create({ id, name: id })
  for (const to of ['ada@example.com', 'full@example.com']) {
    for (const organizationId of OWNERS) {
      const tenant = notifier.organization(organizationId)
      const { id } = await tenant.send({ channel: 'email', to, body: 'Hi', metadata: { to } })
      await tenant.waitFor(id)
      sent.unshift({ id, organizationId })
      host.clock.advance(10)
    }
  }
})
afterAll(() => host.close())

const read = (path: string, headers: object = operator): Promise<Answer> =>
  host.call({ path, headers: { ...headers } })
const outcome = (answer: Answer): unknown[] => [answer.status, codeOf(answer)]
const owned = (items: unknown) =>
  (items as { id: string; organizationId: string }[]).map(({ id, organizationId }) => ({
    id,
    organizationId,
  }))

describe('over all organizations', () => {
  it('notifications are listed with their organizations, as their own lists show them', async () => {
    const { items } = await notifier.allOrganizations.notifications.list()
    expect(owned(items)).toEqual(sent)
    const acme = await notifier.organization('org_acme').notifications.list()
    expect(items.filter(({ organizationId }) => organizationId === 'org_acme')).toEqual(acme.items)
    const { json } = await read('/v1/notifications?orgId=*')
    expect(json?.items).toEqual(items)
    const inHeader = await read('/v1/notifications', { ...operator, 'x-organization-id': '*' })
    expect(inHeader.json).toEqual(json)
    const filtered = await read('/v1/notifications?orgId=*&metadata[to]=full@example.com&status=failed')
    expect(owned(filtered.json?.items)).toEqual(sent.slice(0, 3))
  })

  it('pages follow each other', async () => {
    const found: unknown[] = []
    for (let cursor: unknown = ''; cursor !== null; ) {
      const { json } = await read(`/v1/notifications?orgId=*&limit=4${cursor && `&cursor=${cursor}`}`)
      found.push(...owned(json?.items))
      cursor = json?.nextCursor
    }
    expect(found).toEqual(sent)
  })

  it('dead letters are listed and grouped', async () => {
    const { json } = await read('/v1/dead-letters?orgId=*')
    expect(owned(json?.items)).toEqual(sent.slice(0, 3))
    const { groups } = await notifier.allOrganizations.deadLetters.groups()
    expect(groups).toMatchObject([{ code: 'mailbox_full', provider: 'picky', channel: 'email', count: 3 }])
    expect((await read('/v1/dead-letters/groups?orgId=*')).json).toEqual({ groups, total: 3, exact: true })
  })

  it('the log has all entries with their organizations', async () => {
    const { items } = await notifier.allOrganizations.logs.list({ limit: 4 })
    const [first, second] = sent
    expect(
      items.map(({ notificationId, organizationId, event }) => [notificationId, organizationId, event]),
    ).toEqual(
      [first, second].flatMap((each) => [
        [each?.id, each?.organizationId, 'failed'],
        [each?.id, each?.organizationId, 'queued'],
      ]),
    )
    for (const path of ['/v1/logs', '/admin/logs'])
      expect((await read(`${path}?orgId=*&limit=4`)).json?.items).toEqual(items)
  })

  it('what happened, failed and waits is counted', async () => {
    const sendAt = new Date(host.clock.now() + 3_600_000)
    await notifier
      .organization('org_beta')
      .send({ channel: 'email', to: 'ada@example.com', body: 'Later', sendAt })
    const { spans, failures, waiting } = await notifier.allOrganizations.statistics.get()
    const sum = (name: 'accepted' | 'sent' | 'failed') => spans.reduce((total, span) => total + span[name], 0)
    expect([sum('accepted'), sum('sent'), sum('failed')]).toEqual([7, 3, 3])
    expect(failures.groups).toMatchObject([{ count: 3 }])
    expect(waiting).toMatchObject({ due: 0, scheduled: 1, retrying: 0, running: 0 })
    expect((await read('/v1/statistics?orgId=*')).json).toMatchObject({ spans, failures, waiting })
  })
})

describe('wrong input is named', () => {
  it('a page of another operator: cursors of one organization, and of another list', async () => {
    const refused = { code: 'invalid_parameter', details: { field: 'cursor' } }
    const { allOrganizations } = notifier
    const ofAll = await allOrganizations.notifications.list({ limit: 1 })
    const ofOne = await notifier.notifications.list({ limit: 1 })
    const cursors = [ofAll, ofOne].map(({ nextCursor }) => nextCursor ?? '')
    const [all = '', one = ''] = cursors
    await expect(notifier.notifications.list({ cursor: all })).rejects.toMatchObject(refused)
    await expect(allOrganizations.notifications.list({ cursor: one })).rejects.toMatchObject(refused)
    await expect(allOrganizations.deadLetters.list({ cursor: all })).rejects.toMatchObject(refused)
    await expect(allOrganizations.logs.list({ cursor: all })).rejects.toMatchObject(refused)
    const answer = await read(`/v1/notifications?orgId=*&cursor=${one}`)
    expect(outcome(answer)).toEqual([400, 'invalid_parameter'])
  })

  it('the name of a template, of which each organization has its own', async () => {
    await notifier.organization('org_acme').templates.create({ name: 'hi', channel: 'email', body: 'Hi' })
    const answer = await read('/v1/notifications?orgId=*&template=hi')
    expect(outcome(answer)).toEqual([400, 'invalid_parameter'])
    expect(answer.json).toMatchObject({ error: { details: { field: 'template' } } })
    expect((await read('/v1/dead-letters?orgId=*&template=tpl_1')).json).toMatchObject({ items: [] })
  })

  it('an operation for one organization, with those for all', async () => {
    const answer = await read('/v1/templates?orgId=*')
    expect(outcome(answer)).toEqual([422, 'missing_required_field'])
    expect(answer.json).toMatchObject({
      error: {
        message: expect.stringMatching(/^"listTemplates" concerns one organization: .*listNotifications, /),
        details: { field: 'orgId', operations: expect.arrayContaining(['listLogs', 'getStatistics']) },
      },
    })
  })

  it('a key of one organization', async () => {
    for (const path of ['/v1/notifications', '/v1/statistics', '/v1/templates'])
      expect(outcome(await read(`${path}?orgId=*`, await host.key('Full Access', 'org_acme')))).toEqual([
        403,
        'organization_mismatch',
      ])
  })

  it('all organizations as one', () => {
    expect(() => notifier.organization('*')).toThrow(expect.objectContaining({ code: 'invalid_parameter' }))
  })
})

describe('a notifier that requires organizations', () => {
  const mail = { channel: 'email', to: 'ada@example.com', body: 'x' } as const

  async function started() {
    const notifier = createNotifier({ channels: { email: recordingProvider() }, organizations: 'required' })
    await notifier.start({ deliver: false })
    onTestFinished(() => notifier.stop())
    await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    return { ...notifier.allOrganizations, acme: notifier.organization('org_acme') }
  }

  it('reads all of them, and changes none', async () => {
    const { notifications, deadLetters, acme } = await started()
    const { id } = await acme.send(mail)
    expect(owned((await notifications.list()).items)).toEqual([{ id, organizationId: 'org_acme' }])
    expect([Object.keys(notifications), Object.keys(deadLetters)]).toEqual([['list'], ['list', 'groups']])
  })

  it('counts no events among what waits', async () => {
    const { statistics, acme } = await started()
    await acme.webhooks.create({ url: 'https://hooks.example.com/', events: ['notification.cancelled'] })
    const { id } = await acme.send({ ...mail, sendAt: new Date(Date.now() + 3_600_000) })
    expect((await statistics.get()).waiting).toMatchObject({ due: 0, scheduled: 1 })
    await acme.notifications.cancel(id)
    expect((await acme.notifications.webhookDeliveries(id)).items[0]).toMatchObject({ status: 'pending' })
    expect((await statistics.get()).waiting).toMatchObject({ due: 0, scheduled: 0, oldestDueMs: null })
  })
})

it('the document says at the parameters which operations take all organizations', async () => {
  const { json } = await read('/openapi.json')
  const document = JSON.stringify(json)
  const { paths } = JSON.parse(document) as {
    paths: Record<string, Record<string, { parameters?: { $ref?: string }[] }>>
  }
  const together = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).some(({ parameters = [] }) =>
      parameters.some(({ $ref }) => $ref?.endsWith('OrAll')),
    )
      ? path
      : [],
  )
  expect(together.sort()).toEqual([
    '/admin/logs',
    '/v1/audit-log',
    '/v1/dead-letters',
    '/v1/dead-letters/groups',
    '/v1/erasures',
    '/v1/erasures/{id}',
    '/v1/exports',
    '/v1/logs',
    '/v1/notifications',
    '/v1/retention/preview',
    '/v1/statistics',
    '/v1/webhooks',
    '/v1/webhooks/{id}',
    '/v1/webhooks/{id}/deliveries',
    '/v1/webhooks/{id}/deliveries/{eventId}/redeliver',
    '/v1/webhooks/{id}/redeliver',
    '/v1/webhooks/{id}/rotate-secret',
    '/v1/webhooks/{id}/test',
  ])
})
