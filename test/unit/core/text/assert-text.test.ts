import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { DEFAULT_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { assertTemplateText } from '../../../../src/core/text/assert-text.ts'
import { compileTemplate } from '../../../../src/core/text/compile.ts'
import { kindOf } from '../../../support/kinds.ts'

function fault(work: () => unknown): { code: string; message: string; details: unknown } {
  try {
    work()
  } catch (error) {
    if (isNotifierError(error)) return { code: error.code, message: error.message, details: error.details }
    throw error
  }
  throw new Error('Nothing was thrown.')
}

describe('assertTemplateText', () => {
  it.each([
    '{{',
    '{{a',
    '{{#a}}',
    '{{#a}}{{/b}}',
    '{{/a}}',
    '{{> *dynamic}}',
    '{{#a}}{{> ../partial}}{{/a}}',
    '{{> }}',
    Array.from({ length: 51 }, (_, index) => `{{> p${index}}}`).join(''),
    '{{=<% %>=}}',
    '{{#a}}{{=| |=}}{{/a}}',
    '{{=',
    '{{=a=}}',
  ])('refuses %.40s', (source) => {
    expect(fault(() => assertTemplateText({ body: source }, DEFAULT_BOUNDS))).toMatchObject({
      code: 'invalid_parameter',
      details: { field: 'body' },
    })
    expect(fault(() => assertTemplateText({ subject: source }, DEFAULT_BOUNDS))).toMatchObject({
      details: { field: 'subject' },
    })
  })

  it.each([21, 1_000])('refuses %i sections in one another', (count) => {
    const source = `${'{{#a}}'.repeat(count)}${'{{/a}}'.repeat(count)}`
    expect(fault(() => assertTemplateText({ body: source }, DEFAULT_BOUNDS))).toMatchObject({
      code: 'invalid_parameter',
      message: "The template's body nests sections deeper than 20.",
    })
  })

  it.each([
    [
      '{{> a.b}}',
      'has the partial "{{>a.b}}" at 0, which is not a name: lower-case words joined by hyphens.',
    ],
    [
      'a {{<layout}}x{{/layout}}',
      'has the parent "{{<layout}}" at 2. Carillon has no inheritance: write the',
    ],
    [
      '{{$title}}x{{/title}}',
      'has the block "{{$title}}" at 0. Carillon has no inheritance: write a value as {{name}}',
    ],
    ['{{#if vip}}x{{/if}}', 'has "{{#if vip}}" at 0. Carillon has no helpers. Write {{#name}}…{{/name}}'],
    ['{{#if}}x{{/if}}', 'has "{{#if}}" at 0. Carillon has no helpers. Write {{#name}}…{{/name}}'],
    [
      '{{# each items }}x{{/each}}',
      'has "{{#each items}}" at 0. Carillon has no helpers. Write {{#items}}…{{/items}}',
    ],
    [
      '{{#unless a}}x{{/unless}}',
      'has "{{#unless a}}" at 0. Carillon has no helpers. Write {{^name}}…{{/name}}',
    ],
    ['{{#with a}}x{{/with}}', 'has "{{#with a}}" at 0. Carillon has no helpers. Write {{#name}}…{{/name}}'],
    [
      '{{#a}}x{{else}}y{{/a}}',
      'has "{{else}}" at 7. Carillon has no helpers: write {{^name}}…{{/name}} after the section.',
    ],
    ['{{else if a}}', 'has "{{else if a}}" at 0. Carillon has no helpers: write {{^name}}…{{/name}} after'],
    ['{{=<% %>=}}', 'sets other delimiters ("{{=") at 0. Carillon supports "{{" and "}}" only.'],
  ])('names what other languages have, and says what to write: %s', (source, message) => {
    expect(fault(() => assertTemplateText({ body: source }, DEFAULT_BOUNDS)).message).toContain(
      `The template's body ${message}`,
    )
  })

  it.each(['{{#with}}{{if}}{{/with}}', '{{{$price}}}', '{{iffy}}{{#eachone}}{{/eachone}}{{elsewhere}}'])(
    'takes names that only look like those: %s',
    (body) => assertTemplateText({ body }, DEFAULT_BOUNDS),
  )

  it.each([
    ['{{a', 'has a tag at 0 that is not closed with "}}"'],
    ['x{{{a}}', 'has a tag at 1 that is not closed with "}}}"'],
    ['{{#a}}', 'does not close the section "a" that opens at 0: write {{/a}}'],
    ['{{#a}}{{/b}}', 'closes the section "b" at 6, where "a" from 0 is still open'],
    ['{{/a}}', 'closes the section "a" at 0, which is not open'],
  ])('says where %s is not well-formed', (source, message) => {
    expect(fault(() => assertTemplateText({ body: source }, DEFAULT_BOUNDS)).message).toBe(
      `The template's body ${message}.`,
    )
  })

  it.each(['name', '#section', '^section', '&raw'])('bounds the length of %s', (tag) => {
    const named = (length: number) => {
      const name = tag.padEnd(length, '.a')
      return { body: /^[#^]/.test(tag) ? `{{${name}}}{{/${name.slice(1)}}}` : `{{${name}}}` }
    }
    assertTemplateText(named(200), DEFAULT_BOUNDS)
    expect(fault(() => assertTemplateText(named(202), DEFAULT_BOUNDS))).toMatchObject({
      code: 'invalid_parameter',
      message: "The template's body has a name of more than 200 characters in the tag at 0.",
    })
  })

  it('bounds the number of tags', () => {
    assertTemplateText({ body: '{{a}}'.repeat(2_000) }, DEFAULT_BOUNDS)
    expect(fault(() => assertTemplateText({ body: '{{a}}'.repeat(2_001) }, DEFAULT_BOUNDS)).message).toBe(
      `The template's body has more than 2,000 tags, which is the option "bounds.tags" of the service. Repeat text with a section, or write several templates.`,
    )
    assertTemplateText({ body: '{{a}}'.repeat(2_001) }, { tags: 2_001 })
  })

  it('takes any white space, also in tags', () => {
    const space = ' \n'.repeat(500)
    assertTemplateText(
      { body: `${space}{{${space}a${space}}}${space}{{{b${space}}}}${space}{{! c ${space}}}` },
      DEFAULT_BOUNDS,
    )
  })

  it('nests twenty sections', () => {
    assertTemplateText({ body: `${'{{#a}}'.repeat(20)}x${'{{/a}}'.repeat(20)}` }, DEFAULT_BOUNDS)
  })

  it('takes every text: compiles it, or says what is wrong', () => {
    const part = fc.constantFrom(
      '{{',
      '}}',
      '{{{',
      '}}}',
      '#',
      '/',
      '^',
      '&',
      '!',
      '>',
      '=',
      'a',
      '.',
      ' ',
      '\n',
      '<',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 20 }), (parts) => {
        const source = parts.join('')
        try {
          assertTemplateText({ body: source }, DEFAULT_BOUNDS)
        } catch (error) {
          expect(isNotifierError(error)).toBe(true)
          return
        }
        const template = compileTemplate(kindOf('sms'), { subject: null, body: source, format: null })
        expect(typeof template.render({ a: [{ a: 'x' }] }).body).toBe('string')
      }),
    )
  })
})
