import { gzipSync } from 'node:zlib'
import { ROUTES } from '../../../../src/http/routes/table.ts'
import { createLinkSigner } from '../../../../src/services/links/link-signer.ts'
import type { Call } from '../http-client.ts'
import type { Harness } from './harness.ts'
import { SECRET, type World } from './world.ts'

/** One request of the suite, sent to every host in the same order. */
export interface Case {
  readonly title: string
  readonly call: Call | ((world: World) => Call)
  readonly status: number
  /** In an error body. */
  readonly code?: string
  /** Whose key goes with it; null: none. Default `full`. */
  readonly key?: keyof World['keys'] | null
  /** Keeps the `id` of the answer under this name. */
  readonly save?: string
  /** A parser of the application would answer it itself, or see something else than is there. */
  readonly raw?: true
  /** Frameworks with this way of their own do not let it through. */
  readonly unless?: NonNullable<Harness['ownWays']>[number]
  /** Answered by the application: then only status and body are the same. */
  readonly host?: true
  readonly before?: (world: World) => unknown
}

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada' }
const template = { name: 'welcome', channel: 'email', subject: 'Hi {{name}}', body: 'Hello {{name}}' }
const json = { 'content-type': 'application/json' }
const text = JSON.stringify(mail)
const big = JSON.stringify({ ...mail, body: 'x'.repeat(30_000) })

function post(path: string, body: unknown, headers: Call['headers'] = {}): Call {
  return { method: 'POST', path, body, headers }
}

const notify = (body: unknown, headers?: Call['headers']): Call => post('/v1/notify', body, headers)
const at = (name: string, path: (id: string) => string, more: Omit<Call, 'path'> = {}) => {
  return ({ saved }: World): Call => ({ ...more, path: path(saved.get(name) ?? 'nothing-saved') })
}

