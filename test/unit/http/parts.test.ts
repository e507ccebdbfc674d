import { describe, expect, it } from 'vitest'
import { finish } from '../../../src/core/loop/steps.ts'
import type { Caller } from '../../../src/core/rest/caller.ts'
import type { BodyLimits, HttpRequest } from '../../../src/core/rest/message.ts'
import { idempotencyKey, isTestMode } from '../../../src/core/rest/send-headers.ts'
import { bearerToken } from '../../../src/http/authorization.ts'
import { readForm, readJsonObject } from '../../../src/http/json-body.ts'
import { organizationOf } from '../../../src/http/organization.ts'
import { parseQuery } from '../../../src/http/query.ts'
import { createRequestIds } from '../../../src/http/request-id.ts'
import type { RouteMatch } from '../../../src/http/router.ts'
import { request, type TestRequest } from './support.ts'

const code = (value: string): unknown => expect.objectContaining({ code: value })

describe('Authorization', () => {
  it.each([['Bearer abc'], ['bearer abc'], ['BEARER abc'], ['Bearer   abc'], ['Bearer abc ']])(
    'takes "%s"',
    (header) => {
      expect(bearerToken(header)).toBe('abc')
    },
  )
  it.each([[undefined], ['']])('misses %s', (header) => {
    expect(() => bearerToken(header)).toThrow(code('missing_authorization'))
  })
  it.each([
    ['abc'],
    ['Bearer'],
    ['Bearer '],
    ['Basic abc'],
    ['Bearer a b'],
    ['Bearer abc, Bearer abc'],
    ['Bearer\tabc'],
    ['Bearer äbc'],
    ['BearerX abc'],
    [`Bearer ${'x'.repeat(257)}`],
    [`Bearer ${' '.repeat(10_000)}x`],
  ])('refuses "%.40s"', (header) => {
    expect(() => bearerToken(header)).toThrow(code('invalid_api_key'))
  })
  it('names the scheme that a header without it lacks', () => {
    expect(() => bearerToken('crl_abc')).toThrow('Send "Authorization: Bearer <API key>"')
  })
  it('takes 256 characters', () => {
    expect(bearerToken(`Bearer ${'x'.repeat(256)}`)).toHaveLength(256)
  })
})

