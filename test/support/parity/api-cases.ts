import type { Call } from '../http-client.ts'
import { at, type Case, json, mail, notify, post } from './case.ts'

const template = { name: 'welcome', channel: 'email', subject: 'Hi {{name}}', body: 'Hello {{name}}' }

const toAda = { channels: ['sms', 'email'], recipient: 'user:42', subject: 'Hello', text: 'Hi Ada' }

export const sending: Case[] = [
  { title: 'send', call: notify(mail), status: 201, save: 'first' },
  { title: 'send over the other path', call: post('/v1/notifications', mail), status: 201 },
  {
    title: 'send later',
    call: ({ clock }) => notify({ ...mail, sendAt: new Date(clock.now() + 3_600_000).toISOString() }),
    status: 201,
    save: 'later',
  },
  { title: 'send on several channels', call: notify(toAda), status: 201 },
  {
    title: 'send on several channels, idempotent',
    call: notify(toAda, { 'idempotency-key': 'all' }),
    status: 201,
  },
  { title: 'send on them again', call: notify(toAda, { 'idempotency-key': 'all' }), status: 201 },
  {
    title: 'send on others with the same key',
    call: notify({ ...toAda, channels: ['email'] }, { 'idempotency-key': 'all' }),
    status: 422,
    code: 'idempotency_key_reused',
  },
  {
    title: 'send on several channels, none of which the person has',
    call: notify({ ...toAda, recipient: 'user:7' }),
    status: 201,
  },
  {
    title: 'send on several channels, test mode',
    call: notify(toAda, { 'x-test-mode': 'true' }),
    status: 200,
  },
  {
    title: 'send on several channels, to an address',
    call: notify({ ...toAda, recipient: undefined, to: 'ada@example.com' }),
    status: 422,
    code: 'missing_required_field',
  },
  {
    title: 'send on a channel that is not configured',
    call: notify({ ...toAda, channels: ['email', 'slack'] }),
    status: 422,
    code: 'invalid_channel',
  },
  {
    title: 'send on one channel twice',
    call: notify({ ...toAda, channels: ['sms', 'sms'] }),
    status: 400,
    code: 'invalid_parameter',
  },
  {
    title: 'batch on several channels',
    call: post('/v1/notifications/batch', { notifications: [toAda, { ...toAda, channels: [] }, mail] }),
    status: 201,
  },
  { title: 'get', call: at('first', (id) => `/v1/notifications/${id}`), status: 200 },
  {
    title: 'reschedule',
    call: (world) => {
      const sendAt = new Date(world.clock.now() + 7_200_000).toISOString()
      const path = (id: string): string => `/v1/notifications/${id}/reschedule`
      return at('later', path, { method: 'POST', body: { sendAt } })(world)
    },
    status: 200,
  },
  {
    title: 'reschedule to nothing',
    call: at('later', (id) => `/v1/notifications/${id}/reschedule`, { method: 'POST', body: {} }),
    status: 422,
    code: 'missing_required_field',
  },
  {
    title: 'reschedule what was sent',
    call: at('first', (id) => `/v1/notifications/${id}/reschedule`, {
      method: 'POST',
      body: { sendAt: null },
    }),
    status: 409,
    code: 'not_reschedulable',
  },
  {
    title: 'cancel',
    call: at('later', (id) => `/v1/notifications/${id}/cancel`, { method: 'POST' }),
    status: 200,
  },
  {
    title: 'cancel again',
    call: at('later', (id) => `/v1/notifications/${id}/cancel`, { method: 'POST', body: '', headers: json }),
    status: 409,
    code: 'not_cancellable',
  },
  { title: 'list', call: { path: '/v1/notifications?channel=email&limit=2' }, status: 200 },
  {
    title: 'batch',
    call: post('/v1/notifications/batch', { notifications: [mail, { ...mail, to: 'nobody' }, 5, mail] }),
    status: 201,
  },
  {
    title: 'batch of nothing',
    call: post('/v1/notifications/batch', { notifications: [] }),
    status: 422,
    code: 'invalid_parameter',
  },
  {
    title: 'batch without a list',
    call: post('/v1/notifications/batch', {}),
    status: 422,
    code: 'missing_required_field',
  },
  { title: 'batch within its own limit', call: post('/v1/notifications/batch', batch(900)), status: 201 },
  {
    title: 'batch above its own limit',
    call: post('/v1/notifications/batch', batch(3000)),
    status: 413,
    code: 'payload_too_large',
    raw: true,
  },
  { title: 'test mode', call: notify(mail, { 'x-test-mode': 'true' }), status: 200 },
  {
    title: 'test mode, refused',
    call: notify({ ...mail, to: 'x' }, { 'x-test-mode': 'TRUE' }),
    status: 422,
    code: 'invalid_email',
  },
  {
    title: 'test mode, misspelt',
    call: notify(mail, { 'x-test-mode': '1' }),
    status: 400,
    code: 'invalid_parameter',
  },
  { title: 'idempotent', call: notify(mail, { 'idempotency-key': 'k1' }), status: 201 },
  { title: 'idempotent replay', call: notify(mail, { 'idempotency-key': 'k1' }), status: 201 },
  {
    title: 'idempotent replay over the other path, quoted key',
    call: post('/v1/notifications', mail, { 'idempotency-key': '"k1"' }),
    status: 201,
  },
  {
    title: 'idempotent, another body',
    call: notify({ ...mail, body: 'other' }, { 'idempotency-key': 'k1' }),
    status: 422,
    code: 'idempotency_key_reused',
  },
  {
    title: 'idempotent, no key at all',
    call: notify(mail, { 'idempotency-key': '\xe9' }),
    status: 400,
    code: 'invalid_parameter',
  },
]

