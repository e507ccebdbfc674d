import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { DEFAULT_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { compileTemplate, MAX_SUBJECT_LENGTH, toHeader } from '../../../../src/core/text/compile.ts'
import { boundOf, extentOf, levelsOf } from '../../../../src/core/text/extent.ts'
import { formatOf } from '../../../../src/core/text/format.ts'
import { parseSource } from '../../../../src/core/text/parse.ts'
import { kindOf } from '../../../support/kinds.ts'

type Variables = Record<string, unknown>

const compile = (body: string, channel: string = 'sms', subject: string | null = null) =>
  compileTemplate(kindOf(channel), { subject, body, format: null })
const render = (body: string, variables: Variables, channel: string = 'sms') =>
  compile(body, channel).render(variables).body

function fault(work: () => unknown): { code: string; message: string; details: unknown } {
  try {
    work()
  } catch (error) {
    if (isNotifierError(error)) return { code: error.code, message: error.message, details: error.details }
    throw error
  }
  throw new Error('Nothing was thrown.')
}

describe('rendering', () => {
  it('puts values in the place of placeholders', () => {
    expect(
      render('Hello {{name}}, {{ n }} of {{all.of.it}}: {{{ok}}}{{&ok}}.{{! nothing }}', {
        name: 'Ada',
        n: 0,
        all: { of: { it: 5 } },
        ok: false,
      }),
    ).toBe('Hello Ada, 0 of 5: falsefalse.')
  })

  it('never expands a value again', () => {
    const value = '{{secret}} {{{secret}}} {{#a}}{{/a}} {{=<% %>=}}'
    expect(render('{{x}}|{{{x}}}', { x: value, secret: 'S' })).toBe(`${value}|${value}`)
    fc.assert(
      fc.property(fc.string(), fc.string(), (x, secret) => {
        expect(render('<{{x}}>', { x: `{{secret}}${x}`, secret })).toBe(`<{{secret}}${x}>`)
      }),
    )
  })

  it.each<[string, string, string, string]>([
    ['sms', '', `<a href="x">'&\`=`, `<a href="x">'&\`=`],
    ['push', '', `<&>"`, `<&>"`],
    ['email', 'plain: ', `<&>"'`, `plain: <&>"'`],
    ['email', '<p></p>', `<a href="x">'&\`=`, '<p></p>&lt;a href&#61;&quot;x&quot;&gt;&#39;&amp;&#96;&#61;'],
    ['slack', '', '<!channel> & <@U1>"', '&lt;!channel&gt; &amp; &lt;@U1&gt;"'],
    ['webhook', '[', '"}\n\\\u0000', '[\\"}\\n\\\\\\u0000'],
    ['webhook', 'said: ', '"}\n', 'said: "}\n'],
    ['webhook', '', '"}\n', '"}\n'],
  ])('escapes for where it lands: %s %s', (channel, before, value, expected) => {
    expect(render(`${before}{{x}}`, { x: value }, channel)).toBe(expected)
    expect(render(`${before}{{{x}}}`, { x: value }, channel)).toBe(before + value)
  })

  it('gives JSON that parses, whatever the value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (x) => {
        expect(JSON.parse(render('{"text":"{{x}}"}', { x }, 'webhook'))).toEqual({ text: x })
      }),
    )
  })

  it.each([
    ['{{#a}}{"x":"{{v}}"}{{/a}}', 'json'],
    [' {{! said }}\n{{^b}} {{#a}}\n[ "{{v}}" ]{{/a}}{{/b}}', 'json'],
    ['{{#b}}{{/b}}{"x":"{{v}}"}', 'json'],
    ['{{#a}}said: {{v}}{{/a}}', 'text'],
    ['{{#a}}{{v}}{{/a}}{"x":"{{v}}"}', 'text'],
    ['{{! { }}said: {{v}}', 'text'],
    ['{{{v}}}{', 'text'],
    ['{{! only }}', 'text'],
  ])('looks behind leading comments and sections of a webhook: %s', (body, landing) => {
    const escaped = render(`${body}|{{v}}`, { a: true, v: '"' }, 'webhook').split('|').at(-1)
    expect(escaped).toBe(landing === 'json' ? '\\"' : '"')
  })

  it('does not escape subjects, and keeps them on one line', () => {
    const { render: both } = compile('<p>{{x}}</p>', 'email', 'Re: {{x}}')
    const x = 'A & B\r\nBcc: eve@example.com\n\u2028\u0000\u0085<i>'
    expect(both({ x })).toMatchObject({
      subject: 'Re: A & B Bcc: eve@example.com <i>',
      format: 'html',
    })
    expect(both({ x }).body).toContain('A &amp; B')
  })

  it('has sections, inverted sections, lists and their nesting', () => {
    const body = '{{#items}}{{name}}{{^last}}, {{/last}}{{/items}}{{^items}}none{{/items}}'
    expect(render(body, { items: [{ name: 'a' }, { name: 'b', last: true }] })).toBe('a, b')
    expect(render(body, { items: [] })).toBe('none')
    expect(render(body, {})).toBe('none')
    expect(render('{{#list}}{{.}};{{/list}}', { list: [1, 'two', true] })).toBe('1;two;true;')
    expect(render('{{#a}}{{#b}}{{c}}{{outer}}{{/b}}{{/a}}', { a: { b: { c: 'c' } }, outer: 'o' })).toBe('co')
  })

  it.each([
    '{{#a}}{{x}}{{/a}}',
    '{{#a}}{{{x}}}{{/a}}',
    '{{#a}}{{&x}}{{/a}}',
    '{{#a}}{{#x}}{{.}}{{/x}}{{/a}}',
  ])('writes nothing for a value that is no text: %s', (body) => {
    for (const x of [
      { toString: 1, valueOf: 2 },
      {},
      [[]],
      [{}],
      null,
      Number.NaN,
      new Map(),
      () => 'called',
    ]) {
      expect(render(body, { a: [{ x }] })).toBe('')
    }
  })

  it('reads own properties only', () => {
    const inherited: Variables = Object.create({ x: 'inherited' })
    for (const name of [
      'constructor',
      'toString',
      '__proto__',
      'hasOwnProperty',
      'a.length',
      'a.constructor',
    ])
      expect(render(`[{{#a}}{{${name}}}{{{${name}}}}{{/a}}{{#${name}}}x{{/${name}}}]`, { a: 'text' })).toBe(
        '[]',
      )
    expect(render('[{{#a}}{{x}}{{/a}}]', Object.assign(inherited, { a: true }))).toBe('[]')
    expect(
      render('{{__proto__}} {{a.__proto__}}', JSON.parse('{"__proto__":"own","a":{"__proto__":1}}')),
    ).toBe('own 1')
    expect(({} as Variables).x).toBeUndefined()
  })

  it.each(['{{a}}', '{{^l}}{{/l}}', '{{^a}}{{/a}}', '{{&none}}', ' {{a}}'])(
    'ends a text that grows without bound also where it writes next to nothing: %s',
    (tag) => {
      const body = `{{#l}}${tag.repeat(500)}{{/l}}`
      const values = (count: number) => ({ a: '', l: Array.from({ length: count }, () => 1) })
      const { assertVariables, render } = compileTemplate(kindOf('sms'), {
        subject: null,
        body,
        format: null,
      })
      for (const judge of [render, assertVariables])
        expect(fault(() => judge(values(1_000))).code).toBe('message_too_large')
      expect(() => render(values(10))).not.toThrow()
    },
  )

  it('looks no comment up, however long', () => {
    const asked: unknown[] = []
    const variables = new Proxy<Variables>(
      { list: [1, 2] },
      {
        getOwnPropertyDescriptor(values, name) {
          asked.push(name)
          return Reflect.getOwnPropertyDescriptor(values, name)
        },
      },
    )
    expect(render('{{#list}}x{{! not.a.name }}{{/list}}{{a}}', variables)).toBe('xx')
    expect(asked).toContain('a')
    expect(asked).not.toContain('not')
  })

  it('finds what lies deep, and nothing behind a value', () => {
    expect(render('{{a.b.c}}[{{#o}}{{a.b.c.d}}{{a.b.}}{{a..b}}{{/o}}]', { a: { b: { c: 1 } }, o: 1 })).toBe(
      '1[]',
    )
  })

  it('ends a text that grows without bound', () => {
    const list = Array.from({ length: 100 }, () => 'a')
    const nested = `${'{{#list}}'.repeat(10)}x${'{{/list}}'.repeat(10)}`
    expect(fault(() => render(nested, { list })).code).toBe('message_too_large')
    expect(fault(() => render(`${'{{#list}}'.repeat(10)}${'{{/list}}'.repeat(10)}`, { list })).code).toBe(
      'message_too_large',
    )
    const long = { text: 'x'.repeat(DEFAULT_BOUNDS.textBytes / 2), list: [1, 2, 3] }
    expect(fault(() => render('{{#list}}{{text}}{{/list}}', long)).code).toBe('message_too_large')
    expect(render('{{#list}}{{.}}{{/list}}', { list })).toBe('a'.repeat(100))
    expect(
      render('{{#list}}{{.}}{{/list}}', { list: Array.from({ length: 10_000 }, () => 'ab') }),
    ).toHaveLength(20_000)
  })
})

