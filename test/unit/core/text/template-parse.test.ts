import fc from 'fast-check'
import Mustache from 'mustache'
import { describe, expect, it, vi } from 'vitest'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import { compileTemplate } from '../../../../src/core/text/compile.ts'
import { parseSource, type Token } from '../../../../src/core/text/parse.ts'
import { kindOf } from '../../../support/kinds.ts'

const tokensOf = (source: string) => parseSource(source, { field: 'body', owner: 'template' })

function renderer(body: string) {
  const { render } = compileTemplate(kindOf('sms'), { subject: null, body, format: null })
  return (variables: Record<string, unknown>) => render(variables).body
}

describe('lines that a tag stands alone on', () => {
  it.each([
    ['a\n{{#x}}\nb\n{{/x}}\nc', 'a\nb\nc'],
    ['a\r\n  {{#x}}\t\r\nb\r\n\t{{/x}} \r\nc', 'a\r\nb\r\nc'],
    ['  {{#x}}\n  b\n  {{/x}}  ', '  b\n'],
    ['a\n {{! one\n two }}\nb', 'a\nb'],
    ['\u00a0{{! a }}\u2003\nb', 'b'],
    ['{{#x}}{{/x}}\n b', ' b'],
    ['a {{! b }}\nc', 'a \nc'],
    [' {{y}} \nc', ' Y \nc'],
    [' {{#x}} a {{/x}} \nc', '  a  \nc'],
    ['\n\n{{^x}}\n\n{{/x}}\n\n', '\n\n\n'],
  ])('leave no text of their own: %j', (source, expected) => {
    expect(renderer(source)({ x: true, y: 'Y' })).toBe(expected)
  })
})

/** The parts of tokens that both parsers have; mustache builds texts of single characters. */
function comparable(tokens: readonly (readonly unknown[])[]): unknown[] {
  return tokens.map(([type, name, start, end, children]) => [
    ...[type, name, start, end],
    ...(Array.isArray(children) ? [comparable(children)] : []),
  ])
}

it('has the same tokens as mustache.js', () => {
  const parser = new Mustache.Writer()
  const tag = fc.constantFrom('{{#a}}', '{{/a}}', '{{^b}}', '{{/b}}', '{{# a }}\n', '{{/a }}\r\n', '{{> p }}')
  const value = fc.constantFrom('{{a}}', '{{ a}}', '{{&a}}', '{{{a }}}', '{{! c }}', '{{!\n}}', '{{! c }}\n')
  const space = fc.constantFrom(' ', '  ', '\n', '\r\n', '\t', '\u00a0', '\u2028', '\ufeff')
  const rest = fc.constantFrom('{{', '}}', '{{{', '}}}', '{', '}', '#', '/', '^', '&', '!', 'a', '\u200b')
  fc.assert(
    fc.property(fc.array(fc.oneof(tag, value, space, rest), { maxLength: 25 }), (parts) => {
      const source = parts.join('')
      let expected: unknown[] | null = null
      try {
        expected = comparable(parser.parse(source) as unknown as Token[])
      } catch {}
      let actual: unknown[] | null = null
      try {
        actual = comparable(tokensOf(source))
      } catch (error) {
        expect(isNotifierError(error)).toBe(true)
      }
      expect(actual).toEqual(expected)
    }),
    { numRuns: 3_000 },
  )
})

it("does not depend on the application's own use of mustache.js", () => {
  const { tags } = Mustache
  Mustache.tags = ['<%', '%>']
  try {
    expect(renderer('{{y}} <% y %>')({ y: 'Y' })).toBe('Y <% y %>')
  } finally {
    Mustache.tags = tags
  }
})

/** What mustache gets: at most four characters between two tags, and no white space in them. */
const OUTLINE = /^(?:[ x]?\n?\n?[ x]?\{\{[#^/>&!]?x\}\})*[ x]?\n?\n?[ x]?$/

/** How many characters a piece of work looks at, by the methods of strings and regular expressions that look at many. */
function charactersRead(work: () => void): number {
  let read = 0
  const { indexOf, lastIndexOf, slice, trim, trimEnd } = String.prototype
  const { exec } = RegExp.prototype
  String.prototype.indexOf = function (this: string, text, from = 0) {
    const found = indexOf.call(this, text, from)
    read += (found === -1 ? this.length : found) - from + 1
    return found
  }
  String.prototype.lastIndexOf = function (this: string, text, from = this.length) {
    const found = lastIndexOf.call(this, text, from)
    read += from - found + 1
    return found
  }
  String.prototype.slice = function (this: string, ...range) {
    const part = slice.apply(this, range)
    read += part.length + 1
    return part
  }
  String.prototype.trim = function (this: string) {
    const trimmed = trim.call(this)
    read += this.length - trimmed.length + 1
    return trimmed
  }
  String.prototype.trimEnd = function (this: string) {
    const trimmed = trimEnd.call(this)
    read += this.length - trimmed.length + 1
    return trimmed
  }
  RegExp.prototype.exec = function (this: RegExp, text) {
    const from = this.lastIndex
    const found = exec.call(this, text)
    read += (found === null ? text.length : this.lastIndex) - from + 1
    return found
  }
  try {
    work()
  } finally {
    Object.assign(String.prototype, { indexOf, lastIndexOf, slice, trim, trimEnd })
    RegExp.prototype.exec = exec
  }
  return read
}

describe('the work of parsing', () => {
  const filled = (part: string) => (length: number) => part.repeat(Math.floor(length / part.length))
  const spaces = ' '.repeat(190)
  it.each<[string, (length: number) => string]>([
    ['a tag of line breaks that is not closed', (length) => `{{${'\n'.repeat(length)}`],
    ['a tag of spaces that is closed', (length) => `{{${' '.repeat(length)}a${' '.repeat(length)}}}`],
    ['braces', filled('{')],
    ['closing braces', filled('}')],
    ['tags that are not closed', filled('{{a ')],
    ['tags that are closed elsewhere', filled('{{{a}}')],
    ['delimiters', filled('{{=')],
    ['line breaks', filled('\n')],
    ['line breaks of Windows', filled('\r\n')],
    ['white space beyond ASCII', filled('\u00a0\u2028')],
    ['one long line of tags', filled('{{a}} ')],
    ['one long line of comments', filled(' {{!}}')],
    ['comments on lines of their own', filled(' {{!}} \r\n')],
    ['blank lines between comments', (length) => filled(`{{!}}${'\n'.repeat(1_000)}`)(length)],
    ['spaces before tags', filled(`${spaces}{{#a}}\n${spaces}{{/a}}\n`)],
    ['spaces in tags', filled(`{{#a${spaces}}}\n{{/a${spaces}}}\n`)],
    ['sections in one another', (length) => `${filled('{{#a}}\n')(length)}${filled('{{/a}}\n')(length)}`],
    ['a long name', (length) => `{{#${'a'.repeat(length)}}}{{/${'a'.repeat(length)}}}`],
  ])('grows as its length does: %s', (_, shape) => {
    const parse = vi.spyOn(Mustache.Writer.prototype, 'parse')
    const workOf = (source: string) =>
      charactersRead(() => {
        try {
          tokensOf(source)
        } catch {}
      })
    const length = 4_096
    const [small, large] = [workOf(shape(length)), workOf(shape(4 * length))]
    expect(large).toBeLessThan(4.2 * small + 100)
    expect(large).toBeLessThan(7 * shape(4 * length).length + 100)
    for (const [outline] of parse.mock.calls) expect(outline).toMatch(OUTLINE)
    parse.mockRestore()
  })
})