const sending: Case[] = [
  { title: 'send', call: notify(mail), status: 201, save: 'first' },
  { title: 'send over the other path', call: post('/v1/notifications', mail), status: 201 },
  {
    title: 'send later',
    call: ({ clock }) => notify({ ...mail, sendAt: new Date(clock.now() + 3_600_000).toISOString() }),
    status: 201,
    save: 'later',
  },
  { title: 'get', call: at('first', (id) => `/v1/notifications/${id}`), status: 200 },
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

const templates: Case[] = [
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

const administration: Case[] = [
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

const access: Case[] = [
  { title: 'no key', call: notify(mail), key: null, status: 401, code: 'missing_authorization' },
  {
    title: 'a malformed key',
    call: { path: '/v1/templates', headers: { authorization: 'Basic x' } },
    key: null,
    status: 401,
    code: 'invalid_api_key',
  },
  {
    title: 'a key that is there twice',
    call: ({ keys }) => ({
      path: '/v1/templates',
      headers: { authorization: [`Bearer ${keys.full}`, `Bearer ${keys.full}`] as never },
    }),
    key: null,
    status: 401,
    code: 'invalid_api_key',
  },
  {
    title: 'an expired key',
    call: { path: '/v1/templates' },
    key: 'expired',
    status: 401,
    code: 'expired_api_key',
  },
  { title: 'no permission', call: notify(mail), key: 'read', status: 403, code: 'insufficient_permissions' },
  {
    title: 'another address than the key is for',
    call: { path: '/v1/templates' },
    key: 'restricted',
    status: 403,
    code: 'ip_not_allowed',
  },
  {
    title: 'the address of the key, behind a trusted proxy',
    call: {
      path: '/v1/templates?limit=1',
      headers: { 'x-forwarded-for': ['192.0.2.1', '10.1.2.3'], 'x-forwarded-proto': 'https' },
    },
    key: 'restricted',
    status: 200,
  },
  {
    title: 'plain HTTP behind a proxy',
    call: { path: '/v1/templates', headers: { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'http' } },
    status: 403,
    code: 'https_required',
  },
  {
    title: 'another organization in the header',
    call: { path: '/v1/templates', headers: { 'x-organization-id': 'org_small' } },
    status: 403,
    code: 'organization_mismatch',
  },
  {
    title: 'the organization twice in the header',
    call: { path: '/v1/templates', headers: { 'x-organization-id': ['org_default', 'org_default'] } },
    status: 403,
    code: 'organization_mismatch',
  },
  {
    title: 'no organization under /admin',
    call: { path: '/admin/templates' },
    status: 422,
    code: 'missing_required_field',
  },
  {
    title: 'header and query name different organizations',
    call: { path: '/v1/logs?orgId=org_small', headers: { 'x-organization-id': 'org_default' } },
    status: 400,
    code: 'invalid_parameter',
  },
  {
    title: "another organization's notification",
    call: at('first', (id) => `/v1/notifications/${id}`),
    key: 'small',
    status: 403,
    code: 'organization_mismatch',
  },
  { title: 'a request within a limit', call: { path: '/v1/account/limits' }, key: 'small', status: 200 },
  {
    title: 'a request above it',
    call: { path: '/v1/account/limits' },
    key: 'small',
    status: 429,
    code: 'rate_limit_exceeded',
  },
  { title: 'a send within the quota', call: notify(mail), key: 'quota', status: 201 },
  {
    title: 'a send above it',
    call: notify(mail),
    key: 'quota',
    status: 429,
    code: 'notification_quota_exceeded',
  },
  {
    title: 'maintenance',
    before: ({ notifier }) => notifier.maintenance(true),
    call: notify(mail),
    status: 503,
    code: 'service_unavailable',
  },
  {
    title: 'after maintenance',
    before: ({ notifier }) => notifier.maintenance(false),
    call: notify(mail),
    status: 201,
  },
  {
    title: 'a fault',
    call: { path: '/v1/templates/explodes' },
    status: 500,
    code: 'internal_server_error',
  },
]

const bodies: Case[] = [
  { title: 'nothing in it', call: notify({}), status: 422, code: 'missing_required_field' },
  { title: 'a list', call: notify([mail]), status: 400, code: 'invalid_parameter' },
  {
    title: 'an unknown channel',
    call: notify({ ...mail, channel: 'fax' }),
    status: 422,
    code: 'invalid_channel',
  },
  {
    title: 'no number',
    call: notify({ channel: 'sms', to: '12', body: 'x' }),
    status: 422,
    code: 'invalid_phone',
  },
  { title: 'a wrong type', call: notify({ ...mail, body: 5 }), status: 400, code: 'invalid_parameter' },
  {
    title: 'a lone surrogate',
    call: notify({ ...mail, body: '\ud800' }),
    status: 400,
    code: 'invalid_parameter',
  },
  { title: 'characters of four bytes', call: notify({ ...mail, body: '💌'.repeat(500) }), status: 201 },
  { title: 'deep', call: notify({ ...mail, variables: deep(80) }), status: 400, code: 'invalid_parameter' },
  {
    title: 'an own __proto__',
    call: notify(`{"__proto__":{"to":1},${text.slice(1)}`, json),
    status: 201,
    raw: true,
  },
  {
    title: 'a repeated field',
    call: notify(`${text.slice(0, -1)},"to":"bob@example.com"}`, json),
    status: 201,
  },
  { title: 'no content type', call: notify(text), status: 201 },
  { title: 'chunked', call: notify(text, { ...json, 'transfer-encoding': 'chunked' }), status: 201 },
  {
    title: 'chunked, no content type',
    call: notify(text, { 'transfer-encoding': 'chunked' }),
    status: 201,
  },
  { title: 'large', call: notify(big, json), status: 201 },
  {
    title: 'a charset that is UTF-8',
    call: notify(text, { 'content-type': 'Application/JSON; Charset="UTF-8"' }),
    status: 201,
  },
  {
    title: 'another JSON type',
    call: notify(text, { 'content-type': 'application/vnd.own+json' }),
    status: 201,
  },
  ...[
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application',
    'a/b; c',
    ';',
  ].map(
    (type): Case => ({
      title: `the content type ${type}`,
      call: notify('to=x', { 'content-type': type }),
      status: 415,
      code: 'unsupported_media_type',
    }),
  ),
  {
    title: 'a content type that cannot be parsed, where no body is',
    call: { method: 'DELETE', path: '/v1/templates/nope', headers: { 'content-type': 'nonsense' } },
    status: 404,
    code: 'template_not_found',
  },
  {
    title: 'an empty content type',
    call: notify(text, { 'content-type': '' }),
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    title: 'two content types',
    call: notify(text, { 'content-type': ['application/json', 'application/json'] as never }),
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    title: 'another charset',
    call: notify(text, { 'content-type': 'application/json; charset=utf-16' }),
    status: 415,
    code: 'unsupported_media_type',
    raw: true,
  },
  {
    title: 'compressed',
    call: notify(gzipSync(text), { ...json, 'content-encoding': 'gzip' }),
    status: 415,
    code: 'unsupported_media_type',
    raw: true,
  },
  ...(
    [
      ['half a value', '{"channel":'],
      ['text', 'hello'],
      ['nothing at all', ''],
      ['spaces', '  '],
      ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
      ['a deep list that ends too early', '['.repeat(10_000)],
    ] as const
  ).map(
    ([title, body]): Case => ({
      title: `no JSON: ${title}`,
      call: notify(body, json),
      status: 400,
      code: 'invalid_json',
      raw: true,
    }),
  ),
  ...['null', '"text"', '5', 'true'].map(
    (body): Case => ({
      title: `no object: ${body}`,
      call: notify(body, json),
      status: 400,
      code: 'invalid_parameter',
      raw: true,
    }),
  ),
  ...[json, { ...json, 'content-length': '0' }].map(
    (headers): Case => ({
      title: `no body where none is needed, ${Object.keys(headers)}`,
      call: { method: 'POST', path: '/v1/webhooks/wh_nothing/rotate-secret', headers },
      status: 404,
      code: 'not_found',
    }),
  ),
  {
    title: 'no body and no length',
    call: { method: 'POST', path: '/v1/notify' },
    status: 400,
    code: 'invalid_json',
  },
  {
    title: 'bad JSON without a key',
    call: notify('{', json),
    key: null,
    status: 401,
    code: 'missing_authorization',
    raw: true,
  },
  ...[60_000, 2_000_000].flatMap((size): Case[] => {
    const body = 'x'.repeat(size)
    const refused = { status: 413, code: 'payload_too_large', raw: true } as const
    return [
      { title: `${size} bytes`, call: notify(body, json), ...refused },
      {
        title: `${size} bytes, chunked`,
        call: notify(body, { ...json, 'transfer-encoding': 'chunked' }),
        ...refused,
      },
    ]
  }),
]

const methods: Case[] = [
  { title: 'HEAD', call: { method: 'HEAD', path: '/v1/templates' }, status: 200 },
  { title: 'HEAD of something unknown', call: { method: 'HEAD', path: '/v1/templates/nope' }, status: 404 },
  { title: 'HEAD where no GET is', call: { method: 'HEAD', path: '/v1/notify' }, status: 405 },
  { title: 'HEAD without a key', call: { method: 'HEAD', path: '/v1/templates' }, key: null, status: 401 },
  ...['OPTIONS', 'PUT', 'PATCH', 'DELETE'].map(
    (method): Case => ({
      title: method,
      call: { method, path: '/v1/templates' },
      status: 405,
      code: 'method_not_allowed',
    }),
  ),
  {
    title: 'OPTIONS with a body',
    call: {
      method: 'OPTIONS',
      path: '/v1/notify',
      body: text,
      headers: { ...json, 'content-length': text.length },
    },
    status: 405,
    code: 'method_not_allowed',
  },
  {
    title: 'GET with a body',
    call: { path: '/v1/templates?limit=1', body: text, headers: { ...json, 'content-length': text.length } },
    status: 200,
  },
  ...['PROPFIND', 'TRACE'].map(
    (method): Case => ({
      title: method,
      call: { method, path: '/v1/templates' },
      status: 405,
      code: 'method_not_allowed',
      unless: 'methods',
    }),
  ),
]

function known(path: string, status: number, code?: string, more: Partial<Case> = {}): Case {
  return { title: `GET ${path.slice(0, 60)}`, call: { path }, status, ...(code ? { code } : {}), ...more }
}

const paths: Case[] = [
  ...[
    '/v1',
    '/v1/',
    '/admin',
    '/admin/',
    '/v1/nowhere',
    '/v1/templates/',
    '/v1//templates',
    '/v1/%74emplates',
  ].map((path) => known(path, 404, 'not_found')),
  known('/v1/templates;a=1', 404, 'not_found'),
  known('/v1/templates/wel%63ome', 200),
  ...['a%2Fb', '%00', '%20', 'x%3Fy', 'x%23y', '%25', '%252e', '%C3%A9', 'x'.repeat(5000)].map((id) =>
    known(`/v1/templates/${id}`, 404, 'template_not_found'),
  ),
  known('/v1/notifications/notif_0', 404, 'notification_not_found'),
  ...['%zz', '%', '%E2%82'].map((id) =>
    known(`/v1/templates/${id}`, 404, 'template_not_found', { unless: 'bad-url' }),
  ),
  known('/v1/templates/../nowhere', 404, 'not_found'),
  // Whoever parses the address as a URL sees another path than the one that is sent; neither exists.
  known('/v1/templates/%2e%2e/nowhere/x', 404, 'not_found'),
  {
    title: 'the form with an origin',
    call: ({ url, prefix }) => ({ path: `${url}${prefix}/v1/templates?limit=1`, headers: {} }),
    status: 200,
  },
]

const queries: Case[] = [
  ...[
    'limit=0',
    'limit=101',
    'limit=1e1',
    'limit=',
    'limit=1&limit=2',
    'limit=1&%6cimit=2',
    'offset=-1',
    'status=lost',
    'from=yesterday',
    'to=%00',
    'limit=%zz',
    'cursor=no%20cursor',
    'limit=1?x=2',
    'limit=1%26offset=1',
    'limit=1#offset=1',
  ].map((query) => known(`/v1/notifications?${query}`, 400, 'invalid_parameter')),
  ...['', '&&', 'limit=%31', '__proto__[x]=1', 'a[]=1'].map((query) =>
    known(`/v1/notifications?${query}`, 200),
  ),
  known('/v1/notifications?to=ada%40example.com&from=2020-01-01T00:00:00%2B01:00&limit=1', 200),
]

const parity = { 'x-organization-id': 'org_parity' }
const operators: Case[] = [
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

/** What nobody wrote a case for: every route, whatever is added, is the same everywhere. */
const everyRoute: Case[] = ROUTES.flatMap((route) =>
  route.paths.map((path): Case => {
    const title = `${route.method} ${path} without a key`
    const filled = path.replaceAll(/\{\w+\}/g, 'notif_1')
    const request = { method: route.method, path: filled, ...(route.body === undefined ? {} : { body: {} }) }
    if (route.limit === 'receipts') {
      return { title, call: request, key: null, status: 404, code: 'not_found', raw: true }
    }
    if (route.page === true) return { title, call: request, key: null, status: 404 }
    return (route.permission as string) === 'public'
      ? { title, call: request, key: null, status: route.status }
      : { title, call: request, key: null, status: 401, code: 'missing_authorization' }
  }),
)

const receipt = (body: string, signature: string | string[], type: string): Call =>
  post('/receipts/email/mail?a=%20b', body, { 'x-signature': signature, 'content-type': type })
const receipts: Case[] = [
  {
    title: 'a receipt as a form',
    call: receipt('To=%2B49&Body=gr\u00fc\u00df', ['right', 'again'], 'application/x-www-form-urlencoded'),
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'a receipt in JSON, white space and all',
    call: receipt('[ 1 ,\n2 ]', 'right, again', 'application/json'),
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'a receipt of no known type',
    call: receipt('\u0000\u0001', 'right, again', 'application/x-unheard-of'),
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'a forged receipt',
    call: receipt('x', 'wrong', 'text/plain'),
    status: 401,
    code: 'invalid_receipt_signature',
    key: null,
    raw: true,
  },
  {
    title: 'a provider that asks for its address',
    call: { path: '/receipts/email/mail?hub.mode=subscribe&a=%20b&token=right' },
    status: 200,
    key: null,
    raw: true,
  },
  {
    title: 'somebody else who asks for it',
    call: { path: '/receipts/email/mail?token=wrong' },
    status: 401,
    code: 'invalid_receipt_signature',
    key: null,
    raw: true,
  },
]

const signer = createLinkSigner([SECRET])
const oneClick = 'List-Unsubscribe=One-Click'
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const unsubscribe = (more: Omit<Call, 'path'> = {}) =>
  at('reader', (id) => `/unsubscribe?t=${signer.sign('unsubscribe', id)}`, more)
const pages: Case[] = [
  {
    title: 'send to who unsubscribes',
    call: notify({ ...mail, to: 'reader@example.com', email: { unsubscribe: true } }),
    status: 201,
    save: 'reader',
  },
  ...(
    [
      ['ask to unsubscribe', unsubscribe(), 200],
      ['HEAD of it', unsubscribe({ method: 'HEAD' }), 200],
      ['unsubscribe without saying so', unsubscribe({ method: 'POST', body: 'a=b', headers: form }), 400],
      ['unsubscribe', unsubscribe({ method: 'POST', body: oneClick, headers: form }), 200],
      ['unsubscribe again', unsubscribe({ method: 'POST', body: oneClick, headers: form }), 200],
      ['a link for another purpose', at('reader', (id) => `/unsubscribe?t=${signer.sign('open', id)}`), 404],
      ['the picture of a mail', at('reader', (id) => `/open?t=${signer.sign('open', id)}`), 200],
      [
        'HEAD of the picture',
        at('reader', (id) => `/open?t=${signer.sign('open', id)}`, { method: 'HEAD' }),
        200,
      ],
      [
        'a link of a mail',
        at('reader', (id) => `/click?t=${signer.sign('click', `${id}\nhttps://example.com/?a=1&b=2`)}`),
        302,
      ],
      [
        'a link that leads to no page',
        at('reader', (id) => `/click?t=${signer.sign('click', `${id}\njavascript:0`)}`),
        404,
      ],
      ['a link that was cut off', { path: '/unsubscribe?t=bm90aWZfMQ.x' }, 404],
    ] as const
  ).map(([title, call, status]) => ({ title, call, status, key: null })),
  {
    title: 'send to who has unsubscribed',
    call: notify({ ...mail, to: 'reader@example.com' }),
    status: 422,
    code: 'unsubscribed',
  },
]

const host: Case[] = [
  { title: "the host's route", call: { path: '/host' }, status: 200 },
  { title: "the host's parser", call: { method: 'POST', path: '/host/echo', body: { a: [1] } }, status: 200 },
  { title: "the host's error handler", call: { path: '/host/fails' }, status: 500 },
  { title: "the host's 404", call: { path: '/nowhere' }, status: 404 },
  { title: "the host's 404 for /", call: { path: '/' }, status: 404 },
  { title: "the host's 404 for a path that looks like ours", call: { path: '/v1x/templates' }, status: 404 },
  { title: "the host's 404 for our path in capitals", call: { path: '/V1/templates' }, status: 404 },
  { title: "the host's 404 for two slashes", call: { path: '//v1/templates' }, status: 404 },
].map((each) => ({ ...each, key: null, host: true }))

const mounted: Case[] = [
  { title: "the host's 404 below the mount", call: { path: '/v2/notify' }, status: 404, host: true },
  { title: "the host's 404 for the mount itself", call: { path: '' }, status: 404, host: true },
  {
    title: "the host's 404 for a path that is encoded where ours is not",
    call: { path: '/%761/templates' },
    status: 404,
    host: true,
  },
]

const all = [
  ...sending,
  ...templates,
  ...administration,
  ...operators,
  ...access,
  ...bodies,
  ...methods,
  ...paths,
  ...queries,
  ...everyRoute,
  ...receipts,
  ...pages,
  ...host,
  ...mounted,
]

/** Below the mount; those of the host are as they are written. Last what a framework may see in its own way. */
export const CASES: readonly Case[] = [
  ...all.filter(({ unless }) => unless === undefined),
  ...all.filter(({ unless }) => unless !== undefined),
]

function batch(count: number): { notifications: unknown[] } {
  return { notifications: Array.from({ length: count }, () => mail) }
}

function deep(levels: number): unknown {
  return levels === 0 ? 1 : { a: deep(levels - 1) }
}
