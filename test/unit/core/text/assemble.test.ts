import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { DEFAULT_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { createAssembly } from '../../../../src/core/text/assemble.ts'
import { compileTemplate } from '../../../../src/core/text/compile.ts'
import { boundOf, extentOf, levelsOf } from '../../../../src/core/text/extent.ts'
import type { SharedSource } from '../../../../src/core/text/shared-text.ts'
import { kindOf } from '../../../support/kinds.ts'

const both = (source: string): SharedSource => ({ html: source, text: source })

describe('a text of partials', () => {
  const piece = fc.constantFrom(
    '{{> a}}',
    '{{> b}}',
    ' {{> c}}\n',
    'x',
    '{{v}}',
    '{{#v}}',
    '{{/v}}',
    '\n',
    '{{^v}}',
  )
  const source = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''))

  it('is refused, or stays within its bounds, whatever its partials', () => {
    fc.assert(
      fc.property(source, source, source, source, (body, a, b, c) => {
        const partials = new Map(Object.entries({ a: both(a), b: both(b), c: both(c) }))
        const shared = { layout: null, partials }
        const variables = { v: ['p', 'q'] }
        try {
          const tokens = createAssembly(shared, DEFAULT_BOUNDS).expand(body, 'body', 'text')
          const bound = boundOf(levelsOf(tokens), extentOf(variables))
          const spent = { pieces: 0, characters: 0 }
          const template = compileTemplate(kindOf('sms'), { subject: null, body, format: null }, shared)
          const text = template.render(variables, {}, spent).body
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bound.bytes)
          expect(spent.pieces).toBeLessThanOrEqual(bound.pieces)
        } catch (error) {
          expect(isNotifierError(error) && error.code).toBeOneOf(['invalid_template', 'invalid_parameter'])
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('is measured without being written out, however often partials multiply', () => {
    const partials = new Map([['p0', both('x')]])
    for (let level = 1; level <= 15; level += 1)
      partials.set(`p${level}`, both(`{{> p${level - 1}}}`.repeat(1_000)))
    expect(() =>
      createAssembly({ layout: null, partials }, DEFAULT_BOUNDS).expand('{{> p15}}', 'body', 'text'),
    ).toThrow(
      expect.objectContaining({
        message: `The template has more than 2,000 tags with its layout and partials, which is the option "bounds.tags" of the service.`,
      }),
    )
  })

  it('has a limit for what is parsed: each indentation is another text', () => {
    const partials = new Map([['p', both('x'.repeat(250_000))]])
    const body = Array.from({ length: 6 }, (_, spaces) => `${' '.repeat(spaces)}{{> p}}\n`).join('')
    expect(() =>
      createAssembly({ layout: null, partials }, DEFAULT_BOUNDS).expand(body, 'body', 'text'),
    ).toThrow(
      expect.objectContaining({
        code: 'invalid_template',
        message: expect.stringContaining('1,048,576 characters'),
      }),
    )
  })

  it('nests sections and partials 20 deep in all', () => {
    const partials = new Map([['p', both(`${'{{#a}}'.repeat(12)}x${'{{/a}}'.repeat(12)}`)]])
    const within = (depth: number) =>
      createAssembly({ layout: null, partials }, DEFAULT_BOUNDS).expand(
        `{{> p}}${'{{#a}}'.repeat(depth)}{{> p}}${'{{/a}}'.repeat(depth)}`,
        'body',
        'text',
      )
    expect(within(7)).toHaveLength(2)
    expect(() => within(8)).toThrow('deeper than 20')
  })
})
