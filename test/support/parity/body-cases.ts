import { gzipSync } from 'node:zlib'
import { type Case, json, mail, notify, post, text } from './case.ts'

const big = JSON.stringify({ ...mail, body: 'x'.repeat(30_000) })

export const bodies: Case[] = [
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
    title: 'a file',
    call: post('/v1/attachments?filename=a.pdf', Buffer.from([0, 255]), {
      'content-type': 'application/pdf',
    }),
    status: 201,
  },
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

function deep(levels: number): unknown {
  return levels === 0 ? 1 : { a: deep(levels - 1) }
}