describe('required variables', () => {
  const missing = (body: string, variables: Variables, subject: string | null = null) =>
    fault(() => compile(body, 'email', subject).assertVariables(variables))

  it('are all named, of subject and body, once each', () => {
    expect(missing('{{a}} {{b.c}} {{a}} {{{d}}} {{&e}}', { e: 1 }, '{{s}} {{a}}')).toEqual({
      code: 'invalid_template_variable',
      message: expect.stringContaining('"a" (absent), "b.c" (absent), "d" (absent), "s" (absent)'),
      details: { field: 'variables', missing: ['a', 'b.c', 'd', 's'] },
    })
  })

  it('are named up to the tenth, and counted', () => {
    const names = Array.from({ length: 2_000 }, (_, index) => `n${index}`)
    const { message, details } = missing(names.map((name) => `{{${name}}}`).join(''), { n0: 1 })
    expect(details).toEqual({ field: 'variables', missing: names.slice(1, 11) })
    expect(message).toContain('"n10" (absent) and 1989 more: each must be')
  })

  it('are named with what was there instead', () => {
    const { message } = missing('{{a}} {{b}} {{c}} {{d.e}} {{f}}', { b: null, c: {}, d: { e: [] }, f: 1 })
    expect(message).toBe(
      'The template needs the variables "a" (absent), "b" (null), "c" (an object), "d.e" (a list): ' +
        'each must be a text, a number or a boolean.',
    )
    expect(missing('{{a}}', {}).message).toBe(
      'The template needs the variable "a" (absent): it must be a text, a number or a boolean.',
    )
  })

  it.each<{ x: unknown }>(
    [undefined, null, {}, [], Number.NaN, Number.POSITIVE_INFINITY, { toString: 'x' }].map((x) => ({ x })),
  )('cannot be $x', ({ x }) => {
    expect(missing('{{x}}', { x })).toMatchObject({ details: { missing: ['x'] } })
  })

  it.each(['', 'text', 0, -1.5, true, false])('can be %j', (x) => {
    compile('{{x}}').assertVariables({ x })
    expect(render('{{x}}', { x })).toBe(String(x))
  })

  it.each(['constructor', 'toString', '__proto__', 'a.length', 'a.constructor.name'])(
    'are not inherited: %s',
    (name) => {
      expect(missing(`{{${name}}}`, { a: 'text' })).toMatchObject({ details: { missing: [name] } })
    },
  )

  it('are not inherited from an object of the caller', () => {
    const a = Object.create({ x: 'inherited' })
    expect(missing('{{a.x}}', { a })).toMatchObject({ details: { missing: ['a.x'] } })
    expect(missing('{{x}}', a)).toMatchObject({ details: { missing: ['x'] } })
  })

  it('are optional inside of sections', () => {
    const template = compile('{{#a}}{{b}}{{/a}}{{^a}}{{c}}{{/a}}')
    template.assertVariables({})
    expect(template.render({ a: {} }).body).toBe('')
  })
})

