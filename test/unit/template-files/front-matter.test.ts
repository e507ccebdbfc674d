import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { readMatter, writeMatter } from '../../../src/template-files/front-matter.ts'

const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.stringMatching(/^[ -~]{0,12}$/),
  fc.constantFrom(
    'yes',
    'Null',
    '~',
    '1',
    '1.5',
    '0x1F',
    '1e3',
    '-1',
    '.inf',
    '2026-01-01',
    '12:30',
    'a: b',
    'a #b',
    '{{a}}',
    '- a',
    'a:',
    '=',
    '<<',
    "it's",
    'x\ty',
    '\u0085',
    '\u2028',
    '\ufeff',
  ),
)
const fields = fc.dictionary(
  fc.constantFrom('subject', 'layout', 'description'),
  fc.oneof(value, fc.dictionary(fc.stringMatching(/^[a-z]+$/), value, { minKeys: 1, maxKeys: 2 })),
)

it('comes back as it was written, and YAML reads it alike', () => {
  fc.assert(
    fc.property(fields, fc.string({ unit: 'binary' }), (given, text) => {
      const written = writeMatter(given, text)
      const read = readMatter(written, 'a')
      expect({ ...read.fields }).toEqual({ ...given })
      expect(read.text).toBe(text)
      if (Object.keys(given).length > 0) {
        const matter = written.slice(4, written.length - text.length - 4)
        expect(parse(matter)).toEqual({ ...given })
      }
    }),
    { numRuns: 2_000 },
  )
})

it('that YAML would read otherwise is refused', () => {
  fc.assert(
    fc.property(value, (plain) => {
      let read: unknown
      try {
        read = readMatter(`---\nsubject: ${plain}\n---\n`, 'a').fields.subject
      } catch {
        return
      }
      expect(parse(`subject: ${plain}\n`)).toEqual({ subject: read })
    }),
    { numRuns: 2_000 },
  )
})
