import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type * as z from 'zod'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { assertKnownFields } from '../../../../src/core/input/known-fields.ts'
import { parseInput } from '../../../../src/core/input/parse.ts'
import { templateInput } from '../../../../src/core/text/input.ts'
import { apiKeyInput } from '../../../../src/features/api-keys/input.ts'
import { retryInput } from '../../../../src/features/failures/input.ts'
import { organizationInput } from '../../../../src/features/organizations/input.ts'
import { webhookEndpointInput } from '../../../../src/features/webhook-events/input.ts'
import { SEND_INPUT } from '../../../support/kinds.ts'

function fault(schema: z.ZodType, input: unknown): [code: string, field: unknown] {
  try {
    parseInput(schema, input)
  } catch (error) {
    if (!isNotifierError(error)) throw error
    const field = error.details?.field
    expect(error.message).toContain(`"${error.code === 'invalid_channel' ? '' : String(field)}`)
    return [error.code, field]
  }
  return ['', '']
}

function nested(depth: number): unknown {
  return depth === 0 ? 'x' : { a: nested(depth - 1) }
}

const cyclic: Record<string, unknown> = {}
cyclic.self = cyclic

const send = { channel: 'email', to: 'ada@example.com', body: 'Hello' }
const file = { filename: 'a.pdf', contentType: 'application/pdf', content: 'JVBERg==' }
const wrongText = [5, null, true, {}, ['x'], '']

const sendInput = SEND_INPUT

