import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Call, codeOf } from '../../support/http-client.ts'
import { succeeded } from '../../support/operation.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' }

describe('the REST API', () => {
  let host: Host
  let auth: { authorization: string }
  const api = (options: Call): Promise<Answer> =>
    host.call({ ...options, headers: { ...auth, ...options.headers } })

  const operation = (name: string, options: Call) => succeeded(api, name, options)

  beforeAll(async () => {
    host = await startHost()
    auth = await host.key()
  })
  afterAll(() => host.close())

  it('sends over both paths and gives the record of SPEC.md', async () => {
    for (const path of ['/v1/notify', '/v1/notifications']) {
      const { json } = await operation('sendNotification', { path, body: mail })
      expect(json).toEqual({
        id: expect.stringMatching(/^notif_\d+$/),
        status: 'queued',
        channel: 'email',
        to: 'ada@example.com',
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      })
      const stored = await host.notifier.notifications.get(String(json?.id))
      expect(stored).toMatchObject({ to: 'ada@example.com', subject: 'Hello' })
      await operation('getNotification', { path: `/v1/notifications/${json?.id}` })
    }
  })

  it('only validates in test mode', async () => {
    // What earlier tests sent may be delivered meanwhile: which there are counts, not how they stand.
    const stored = async () => (await host.notifier.notifications.list()).items.map(({ id }) => id)
    const before = await stored()
    const headers = { 'x-test-mode': 'true' }
    const answer = await api({ method: 'POST', path: '/v1/notify', headers, body: mail })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      channel: 'email',
      to: 'ada@example.com',
      rendered: { subject: 'Hello', body: 'Hi Ada', format: 'text' },
      delayed: null,
    })
    const refused = await api({ method: 'POST', path: '/v1/notify', headers, body: { ...mail, to: 'x' } })
    expect([refused.status, codeOf(refused)]).toEqual([422, 'invalid_email'])
    expect(await stored()).toEqual(before)
  })

  it('replays an idempotent send, and refuses another body', async () => {
    const headers = { 'idempotency-key': '"retry-1"' }
    const first = await operation('sendNotification', { path: '/v1/notify', headers, body: mail })
    expect(first.headers).not.toHaveProperty('idempotent-replayed')
    const bare = { 'idempotency-key': 'retry-1' }
    const second = await operation('sendNotification', {
      path: '/v1/notifications',
      headers: bare,
      body: mail,
    })
    expect(second.headers['idempotent-replayed']).toBe('true')
    expect(second.json).toEqual(first.json)
    const other = await api({ method: 'POST', path: '/v1/notify', headers, body: { ...mail, body: 'Other' } })
    expect([other.status, codeOf(other)]).toEqual([422, 'idempotency_key_reused'])
  })

  it('sends a batch, each item validated separately', async () => {
    const { json } = await operation('sendBatch', {
      path: '/v1/notifications/batch',
      body: { notifications: [mail, { ...mail, to: 'nobody' }, mail] },
    })
    expect(json).toMatchObject({
      accepted: 2,
      rejected: 1,
      items: [{ index: 0 }, { index: 1, error: { code: 'invalid_email' } }, { index: 2 }],
    })
  })

  it('takes html and text, and shows a template so that it can be given back', async () => {
    const { body: _, ...bare } = mail
    const message = { ...bare, html: '<p>Hi</p>', text: 'Hi Ada' }
    await operation('sendNotification', { path: '/v1/notify', body: message })
    const headers = { 'x-test-mode': 'true' }
    const answer = await api({ method: 'POST', path: '/v1/notify', headers, body: message })
    const rendered = { subject: 'Hello', body: '<p>Hi</p>', format: 'html', text: 'Hi Ada' }
    expect(answer.json?.rendered).toEqual(rendered)
    const both = await api({ method: 'POST', path: '/v1/notify', body: { ...message, body: 'Hi' } })
    expect([both.status, codeOf(both)]).toEqual([400, 'invalid_parameter'])

    const body = { name: 'both', channel: 'email', html: '<p>{{a}}</p>', text: '{{a}}' }
    const created = await operation('createTemplate', { path: '/v1/templates', body })
    expect(created.json).toMatchObject({ ...body, body: null })
    const path = '/v1/templates/both'
    const same = await operation('updateTemplate', { path, body: created.json })
    expect(same.json).toEqual(created.json)
    const changed = await operation('updateTemplate', { path, body: { html: '<b>{{a}}</b>' } })
    expect(changed.json).toMatchObject({ html: '<b>{{a}}</b>', text: '{{a}}', version: 2 })
    const preview = await operation('previewTemplate', {
      path: `${path}/preview`,
      body: { data: { a: '<' } },
    })
    expect(preview.json).toMatchObject({ body: '<b>&lt;</b>', format: 'html', text: '<' })
    await operation('deleteTemplate', { path })
  })

  it('keeps templates in both path families', async () => {
    const body = { name: 'welcome', channel: 'email', subject: 'Hi {{name}}', body: 'Hello {{name}}' }
    const created = await operation('createTemplate', { path: '/v1/templates', body })
    const again = await api({ method: 'POST', path: '/admin/templates?orgId=org_default', body })
    expect([again.status, codeOf(again)]).toEqual([409, 'template_already_exists'])
    await operation('createTemplate', {
      path: '/admin/templates?orgId=org_default',
      body: { ...body, name: 'second' },
    })
    for (const path of ['/v1/templates', '/admin/templates?orgId=org_default']) {
      const { json } = await operation('listTemplates', { path })
      expect(json).toMatchObject({ items: [{ name: 'second' }, { name: 'welcome' }], hasMore: false })
    }
    const paged = await operation('listTemplates', { path: '/v1/templates?limit=1' })
    expect(paged.json).toMatchObject({ items: [{ name: 'second' }], limit: 1, hasMore: true })
    const cursor = encodeURIComponent(String(paged.json?.nextCursor))
    const next = await operation('listTemplates', { path: `/v1/templates?limit=1&cursor=${cursor}` })
    expect(next.json).toMatchObject({ items: [{ name: 'welcome' }] })

    const changed = await operation('updateTemplate', {
      path: '/v1/templates/second',
      body: { body: 'Bye {{name}}' },
    })
    expect(changed.json).toMatchObject({ name: 'second', version: 2 })
    const preview = { path: '/v1/templates/second/preview', body: { variables: { name: 'Ada' } } }
    expect((await operation('previewTemplate', preview)).json).toMatchObject({ body: 'Bye Ada' })
    const data = { ...preview, body: { variables: { name: 'Eve' }, data: { name: 'Ada', x: 1 } } }
    expect((await operation('previewTemplate', data)).json).toMatchObject({ body: 'Bye Eve' })
    const alone = { ...preview, body: { data: { name: 'Ada' } } }
    expect((await operation('previewTemplate', alone)).json).toMatchObject({ body: 'Bye Ada' })

    await operation('getTemplate', { path: `/v1/templates/${created.json?.id}` })
    const send = { to: 'ada@example.com', template: 'welcome', variables: { name: 'Ada' } }
    await operation('sendNotification', { path: '/v1/notify', body: send })
    await operation('deleteTemplate', { path: '/v1/templates/welcome' })
    expect(codeOf(await api({ path: '/v1/templates/welcome' }))).toBe('template_not_found')
    const late = await api({ method: 'POST', path: '/v1/notify', body: send })
    expect([late.status, codeOf(late)]).toEqual([422, 'template_not_found'])
  })

  it('lists notifications and logs, filtered', async () => {
    const { json } = await operation('listNotifications', { path: '/v1/notifications?channel=email&limit=2' })
    expect(json).toMatchObject({ limit: 2, offset: 0 })
    await operation('listNotifications', {
      path: `/v1/notifications?to=${encodeURIComponent('ada@example.com')}&from=2020-01-01T00:00:00Z`,
    })
    for (const path of ['/v1/logs?limit=1', '/admin/logs?orgId=org_default&status=queued']) {
      await operation('listLogs', { path })
    }
  })

  it('tells the limits of the account', async () => {
    const { json } = await operation('getAccountLimits', { path: '/v1/account/limits' })
    expect(json).toMatchObject({ organizationId: 'org_default' })
  })

  it('reschedules what is scheduled, in no test mode and no more once it was cancelled', async () => {
    const times = [1, 2].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString())
    const { json } = await operation('sendNotification', {
      path: '/v1/notify',
      body: { ...mail, sendAt: times[0] },
    })
    const path = `/v1/notifications/${json?.id}/reschedule`
    const moved = await operation('rescheduleNotification', { path, body: { sendAt: times[1] } })
    expect(moved.json).toMatchObject({ status: 'scheduled', sendAt: times[1] })
    const headers = { 'x-test-mode': 'true' }
    const tested = await api({ method: 'POST', path, body: { sendAt: null }, headers })
    expect([tested.status, codeOf(tested)]).toEqual([400, 'invalid_parameter'])
    const wrong = await api({ method: 'POST', path, body: { sendAt: 'soon' } })
    expect([wrong.status, codeOf(wrong)]).toEqual([400, 'invalid_parameter'])
    await operation('cancelNotification', { path: `/v1/notifications/${json?.id}/cancel` })
    const late = await api({ method: 'POST', path, body: { sendAt: null } })
    expect([late.status, codeOf(late)]).toEqual([409, 'not_reschedulable'])
  })

  it('cancels what is scheduled', async () => {
    const { json } = await operation('sendNotification', {
      path: '/v1/notify',
      body: { ...mail, sendAt: new Date(Date.now() + 3_600_000).toISOString() },
    })
    const cancelled = await operation('cancelNotification', {
      path: `/v1/notifications/${json?.id}/cancel`,
    })
    expect(cancelled.json).toMatchObject({ status: 'cancelled' })
  })

  it('answers HEAD, 404 and 405', async () => {
    const head = await api({ method: 'HEAD', path: '/v1/templates' })
    expect([head.status, head.text]).toEqual([200, ''])
    expect(Number(head.headers['content-length'])).toBeGreaterThan(0)
    const unknown = await api({ path: '/v1/nowhere' })
    expect([unknown.status, codeOf(unknown)]).toEqual([404, 'not_found'])
    const method = await api({ method: 'DELETE', path: '/v1/templates' })
    expect([method.status, codeOf(method), method.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'GET, HEAD, POST',
    ])
    expect(method.json).toMatchObject({ error: { details: { allow: 'GET, HEAD, POST' } } })
  })

  it('POST /v1/notifications/{id}/resend makes a new notification, and one for each idempotency key', async () => {
    const { id } = await host.notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hi' })
    const path = `/v1/notifications/${id}/resend`
    const headers = { ...auth, 'idempotency-key': 'again' }
    const first = await host.call({ method: 'POST', path, headers })
    const second = await host.call({ method: 'POST', path, headers })
    expect([first.status, first.json?.to, first.json?.status]).toEqual([201, 'ada@example.com', 'queued'])
    expect(first.headers).not.toHaveProperty('idempotent-replayed')
    expect([second.status, second.json, second.headers['idempotent-replayed']]).toEqual([
      201,
      first.json,
      'true',
    ])
    const record = await host.call({ path: `/v1/notifications/${first.json?.id}`, headers: auth })
    expect(record.json?.resendOf).toBe(id)
    const unknown = await host.call({ method: 'POST', path: '/v1/notifications/notif_1/resend', headers })
    expect([unknown.status, codeOf(unknown)]).toEqual([422, 'idempotency_key_reused'])
  })
})