export const templates: Case[] = [
  { title: 'create a template', call: post('/v1/templates', template), status: 201, save: 'template' },
  {
    title: 'create it again, in the other family',
    call: post('/admin/templates?orgId=org_default', template),
    status: 409,
    code: 'template_already_exists',
  },
  {
    title: 'create another one',
    call: post('/admin/templates?orgId=org_default', { ...template, name: 'second' }),
    status: 201,
  },
  { title: 'list templates', call: { path: '/v1/templates?limit=1' }, status: 200 },
  { title: 'get a template by id', call: at('template', (id) => `/v1/templates/${id}`), status: 200 },
  {
    title: 'get a template by name',
    call: { path: '/admin/templates/welcome?orgId=org_default' },
    status: 200,
  },
  {
    title: 'update a template',
    call: { method: 'PATCH', path: '/v1/templates/second', body: { subject: 'Hey {{name}}' } },
    status: 200,
  },
  {
    title: 'preview a template',
    call: post('/v1/templates/welcome/preview', { variables: { name: 'Ada' } }),
    status: 200,
  },
  {
    title: 'send by template',
    call: notify({ to: mail.to, template: 'welcome', variables: { name: 'Ä<&>"\u2028' } }),
    status: 201,
  },
  {
    title: 'send without a variable',
    call: notify({ to: mail.to, template: 'welcome' }),
    status: 422,
    code: 'invalid_template_variable',
  },
  {
    title: 'send on several channels by a template for each',
    call: notify({
      ...toAda,
      channels: ['email'],
      template: { email: 'welcome' },
      variables: { name: 'Ada' },
    }),
    status: 201,
  },
  {
    title: 'send on several channels by templates, one of which is for another channel',
    call: notify({ ...toAda, template: { email: 'welcome', sms: 'welcome' }, variables: { name: 'Ada' } }),
    status: 422,
    code: 'invalid_channel',
  },
  {
    title: 'send on several channels without a template for one',
    call: notify({ ...toAda, template: { email: 'welcome' }, variables: { name: 'Ada' } }),
    status: 400,
    code: 'invalid_parameter',
  },
  {
    title: 'send by an unknown template',
    call: notify({ to: mail.to, template: 'nope' }),
    status: 422,
    code: 'template_not_found',
  },
  { title: 'delete a template', call: { method: 'DELETE', path: '/v1/templates/second' }, status: 200 },
  {
    title: 'delete a template, with a content type and no body',
    call: { method: 'DELETE', path: '/v1/templates/second', headers: json },
    status: 404,
    code: 'template_not_found',
  },
  { title: 'logs', call: { path: '/v1/logs?limit=3' }, status: 200 },
  { title: 'logs of admin', call: { path: '/admin/logs?orgId=org_default&status=queued' }, status: 200 },
  { title: 'account limits', call: { path: '/v1/account/limits' }, status: 200 },
]

