import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { builtInKinds } from '../../../../src/core/channels/built-in.ts'
import type { ChannelKind } from '../../../../src/core/channels/channel-kind.ts'
import type { LintFault } from '../../../../src/core/channels/lint.ts'
import { DEFAULT_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { finish } from '../../../../src/core/loop/steps.ts'
import { compileTemplate } from '../../../../src/core/text/compile.ts'
import { type LintExamples, lintSteps } from '../../../../src/features/lint/lint.ts'
import { TEMPLATE_RULES } from '../../../../src/features/lint/rules.ts'

const KINDS = builtInKinds()
const RULES: ReadonlySet<string> = new Set([
  ...Object.keys(TEMPLATE_RULES),
  ...[...KINDS.values()].flatMap(({ lint }) => Object.keys(lint?.rules ?? {})),
])

interface Text {
  readonly subject?: string | null
  readonly html?: string
  readonly text?: string
}

function lint(
  channel: string,
  { subject = 'Hello', html, text }: Text,
  examples: Partial<LintExamples> = {},
): { faults: readonly LintFault[]; used: ReadonlySet<string> } {
  const kind = KINDS.get(channel) as ChannelKind
  const source =
    html === undefined
      ? { subject, body: text ?? '', format: 'text' as const, text: null }
      : { subject, body: html, format: 'html' as const, text: text ?? null }
  const used = new Set<string>()
  const given = { variables: undefined, parts: undefined, timeZone: undefined, ...examples }
  const { faults } = finish(lintSteps(kind, source, given, used, DEFAULT_BOUNDS))
  for (const { rule } of faults) expect(RULES).toContain(rule)
  return { faults, used }
}

const rulesOf = (...given: Parameters<typeof lint>) => [
  ...new Set(lint(...given).faults.map(({ rule }) => rule)),
]
const mail = (html: string, variables?: Record<string, unknown>) =>
  rulesOf('email', { html, text: 'Hello' }, { variables })

describe('links', () => {
  it.each([
    '<a href="https://example.com/">x</a>',
    '<a href="mailto:ada@example.com">x</a>',
    '<a href="/orders">x</a>',
    '<a href="#top">x</a>',
    '<a href="{{link}}">x</a>',
    '<img alt="" src="data:image/png;base64,AA==">',
    '<a title="href=http://example.com">x</a>',
    '<!-- <a href="http://example.com">x</a> -->',
    '<p>javascript:alert(1)</p>',
  ])('%s is left alone', (html) => {
    expect(mail(html)).toEqual([])
  })

  it.each([
    '<a href="javascript:alert(1)">x</a>',
    '<a href="JavaScript:alert(1)">x</a>',
    '<a href=" java\nscript:alert(1)">x</a>',
    '<a href="java&#115;cript:alert(1)">x</a>',
    '<a href="java&#115cript:alert(1)">x</a>',
    '<a href="javascript&colon;alert(1)">x</a>',
    '<a href="java&Tab;script:alert(1)">x</a>',
    '<a href=vbscript:x>x</a>',
    "<a href='data:text/html,x'>x</a>",
    '<a href="file:///etc/passwd">x</a>',
    '<form action="javascript:alert(1)"></form>',
    '<img alt="" src="javascript:alert(1)">',
  ])('%s is unsafe', (html) => {
    expect(mail(html)).toEqual(['unsafe_link'])
  })

  it.each([
    '<a href="http://example.com">x</a>',
    '<a href=HTTP://example.com>x</a>',
    '<a href="http://{{host}}/">x</a>',
    '<img alt="" src="http://example.com/a.png">',
    '{{#a}}<a href="http://example.com">x</a>{{/a}}',
    '{{^a}}<a href="http://example.com">x</a>{{/a}}',
  ])('%s is not encrypted', (html) => {
    expect(mail(html)).toEqual(['plain_http_link'])
  })

  it('of example values are checked too, and those of sections that the examples hide', () => {
    expect(mail('<a href="{{link}}">x</a>', { link: 'javascript:alert(1)' })).toEqual(['unsafe_link'])
    expect(mail('{{#a}}<a href="http://a.example">x</a>{{/a}}', { a: false })).toEqual(['plain_http_link'])
  })

  it('are found once, though with tags and with values', () => {
    const found = (html: string, variables: Record<string, unknown>) =>
      lint('email', { html, text: 'x' }, { variables }).faults.map(({ excerpt }) => excerpt)
    expect(found('<a href="http://{{a}}">', { a: 'b' })).toEqual(['<a href="http://{{a}}">'])
    expect(found('<img src="{{a}}"><img src="{{a}}" id="2">', { a: 'b' })).toEqual([
      '<img src="{{a}}">',
      '<img src="{{a}}" id="2">',
    ])
    expect(found('<a href="{{a}}">', { a: 'http://b.example' })).toEqual(['<a href="http://b.example">'])
  })

  it('in plain text are checked', () => {
    expect(rulesOf('sms', { text: 'See http://a.example/x' })).toEqual(['plain_http_link'])
    expect(rulesOf('sms', { text: 'See https://a.example/x' })).toEqual([])
    expect(rulesOf('email', { html: '<p>x</p>', text: 'http://a.example' })).toEqual(['plain_http_link'])
  })
})

describe('images', () => {
  it.each([
    ['<img src="a.png">', ['image_without_alt']],
    ['<IMG SRC=a.png />', ['image_without_alt']],
    ['<img src="a.png" title="alt=x">', ['image_without_alt']],
    ['<img src="a.png" alt="A chart">', []],
    ['<img src="a.png" alt="">', []],
    ['<img alt src="a.png">', []],
  ])('%s', (html, rules) => {
    expect(mail(html)).toEqual(rules)
  })
})

describe('a mail', () => {
  const text = 'Hello'

  it('has a text of its own', () => {
    expect(rulesOf('email', { html: '<p>x</p>' })).toEqual(['missing_text'])
    expect(rulesOf('email', { html: '<p>x</p>', text })).toEqual([])
    expect(rulesOf('email', { text })).toEqual([])
  })

  it('has a subject that is shown whole', () => {
    expect(rulesOf('email', { text, subject: null })).toEqual(['missing_subject'])
    expect(rulesOf('email', { text, subject: 'é'.repeat(70) })).toEqual([])
    expect(rulesOf('email', { text, subject: 'é'.repeat(71) })).toEqual(['subject_too_long'])
  })

  it('is checked as it is sent, if the examples suffice', () => {
    const subject = '{{#long}}{{name}}{{/long}}'
    const variables = { long: true, name: 'x'.repeat(71) }
    expect(rulesOf('email', { text, subject }, { variables })).toEqual(['subject_too_long'])
    expect(rulesOf('email', { text, subject }, { variables: { ...variables, name: 'Ada' } })).toEqual([])
    const hidden = `Hello{{#long}}${'x'.repeat(71)}{{/long}}`
    expect(rulesOf('email', { text, subject: hidden }, { variables: { long: false } })).toEqual([])
    expect(rulesOf('email', { text, subject: hidden })).toEqual(['subject_too_long'])
  })

  it('has at most 102 KB of HTML, counted in bytes', () => {
    const html = (bytes: number) => `<p>${'é'.repeat((bytes - 8) / 2)} </p>`
    expect(Buffer.byteLength(html(102 * 1024))).toBe(102 * 1024)
    expect(rulesOf('email', { html: html(102 * 1024), text })).toEqual([])
    expect(rulesOf('email', { html: html(102 * 1024 + 2), text })).toEqual(['html_too_large'])
  })
})

describe('values', () => {
  const judged = (text: string, variables: Record<string, unknown>) => {
    const { faults, used } = lint('sms', { text }, { variables })
    return [faults.map(({ rule, excerpt }) => [rule, excerpt]), [...used]]
  }

  it('without examples are not checked', () => {
    expect(rulesOf('sms', { text: 'Hi {{name}}' })).toEqual([])
  })

  it.each([
    ['Hi {{name}}', { name: 'Ada' }, [], ['name']],
    ['Hi {{name}}', {}, [['missing_variable', '{{name}}']], []],
    ['Hi {{name}}', { name: null }, [['missing_variable', '{{name}}']], ['name']],
    ['Hi {{{user.name}}}', { user: {} }, [['missing_variable', '{{{user.name}}}']], ['user']],
    ['Hi{{#trial}} until {{end}}{{/trial}}', {}, [['undeclared_variable', '{{#trial}}']], []],
    ['Hi{{#trial}} until {{end}}{{/trial}}', { trial: false }, [], ['trial']],
    ['Hi{{#trial}} until {{end}}{{/trial}}', { trial: { end: 'May' } }, [], ['trial']],
    [
      'Hi{{#trial}} until {{edn}}{{/trial}}',
      { trial: { end: 'May' } },
      [['undeclared_variable', '{{edn}}']],
      ['trial'],
    ],
    ['Hi{{#items}} {{a}}{{#b}} {{b}}{{/b}}{{/items}}', { items: [{ a: 1, b: 2 }, { a: 3 }] }, [], ['items']],
    ['Hi{{#items}} {{.}}{{/items}}', { items: ['a'] }, [], ['items']],
    ['Hi{{#items}} {{.}}{{/items}}', { items: [] }, [], ['items']],
    ['Hi{{#items}} {{name}}{{/items}}', { items: [{ id: 1 }], name: 'Ada' }, [], ['items', 'name']],
    ['Hi{{#items}} {{name}}{{/items}}', { items: [{ name: 1 }], name: 'Ada' }, [], ['items']],
    ['Hi{{^items}} {{name}}{{/items}}', { items: [] }, [['undeclared_variable', '{{name}}']], ['items']],
    ['Hi {{#a}}{{^b}}{{.}}{{/b}}{{/a}}', { a: 'x', b: null }, [], ['a', 'b']],
    ['Hi {{unsubscribeUrl}}', {}, [], []],
  ])('%s with %j', (text, variables, faults, used) => {
    expect(judged(text, variables)).toEqual([faults, used])
  })

  const names = fc.constantFrom('a', 'b', 'c', 'a.b')
  const { source } = fc.letrec<{ source: string }>((tie) => ({
    source: fc.oneof(
      { depthSize: 'small' },
      fc.constant('x'),
      names.map((name) => `{{${name}}}`),
      names.map((name) => `{{{${name}}}}`),
      fc.tuple(tie('source'), tie('source')).map(([one, other]) => one + other),
      fc
        .tuple(fc.constantFrom('#', '^'), names, tie('source'))
        .map(([type, name, inner]) => `{{${type}${name}}}${inner}{{/${name}}}`),
    ),
  }))
  const value = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('text', '', 0, 1, true, false, null),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
    ),
  })).value
  const examples = fc.dictionary(fc.constantFrom('a', 'b', 'c'), value, { maxKeys: 3 })

  it('are missing if a send would refuse them, and only then', () => {
    fc.assert(
      fc.property(source, examples, (body, variables) => {
        const compiled = compileTemplate(KINDS.get('webhook') as ChannelKind, {
          subject: null,
          body,
          format: null,
        })
        let refused = false
        try {
          compiled.assertVariables(variables)
        } catch {
          refused = true
        }
        const { faults } = lint('webhook', { text: body }, { variables })
        expect(faults.some(({ rule }) => rule === 'missing_variable')).toBe(refused)
      }),
    )
  })

  it('are used if the text changes with them', () => {
    fc.assert(
      fc.property(source, examples, fc.constantFrom('a', 'b', 'c'), (body, variables, name) => {
        const { used } = lint('webhook', { text: body }, { variables })
        if (used.has(name) || !Object.hasOwn(variables, name)) return
        const compiled = compileTemplate(KINDS.get('webhook') as ChannelKind, {
          subject: null,
          body,
          format: null,
        })
        expect(compiled.render({ ...variables, [name]: 'another' })).toEqual(compiled.render(variables))
      }),
    )
  })
})

describe('what a send refuses', () => {
  it('is found with examples', () => {
    expect(rulesOf('sms', { text: '{{a}}' }, { variables: { a: ' ' } })).toContain('blank_message')
    expect(rulesOf('sms', { text: '{{a}}' }, { variables: { a: 'x'.repeat(2_000) } })).toContain(
      'message_too_large',
    )
    expect(
      rulesOf(
        'email',
        { text: '{{#a}}{{b}}{{/a}}' },
        { variables: { a: Array(1_000).fill(1), b: 'x'.repeat(1_000) } },
      ),
    ).toContain('message_too_large')
    expect(rulesOf('sms', { text: '{{> footer}}' })).toEqual(['invalid_template'])
  })
})
