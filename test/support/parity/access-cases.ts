import { ROUTES } from '../../../src/routes.ts'
import { at, type Case, mail, notify } from './case.ts'

export const access: Case[] = [
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
    title: 'all organizations with a key of one',
    call: { path: '/v1/logs?orgId=*' },
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

/** What nobody wrote a case for: every route, whatever is added, is the same everywhere. */
export const everyRoute: Case[] = ROUTES.flatMap((route) =>
  route.paths.map((path): Case => {
    const title = `${route.method} ${path} without a key`
    const filled = path.replaceAll(/\{\w+\}/g, 'notif_1')
    const request = { method: route.method, path: filled, ...(route.body === undefined ? {} : { body: {} }) }
    if (route.limit === null) {
      return { title, call: request, key: null, status: 404, code: 'not_found', raw: true }
    }
    if (route.page === true) return { title, call: request, key: null, status: 404 }
    return (route.permission as string) === 'public'
      ? { title, call: request, key: null, status: route.status }
      : { title, call: request, key: null, status: 401, code: 'missing_authorization' }
  }),
)
