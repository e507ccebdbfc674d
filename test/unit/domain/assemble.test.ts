import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isNotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { createAssembly } from '../../../src/domain/template/assemble.ts'
import { compileTemplate } from '../../../src/domain/template/compile.ts'
import { boundOf, extentOf, levelsOf } from '../../../src/domain/template/extent.ts'
import type { SharedSource } from '../../../src/domain/template/shared-text.ts'
import { MAX_PIECES } from '../../../src/domain/template/write.ts'
import { kindOf } from '../../support/kinds.ts'

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
          const tokens = createAssembly(shared).expand(body, 'body', 'text')
          const bound = boundOf(levelsOf(tokens), extentOf(variables))
          const spent = { pieces: 0, characters: 0 }
          const template = compileTemplate(kindOf('sms'), { subject: null, body, format: null }, shared)
          const text = template.render(variables, {}, spent).body
          expect(text.length).toBeLessThanOrEqual(bound.characters)
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
    expect(() => createAssembly({ layout: null, partials }).expand('{{> p15}}', 'body', 'text')).toThrow(
      expect.objectContaining({
        message: `The template expands more than ${MAX_PIECES} tags with its partials.`,
      }),
    )
  })

  it('has a limit for what is parsed: each indentation is another text', () => {
    const partials = new Map([['p', both('x'.repeat(500_000))]])
    const body = Array.from({ length: 6 }, (_, spaces) => `${' '.repeat(spaces)}{{> p}}\n`).join('')
    expect(() => createAssembly({ layout: null, partials }).expand(body, 'body', 'text')).toThrow(
      expect.objectContaining({
        code: 'invalid_template',
        message: expect.stringContaining('2097152 characters'),
      }),
    )
  })

  it('nests sections and partials 20 deep in all', () => {
    const partials = new Map([['p', both(`${'{{#a}}'.repeat(12)}x${'{{/a}}'.repeat(12)}`)]])
    const within = (depth: number) =>
      createAssembly({ layout: null, partials }).expand(
        `{{> p}}${'{{#a}}'.repeat(depth)}{{> p}}${'{{/a}}'.repeat(depth)}`,
        'body',
        'text',
      )
    expect(within(7)).toHaveLength(2)
    expect(() => within(8)).toThrow('deeper than 20')
  })
})