export const administration: Case[] = [
  { title: 'health', call: { path: '/health' }, key: null, status: 200 },
  { title: 'the OpenAPI document', call: { path: '/openapi.json' }, key: null, status: 200 },
  { title: 'HEAD of health', call: { method: 'HEAD', path: '/health' }, key: null, status: 200 },
  {
    title: 'resend',
    call: at('first', (id) => `/v1/notifications/${id}/resend`, { method: 'POST' }),
    status: 201,
  },
  {
    title: 'create a key',
    call: post('/v1/api-keys', { name: 'new', permission: 'Write' }),
    status: 201,
    save: 'key',
  },
  { title: 'list keys', call: { path: '/admin/api-keys?orgId=org_default&limit=1' }, status: 200 },
  { title: 'delete a key', call: at('key', (id) => `/v1/api-keys/${id}`, { method: 'DELETE' }), status: 200 },
  {
    title: 'delete it again',
    call: at('key', (id) => `/v1/api-keys/${id}`, { method: 'DELETE' }),
    status: 404,
    code: 'not_found',
  },
  {
    title: 'register a webhook',
    call: post('/v1/webhooks', { url: 'https://hooks.example.com/x', events: ['notification.sent'] }),
    status: 201,
    save: 'webhook',
  },
  {
    title: 'register a webhook at a private address',
    call: post('/v1/webhooks', { url: 'https://127.0.0.1/x', events: ['notification.sent'] }),
    status: 422,
    code: 'blocked_address',
  },
  { title: 'list webhooks', call: { path: '/v1/webhooks' }, status: 200 },
  { title: 'get a webhook', call: at('webhook', (id) => `/v1/webhooks/${id}`), status: 200 },
  {
    title: 'delete a webhook',
    call: at('webhook', (id) => `/v1/webhooks/${id}`, { method: 'DELETE' }),
    status: 200,
  },
  {
    title: 'suppress a recipient',
    call: post('/v1/suppressions', { channel: 'email', to: 'Gone+1@example.com', reason: 'unsubscribe' }),
    status: 201,
  },
  {
    title: 'send to a suppressed recipient',
    call: notify({ ...mail, to: 'gone+1@example.com' }),
    status: 422,
    code: 'unsubscribed',
  },
  { title: 'list suppressions', call: { path: '/v1/suppressions?channel=email' }, status: 200 },
  {
    title: 'let a recipient through again',
    call: { method: 'DELETE', path: '/v1/suppressions?channel=email&to=gone%2B1%40example.com' },
    status: 200,
  },
  {
    title: 'let it through once more',
    call: { method: 'DELETE', path: '/v1/suppressions?channel=email&to=gone%2B1%40example.com' },
    status: 404,
    code: 'not_found',
  },
]

const parity = { 'x-organization-id': 'org_parity' }
export const operators: Case[] = [
  {
    title: 'create an organization with a key of one',
    call: post('/v1/organizations', {}),
    status: 403,
    code: 'operator_key_required',
  },
  ...(
    [
      ['create an organization', post('/v1/organizations', { id: 'org_parity', name: 'Parity' }), 201],
      ['send for it', notify(mail, parity), 201],
      ['list what it sent', { path: '/admin/logs?orgId=org_parity' }, 200],
      ['list what failed anywhere', { path: '/v1/dead-letters?orgId=*' }, 200],
      ['count over all', { path: '/v1/statistics', headers: { 'x-organization-id': '*' } }, 200],
      [
        'register a webhook of operators',
        post('/v1/webhooks?orgId=*', { url: 'https://hooks.example.com/all' }),
        201,
      ],
      ['get a listener', { path: '/v1/webhooks/wh_listener.mirror?orgId=*' }, 404, 'not_found'],
      ['list templates of all', { path: '/v1/templates?orgId=*' }, 422, 'missing_required_field'],
      ['send for none', notify(mail), 422, 'missing_required_field'],
      ['list of an unknown one', { path: '/v1/templates?orgId=org_nobody' }, 404, 'not_found'],
      ['change it', { method: 'PATCH', path: '/v1/organizations/org_parity', body: { name: 'P' } }, 200],
      ['delete it', { method: 'DELETE', path: '/v1/organizations/org_parity' }, 409, 'organization_in_use'],
      ['delete it by force', { method: 'DELETE', path: '/v1/organizations/org_parity?force=true' }, 200],
    ] satisfies [string, Call, number, string?][]
  ).map(
    ([title, request, status, code]): Case => ({
      title: `an operator: ${title}`,
      call: request,
      status,
      key: 'operator',
      ...(code === undefined ? {} : { code }),
    }),
  ),
]

function batch(count: number): { notifications: unknown[] } {
  return { notifications: Array.from({ length: count }, () => mail) }
}