describe('the body', () => {
  const readJson = (given: HttpRequest, limits: BodyLimits) => readJsonObject(given, limits, finish)
  const read = (given: TestRequest): Promise<unknown> =>
    readJson(request(given), { bytes: 100, timeoutMs: 1_000 })
  const type = (value: string): TestRequest => ({ headers: { 'content-type': value }, body: '{"a":1}' })

  it.each([
    ['application/json'],
    ['Application/JSON'],
    ['application/json; charset=utf-8'],
    ['application/json;charset="UTF-8"'],
    ['application/json; charset=utf8; x=y'],
    ['application/vnd.api+json'],
  ])('is taken as %s', async (value) => {
    expect(await read(type(value))).toEqual({ a: 1 })
  })
  it('is taken without a type', async () => {
    expect(await read({ body: '{"a":1}' })).toEqual({ a: 1 })
  })
  it.each([
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/json; charset=latin1'],
    ['application/json; charset=utf-16'],
    ['application/jsonp'],
    [''],
  ])('is refused as "%s"', async (value) => {
    await expect(read(type(value))).rejects.toThrow(code('unsupported_media_type'))
  })
  it.each([['gzip'], ['br'], ['identity, gzip']])('is refused in %s', async (encoding) => {
    await expect(read({ headers: { 'content-encoding': encoding }, body: '{}' })).rejects.toThrow(
      code('unsupported_media_type'),
    )
  })
  it.each([
    ['nothing', ''],
    ['half', '{"a":'],
    ['text', 'hello'],
    ['a comment', '{} // x'],
    ['NaN', '{"a":NaN}'],
    ['two values', '{}{}'],
    ['invalid UTF-8', Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ['a surrogate in UTF-8', Uint8Array.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le')],
  ])('is no JSON when it is %s', async (_title, body) => {
    await expect(read({ body })).rejects.toThrow(code('invalid_json'))
  })
  it.each([['[]'], ['null'], ['1'], ['"x"'], ['true']])('is no object when it is %s', async (body) => {
    await expect(read({ body })).rejects.toThrow(code('invalid_parameter'))
  })
  it('may be 64 levels deep and no more', async () => {
    const deep = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
    const large = (body: string): Promise<unknown> =>
      readJson(request({ body }), { bytes: 1e6, timeoutMs: 1_000 })
    await expect(large(deep(64))).resolves.toBeDefined()
    await expect(large(deep(65))).rejects.toThrow(code('invalid_parameter'))
    await expect(large(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)).rejects.toThrow(
      code('invalid_parameter'),
    )
  })
  it('is refused before it is parsed where it has more values and names than are accepted', async () => {
    const limits = { bytes: 2_000_000, timeoutMs: 1_000 }
    const large = (body: string): Promise<unknown> => readJson(request({ body }), limits)
    const names = (count: number): string =>
      `{"a":{${Array.from({ length: count }, (_, index) => `"k${index}":"v${index}"`).join(',')}}}`
    await expect(large(names(10_000))).resolves.toBeDefined()
    await expect(large(names(90_000))).rejects.toThrow(code('invalid_parameter'))
    // Never parsed: what is wrong at its end is not seen.
    await expect(large(names(90_000).slice(0, -1))).rejects.toThrow(code('invalid_parameter'))
    const texts = Array.from({ length: 90_000 }, (_, index) => `t${index}`)
    await expect(large(JSON.stringify({ a: texts }))).rejects.toThrow(code('invalid_parameter'))
    await expect(large(`{${'"a":1,'.repeat(90_000)}"a":1}`)).rejects.toThrow(code('invalid_parameter'))
  })
  it('may begin with a byte order mark', async () => {
    expect(await read({ body: '\ufeff{"a":1}' })).toEqual({ a: 1 })
  })
  it('counts as it was parsed by the host', async () => {
    expect(await read({ parsedBody: { b: 2 }, body: '{"a":1}' })).toEqual({ b: 2 })
    await expect(read({ parsedBody: [] })).rejects.toThrow(code('invalid_parameter'))
  })
  it('cannot reach a prototype', async () => {
    await read({ body: '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}' })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
  it('is limited', async () => {
    await expect(read({ body: `"${'x'.repeat(100)}"` })).rejects.toThrow(code('payload_too_large'))
  })
  it('is limited by its declared length where the host has read it', async () => {
    const parsed = (length: number) => ({
      headers: { 'content-length': String(length) },
      parsedBody: { 'List-Unsubscribe': 'One-Click' },
    })
    const limits = { bytes: 100, timeoutMs: 1_000 }
    for (const reader of [readJson, readForm]) {
      await expect(reader(request(parsed(100)), limits)).resolves.toBeDefined()
      await expect(reader(request(parsed(101)), limits)).rejects.toThrow(code('payload_too_large'))
    }
  })
})

describe('the query', () => {
  it('is decoded', () => {
    expect({ ...parseQuery('a=1&b=%C3%A4+x&c') }).toEqual({ a: '1', b: 'ä x', c: '' })
  })
  it('survives broken encoding', () => {
    expect({ ...parseQuery('a=%ZZ&b=%ff') }).toEqual({ a: '%ZZ', b: '\ufffd' })
  })
  it('names nothing twice', () => {
    expect(() => parseQuery('orgId=org_a&orgId=org_b')).toThrow(code('invalid_parameter'))
  })
  it('has no prototype to reach', () => {
    expect(Object.keys(parseQuery('__proto__=1&constructor=2'))).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(parseQuery('a=1'))).toBeNull()
  })
})

describe('the organization of a request', () => {
  const of = async (
    header: string | undefined,
    query: string,
    organizationRequired = false,
    organizationId: string | null = 'org_mine',
  ): Promise<string> =>
    organizationOf(
      request(header === undefined ? {} : { headers: { 'x-organization-id': header } }),
      parseQuery(query),
      { route: { belongsTo: 'organization' }, organizationRequired } as RouteMatch,
      { organizations: organizationId === null ? 'all' : [organizationId] } as Caller,
      { organizations: { get: async (id: string) => ({ id, deleting: id === 'org_leaving' }) } } as never,
      ['listLogs'],
    )
  it.each([
    ['the key’s', undefined, '', false],
    ['the header’s', 'org_mine', '', false],
    ['the query’s', undefined, 'orgId=org_mine', false],
    ['both', 'org_mine', 'orgId=org_mine', true],
    ['the key’s when both are empty', '', 'orgId=', false],
  ])('is %s', async (_title, header, query, required) => {
    expect(await of(header, query, required)).toBe('org_mine')
  })
  it.each([
    ['organization_mismatch', 'org_other', '', false],
    ['organization_mismatch', undefined, 'orgId=org_other', true],
    ['organization_mismatch', 'org_other', 'orgId=org_other', false],
    ['organization_mismatch', 'ORG_MINE', '', false],
    ['organization_mismatch', '*', '', false],
    ['organization_mismatch', undefined, 'orgId=*', true],
    ['invalid_parameter', 'org_mine', 'orgId=org_other', false],
    ['missing_required_field', undefined, '', true],
    ['missing_required_field', 'org_mine', '', true],
    ['missing_required_field', 'org_mine', 'orgId=', true],
  ])('is %s for header %s and query "%s"', async (expected, header, query, required) => {
    await expect(of(header, query, required)).rejects.toThrow(code(expected))
  })
  it('is all only for an operator, not for people whom an application lets in to "*"', async () => {
    await expect(of('*', '', false, '*')).rejects.toThrow(code('organization_mismatch'))
    await expect(of(undefined, '', false, '*')).rejects.toThrow(code('organization_mismatch'))
    await expect(of('*', '', false, null)).rejects.toThrow(
      /Operations over all organizations are listLogs\.$/,
    )
  })
  it.each([
    ['org_other', 'org_other', '', false],
    ['org_other', undefined, 'orgId=org_other', true],
  ])('of an operator is the one that it names: %s', async (expected, header, query, required) => {
    expect(await of(header, query, required, null)).toBe(expected)
  })
  it.each([
    ['missing_required_field', undefined, '', false],
    ['missing_required_field', '', 'orgId=', false],
    ['missing_required_field', 'org_mine', '', true],
    ['invalid_parameter', 'org_mine', 'orgId=org_other', false],
    ['not_found', 'org_leaving', '', false],
    ['not_found', 'mine', '', false],
    ['not_found', undefined, 'orgId=org_%00', true],
  ])('of an operator is %s for header %s and query "%s"', async (expected, header, query, required) => {
    await expect(of(header, query, required, null)).rejects.toThrow(code(expected))
  })
})

describe('headers of a send', () => {
  const key = (value: string): string | undefined =>
    idempotencyKey(request({ headers: { 'idempotency-key': value } }))
  it.each([
    ['abc', 'abc'],
    ['"abc"', 'abc'],
    ['""abc""', '"abc"'],
    ['"', '"'],
    ['x'.repeat(255), 'x'.repeat(255)],
    [`"${'x'.repeat(255)}"`, 'x'.repeat(255)],
  ])('take the idempotency key %.20s', (header, value) => {
    expect(key(header)).toBe(value)
  })
  it.each([[''], ['""'], ['a b'], ['a, b'], ['ä'], ['a\tb'], ['x'.repeat(256)], [`"${'x'.repeat(256)}"`]])(
    'refuse the idempotency key "%.20s"',
    (header) => {
      expect(() => key(header)).toThrow(code('invalid_parameter'))
    },
  )
  it.each([
    ['true', true],
    ['TRUE', true],
    ['false', false],
  ])('test mode %s is %s', (value, expected) => {
    expect(isTestMode(request({ headers: { 'x-test-mode': value } }))).toBe(expected)
  })
  it.each([['1'], ['yes'], [''], ['true, true']])('refuse the test mode "%s"', (value) => {
    expect(() => isTestMode(request({ headers: { 'x-test-mode': value } }))).toThrow(
      code('invalid_parameter'),
    )
  })
})

describe('request ids', () => {
  it('are unique and well-formed over many draws', () => {
    const next = createRequestIds()
    const ids = Array.from({ length: 5000 }, next)
    expect(new Set(ids).size).toBe(5000)
    for (const id of ids) expect(id).toMatch(/^req_[\w-]{22}$/)
  })
})