describe('the size of a text', () => {
  const items = (count: number, length: number) => Array.from({ length: count }, () => 'x'.repeat(length))
  const tooLarge = (body: string, variables: Variables, subject: string | null = null) =>
    fault(() => compile(body, 'email', subject).assertVariables(variables)).code

  it('is checked with the values', () => {
    expect(tooLarge('{{#a}}{{t}}{{/a}}', { a: items(1_000, 1), t: 'x'.repeat(1_000) })).toBe(
      'message_too_large',
    )
    expect(tooLarge('{{#a}}{{.}}{{/a}}', { a: items(1_000, 1_000) })).toBe('message_too_large')
    expect(tooLarge('{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}', { a: items(100, 0) })).toBe('message_too_large')
    expect(tooLarge('{{{t}}}{{{t}}}', { t: 'x'.repeat(150_000) })).toBe('message_too_large')
    expect(tooLarge('<p>{{t}}</p>', { t: '"'.repeat(100_000) })).toBe('message_too_large')
    expect(tooLarge('x', { t: 'x'.repeat(150_000) }, '{{t}}{{t}}')).toBe('message_too_large')
  })

  it('is right where it only might be too large', () => {
    compile('{{t}}').assertVariables({ t: 'x'.repeat(DEFAULT_BOUNDS.textBytes) })
    compile('{{#a}}{{t}}{{/a}}', 'email', '{{t}}').assertVariables({
      a: [1],
      b: items(1_000, 1),
      t: 'x'.repeat(1_000),
    })
    compile('x', 'email', '{{t}}{{t}}').assertVariables({ t: 'x'.repeat(150_000) }, { subject: 'x' })
  })

  it('never exceeds its bound, whatever is rendered', () => {
    const part = fc.constantFrom(
      '{{a}}',
      '{{&a}}',
      '{{.}}',
      '{{#a}}',
      '{{^a}}',
      '{{#.}}',
      '{{/a}}',
      '{{/.}}',
      'text',
      '"',
    )
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
    )
    const values = fc.oneof(
      value,
      fc.array(value),
      fc.array(fc.array(value)),
      fc.record({ a: fc.array(value) }),
    )
    const channel = fc.constantFrom<string>('email', 'webhook', 'slack')
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), values, channel, (parts, a, where) => {
        const source = parts.join('')
        let tokens: ReturnType<typeof parseSource>
        try {
          tokens = parseSource(source, { field: 'body', owner: 'template' })
        } catch {
          return
        }
        const template = compileTemplate(kindOf(where), { subject: null, body: source, format: 'html' })
        const { bytes } = boundOf(levelsOf(tokens), extentOf({ a }))
        expect(Buffer.byteLength(template.render({ a }).body)).toBeLessThanOrEqual(bytes)
      }),
    )
  })
})