describe('a send', () => {
  it('takes every field and gives times as numbers', () => {
    const full = {
      ...send,
      subject: '',
      template: 'welcome',
      variables: { a: { b: [1, null, true, 'x'] } },
      data: {},
      format: 'html',
      priority: 'high',
      sendAt: '2026-11-21T12:00:00+01:00',
      expiresAt: new Date(Date.UTC(2026, 10, 22)),
    } as const
    expect(parseInput(sendInput, full)).toEqual({
      ...full,
      sendAt: Date.UTC(2026, 10, 21, 11),
      expiresAt: Date.UTC(2026, 10, 22),
    })
  })

  it.each<[string, unknown, string]>([
    ...wrongText.map((to): [string, unknown, string] => ['to', to, 'invalid_parameter']),
    ...wrongText.map((body): [string, unknown, string] => ['body', body, 'invalid_parameter']),
    ...wrongText.map((template): [string, unknown, string] => ['template', template, 'invalid_parameter']),
    ['to', undefined, 'missing_required_field'],
    ['to', 'a\uD800b', 'invalid_parameter'],
    ['to', '\uDC00', 'invalid_parameter'],
    ['to', 'a'.repeat(4097), 'invalid_parameter'],
    ['body', 'a\uD800', 'invalid_parameter'],
    ['body', 'a'.repeat(4 * 1024 * 1024 + 1), 'invalid_parameter'],
    ['subject', '\uDFFF', 'invalid_parameter'],
    ['subject', 5, 'invalid_parameter'],
    ['subject', null, 'invalid_parameter'],
    ['subject', 'a'.repeat(999), 'invalid_parameter'],
    ['template', 'a'.repeat(129), 'invalid_parameter'],
    ['channel', 'Email', 'invalid_channel'],
    ['channel', '', 'invalid_channel'],
    ['channel', '__proto__', 'invalid_channel'],
    ['channel', 5, 'invalid_parameter'],
    ['channel', null, 'invalid_parameter'],
    ['variables', null, 'invalid_parameter'],
    ['variables', [], 'invalid_parameter'],
    ['variables', 'x', 'invalid_parameter'],
    ['variables', nested(17), 'invalid_parameter'],
    ['variables', cyclic, 'invalid_parameter'],
    ['variables', { x: 1n }, 'invalid_parameter'],
    ['variables', { x: () => 1 }, 'invalid_parameter'],
    ['variables', { x: Symbol('x') }, 'invalid_parameter'],
    ['variables', { x: Number.NaN }, 'invalid_parameter'],
    ['variables', { x: 'a\uD800' }, 'invalid_parameter'],
    ['variables', { '\uD800': 1 }, 'invalid_parameter'],
    ['variables', { x: Array.from({ length: 10_001 }, () => 1) }, 'invalid_parameter'],
    ['data', { x: Number.POSITIVE_INFINITY }, 'invalid_parameter'],
    ['format', 'markdown', 'invalid_parameter'],
    ['priority', 'urgent', 'invalid_parameter'],
    ['sendAt', 'tomorrow', 'invalid_parameter'],
    ['sendAt', '2026-11-21', 'invalid_parameter'],
    ['sendAt', '2026-11-21T12:00:00', 'invalid_parameter'],
    ['sendAt', 1_800_000_000_000, 'invalid_parameter'],
    ['sendAt', new Date(Number.NaN), 'invalid_parameter'],
    ['expiresAt', '2026-02-30T12:00:00Z', 'invalid_parameter'],
    ['expiresAt', null, 'invalid_parameter'],
  ])('with a wrong %s', (field, value, code) => {
    expect(fault(sendInput, { ...send, [field]: value })).toEqual([code, field])
  })

  it.each([undefined, null, 5, 'x', [], true, () => send])('that is %s is refused as a whole', (input) => {
    expect(fault(sendInput, input)).toEqual(['invalid_parameter', 'input'])
  })

  it.each(['tomorrow', '2026-11-21T12:00:00', 5, null])('says what a time must be, not %j', (sendAt) => {
    const message =
      '"sendAt": must be an ISO 8601 time with a zone, such as 2026-01-15T09:30:00Z (in code also a Date).'
    expect(() => parseInput(sendInput, { ...send, sendAt })).toThrow(message)
  })

  it.each([
    ['to', { to: 5 }, 'must be a text'],
    ['to', { to: '' }, 'must not be empty'],
    ['to', { to: 'a'.repeat(4097) }, 'must have at most 4096 characters'],
    ['priority', { priority: 'urgent' }, 'must be one of "normal", "high"'],
    ['email.unsubscribe', { email: { unsubscribe: 'yes' } }, 'must be true or false'],
    ['email.attachments', { email: { attachments: 'x' } }, 'must be a list'],
    ['email.attachments', { email: { attachments: Array(11).fill(file) } }, 'must have at most 10 items'],
    [
      'email.attachments.0.content',
      { email: { attachments: [{ ...file, content: 'x' }] } },
      'must be padded base64 without line breaks',
    ],
    ['slack.blocks', { slack: { blocks: [] } }, 'must not be empty'],
    ['push.data.', { push: { data: { '': 'x' } } }, 'a name in it must not be empty'],
  ])('says of "%s" what is right, given %j', (field, given, right) => {
    const message = `"${field}": ${right}.`
    expect(() => parseInput(sendInput, { ...send, ...given })).toThrow(expect.objectContaining({ message }))
  })

  it.each([
    ['most', 0, 'must be at least 1'],
    ['most', 1_000_001, 'must be at most 1000000'],
    ['most', 1.5, 'must be a whole number'],
    ['ratePerSecond', Number.NaN, 'must be a number'],
  ])('says of the number "%s" what is right, not %j', (field, value, right) => {
    const message = `"${field}": ${right}.`
    const input = { filter: {}, [field]: value }
    expect(() => parseInput(retryInput, input)).toThrow(expect.objectContaining({ message }))
  })

  it('calls an absent field of a query what it is', () => {
    expect(() => parseInput(templateInput, {}, 'query')).toThrow('The query parameter "name" is required.')
  })

  it('hears the first ten of the names that nobody knows, and how many more there are', () => {
    const names = Array.from({ length: 90_000 }, (_, index) => `${index}${'x'.repeat(60)}`)
    const email = Object.fromEntries(names.map((name) => [name, 1]))
    const first = names.slice(0, 10).map((name) => `"${name.slice(0, 50)}"`)
    const listed = `${first.join(', ')} and 89990 more`
    const message = expect.stringContaining(`"email": has no fields ${listed}; its fields are "`)
    expect(() => parseInput(sendInput, { ...send, email })).toThrow(expect.objectContaining({ message }))
    expect(() => assertKnownFields(sendInput, { ...send, ...email })).toThrow(`Unknown fields: ${listed}.`)
    expect(() => parseInput(sendInput, { ...send, email: { reply: 1 } })).toThrow(
      '"email": has no field "reply" (did you mean "replyTo"?); its fields are "',
    )
  })

  it('hears where the values of a template belong', () => {
    const values = { name: 'Ada', catgory: 'news' }
    expect(() => assertKnownFields(sendInput, { ...send, template: 'welcome', ...values })).toThrow(
      /"name": the values of a template belong in "variables"\. "catgory": did you mean "category"\?$/,
    )
    expect(() => assertKnownFields(sendInput, { ...send, ...values })).not.toThrow(/variables/)
  })

  it('hears of an absent field before a wrong one', () => {
    expect(fault(sendInput, { channel: 'fax', subject: 5 })).toEqual(['missing_required_field', 'to'])
  })

  it('takes what JSON makes of __proto__, and pollutes nothing', () => {
    const text =
      '{"to":"ada@example.com","body":"x","__proto__":{"channel":"fax"},"variables":{"__proto__":{"y":1}}}'
    const parsed = parseInput(sendInput, JSON.parse(text))
    expect(Object.keys(parsed).sort()).toEqual(['body', 'to', 'variables'])
    expect(parsed.channel).toBeUndefined()
    expect(({} as Record<string, unknown>).y).toBeUndefined()
    expect(Object.hasOwn(parsed.variables ?? {}, '__proto__')).toBe(true)
  })

  it('survives JSON that is nested as deep as a parser allows', () => {
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`)
    expect(fault(sendInput, { ...send, variables: { deep } })).toEqual(['invalid_parameter', 'variables'])
    expect(fault(sendInput, { ...send, to: deep })).toEqual(['invalid_parameter', 'to'])
    expect(parseInput(sendInput, { ...send, variables: nested(16) as object }).to).toBe(send.to)
  })

  it.each(['variables', 'data'])('takes four mebibytes of keys and texts in %s, and no more', (field) => {
    const MOST = 2 ** 22
    const texts = (size: number) => ({ [field]: { list: ['x'.repeat(size - 6)], é: 1, n: 1 } })
    expect(fault(sendInput, { ...send, ...texts(MOST) })[0]).toBe('')
    expect(fault(sendInput, { ...send, ...texts(MOST + 1) })).toEqual(['invalid_parameter', field])
    expect(() => parseInput(sendInput, { ...send, ...texts(MOST + 1) })).toThrow(
      'at most 4194304 characters of keys and texts',
    )
    const keys = { ['k'.repeat(MOST)]: 1, more: 1 }
    expect(fault(sendInput, { ...send, [field]: keys })).toEqual(['invalid_parameter', field])
  })

  it.each<[string, object, string]>([
    ['a function', { user: { greet: () => 'hi' } }, 'must be JSON: "user.greet" is a function'],
    ['NaN', { items: [1, Number.NaN] }, 'must be JSON: "items.1" is NaN, not a finite number'],
    ['a bigint', { x: 1n }, 'must be JSON: "x" is a bigint'],
    ['a symbol', { x: Symbol('x') }, 'must be JSON: "x" is a symbol'],
    ['a lone surrogate', { a: ['\uD800'] }, 'must be well-formed Unicode: "a.0" has a lone surrogate'],
    [
      'one in a name',
      { a: { '\uD800': 1 } },
      'must be well-formed Unicode: a name in "a" has a lone surrogate',
    ],
    ['a cycle', { x: cyclic }, 'must be JSON: "x.self" is a circular reference'],
    [
      'its depth',
      nested(17) as object,
      'must be at most 16 levels deep: "a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a" is',
    ],
    ['its size', { x: Array.from({ length: 10_001 }, () => 1) }, 'must have at most 10000 values'],
    ['a Map', { tags: new Map([['a', 1]]) }, 'must be JSON: "tags" is a Map, whose values JSON would lose'],
    ['what JSON makes of it', { x: { toJSON: () => nested(17) } }, 'must be at most 16 levels deep'],
  ])('says where %s is in the values, and the rule', (_name, variables, message) => {
    expect(() => parseInput(sendInput, { ...send, variables })).toThrow(`"variables": ${message}`)
  })

  it('takes values as they are read back from where they are stored', () => {
    class Price {
      readonly amount = 5
      toJSON(): string {
        return '5 €'
      }
    }
    const given = {
      when: new Date(0),
      price: new Price(),
      list: [undefined, new URL('https://example.com/')],
      none: undefined,
      error: new Error('hidden'),
      same: { a: 1 },
    }
    Object.assign(given.error, { shown: 1 })
    const { variables } = parseInput(sendInput, { ...send, variables: given })
    expect(variables).toStrictEqual({
      when: '1970-01-01T00:00:00.000Z',
      price: '5 €',
      list: [null, 'https://example.com/'],
      error: { shown: 1 },
      same: { a: 1 },
    })
  })

  it('answers with a NotifierError, or takes it, for any JSON', () => {
    const field = fc.constantFrom(
      ...Object.keys(sendInput.safeParse(send).data ?? {}),
      'variables',
      'sendAt',
      'x',
    )
    fc.assert(
      fc.property(fc.dictionary(field, fc.jsonValue()), (input) => {
        const [code, name] = fault(sendInput, input)
        expect(['', 'missing_required_field', 'invalid_parameter', 'invalid_channel']).toContain(code)
        expect(name).toBeTypeOf('string')
      }),
    )
  })
})

describe('a template', () => {
  const template = { name: 'welcome-email', channel: 'email', body: 'Hello' }

  it.each<[string, unknown, string]>([
    ['name', undefined, 'missing_required_field'],
    ['channel', undefined, 'missing_required_field'],
    ['body', undefined, 'missing_required_field'],
    ['channel', 'Fax', 'invalid_channel'],
    ...['', 'Welcome', 'a b', 'a--b', '-a', 'a-', 'ä', 'a_b', 'a'.repeat(101), 5, 'a\n'].map(
      (name): [string, unknown, string] => ['name', name, 'invalid_parameter'],
    ),
    ['body', '', 'invalid_parameter'],
    ['body', '\uD800', 'invalid_parameter'],
    ['html', '', 'invalid_parameter'],
    ['text', 'a'.repeat(4 * 1024 * 1024 + 1), 'invalid_parameter'],
    ['html', '<p>beside a body</p>', 'invalid_parameter'],
    ['text', 'beside a body', 'invalid_parameter'],
    ['subject', 'a'.repeat(999), 'invalid_parameter'],
    ['description', 'a'.repeat(2001), 'invalid_parameter'],
    ['format', 'rtf', 'invalid_parameter'],
  ])('with a wrong %s', (field, value, code) => {
    expect(fault(templateInput, { ...template, [field]: value })).toEqual([code, field])
  })

  it('takes null for what may be left out', () => {
    const empty = { subject: null, format: null, html: null, text: null, description: null }
    expect(parseInput(templateInput, { ...template, ...empty })).toMatchObject(empty)
  })
})

describe('the other inputs', () => {
  const key = { name: 'CI', permission: 'Write' }
  const endpoint = { url: 'https://example.com/' }

  it.each<[string, z.ZodType, unknown, string, string]>([
    ['key', apiKeyInput, { ...key, name: undefined }, 'missing_required_field', 'name'],
    ['key', apiKeyInput, { ...key, permission: undefined }, 'missing_required_field', 'permission'],
    ['key', apiKeyInput, { ...key, permission: 'write' }, 'invalid_parameter', 'permission'],
    ['key', apiKeyInput, { ...key, name: '' }, 'invalid_parameter', 'name'],
    ['key', apiKeyInput, { ...key, expiresAt: 'never' }, 'invalid_parameter', 'expiresAt'],
    ['organization', organizationInput, {}, 'missing_required_field', 'name'],
    ['organization', organizationInput, { name: 'x', id: 'acme' }, 'invalid_parameter', 'id'],
    ['organization', organizationInput, { name: 'x', id: 'org_' }, 'invalid_parameter', 'id'],
    ['organization', organizationInput, { name: 'x', id: 'org_a b' }, 'invalid_parameter', 'id'],
    ['organization', organizationInput, { name: 'x', id: 'org_a\n' }, 'invalid_parameter', 'id'],
    ['endpoint', webhookEndpointInput, {}, 'missing_required_field', 'url'],
    ['endpoint', webhookEndpointInput, { ...endpoint, events: [] }, 'invalid_parameter', 'events'],
    ['endpoint', webhookEndpointInput, { ...endpoint, events: ['sent'] }, 'invalid_parameter', 'events.0'],
    [
      'endpoint',
      webhookEndpointInput,
      { ...endpoint, successStatus: 200 },
      'invalid_parameter',
      'successStatus',
    ],
  ])('%s', (_name, schema, input, code, field) => {
    expect(fault(schema, input)).toEqual([code, field])
  })
})
