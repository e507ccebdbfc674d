import { type Case, json, known, text } from './case.ts'

export const methods: Case[] = [
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

export const paths: Case[] = [
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

export const queries: Case[] = [
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