describe('the format of an e-mail body', () => {
  it.each([
    ['Hello', 'text'],
    ['a < b and b > c', 'text'],
    ['<b>x</b>', 'html'],
    ['x</P >', 'html'],
    ['<!DOCTYPE html>x', 'html'],
    ['<html lang="en">', 'html'],
    ['{{x}}', 'text'],
  ])('%s is %s', (source, expected) => {
    expect(formatOf(kindOf('email'), null, source)).toBe(expected)
    expect(formatOf(kindOf('sms'), null, source)).toBe('text')
    expect(formatOf(kindOf('push'), 'html', source)).toBe('text')
  })

  it('is never decided by a value', () => {
    expect(compile('{{x}}', 'email').render({ x: '<b>x</b>' })).toMatchObject({
      format: 'text',
      body: '<b>x</b>',
    })
  })
})

describe('toHeader', () => {
  it('gives one bounded, well-formed line for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 3_000 }), (text) => {
        const header = toHeader(text)
        expect(header).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
        expect(header.length).toBeLessThanOrEqual(MAX_SUBJECT_LENGTH)
      }),
    )
    expect(toHeader(`${'a'.repeat(MAX_SUBJECT_LENGTH - 1)}😀`)).toBe('a'.repeat(MAX_SUBJECT_LENGTH - 1))
  })
})
