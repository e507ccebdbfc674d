import { describe, expect, it } from 'vitest'
import { htmlToText } from '../../../../adapters/channels/kit/mail/html-to-text.ts'
import { composeMail } from '../../../../adapters/channels/smtp/mime.ts'
import { DEFAULT_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { finish, STEP_CHARACTERS, type Steps } from '../../../../src/core/loop/steps.ts'
import { compileSteps, compileTemplate } from '../../../../src/core/text/compile.ts'
import type { Language } from '../../../../src/core/text/language.ts'
import { loadFormatting } from '../../../../src/features/languages/message-format.ts'
import { type LintedTemplate, lintSteps } from '../../../../src/features/lint/lint.ts'
import { trackHtml } from '../../../../src/features/tracking/track-html.ts'
import { ENCODERS, mailOf } from '../../../support/any-mail.ts'
import { kindOf } from '../../../support/kinds.ts'

const [, encoders] = ENCODERS[0] ?? expect.unreachable()

const formatting = await loadFormatting()

/** As long as a body may be. */
const long = (piece: string): string => piece.repeat(Math.floor(DEFAULT_BOUNDS.textBytes / piece.length))

function stepsOf(steps: Steps<unknown>): number {
  let count = 1
  while (steps.next().done !== true) count += 1
  return count
}

const language = (locale: string, source: string): Language => {
  const message = formatting.compile(source, locale)
  return { locale, dir: 'ltr', locales: [locale], message: () => message }
}
const speak = (source: string, message: string) =>
  compileTemplate(
    kindOf('email'),
    { subject: null, body: source, format: 'html' },
    undefined,
    language('en', message),
  )
const PLURALS = '{n, plural, =1{} other{}}'.repeat(60)

const compose = (text: string) => composeMail(mailOf({ text }), encoders)
const judge = (html: string, made?: LintedTemplate['made']) =>
  lintSteps(
    kindOf('email'),
    { subject: null, body: html, format: 'html', text: null, made },
    { variables: {}, parts: undefined, timeZone: undefined },
    new Set(),
    DEFAULT_BOUNDS,
  )
const track = (html: string) =>
  trackHtml(html, { pixel: null, click: (href) => `https://c.example/?${href}` }, DEFAULT_BOUNDS.trackedLinks)
const LINK = '<a href="#">x</a> '

describe('a text as long as may be', () => {
  it.each<[string, Steps<unknown>]>([
    [
      'of many messages, compiled',
      compileSteps(
        kindOf('email'),
        {
          subject: null,
          body: Array.from({ length: 30 }, (_, at) => `{{@k${at}}}`).join(''),
          format: null,
        },
        undefined,
        language('en', PLURALS),
      ),
    ],
    ['of links and images, checked', judge(long('<img src=http://x>'))],
    ['with links that are counted', track(long('<a href="https://e.example/1">x</a>'))],
    ['with links that are not', track(long(LINK))],
    ['of words, made text', htmlToText(long('a '))],
    ['of white space, made text', htmlToText(long(' '))],
    ['of links, made text', htmlToText(long(LINK))],
    ['of lines as they are, made text', htmlToText(`<pre>${long('a \n')}`)],
    ['in one line, composed', compose(long('x'))],
    ['of lines, composed', compose(long('a\n'))],
    ['of long lines, composed', compose(long(`${'é x'.repeat(200)}\n`))],
  ])('%s takes many steps', (_name, steps) => {
    expect(stepsOf(steps)).toBeGreaterThanOrEqual(DEFAULT_BOUNDS.textBytes / STEP_CHARACTERS / 4)
  })

  it.each([
    ['plurals', PLURALS, { n: 2 }],
    ['dates', '{d, date, ::d}'.repeat(60), { d: 0 }],
    ['numbers', '{n, number}'.repeat(60), { n: 2 }],
    ['the more expensive branch', `{s, select, a {} other {${PLURALS}}}`, { s: 'a', n: 2 }],
    ['long values in a branch', '{n, plural, =1 {{s}} other {}}', { n: 2, s: 'x'.repeat(20_000) }],
  ])('has a limit for %s in messages, though nothing is written', (_name, message, values) => {
    const template = speak('{{#a}}{{@k}}{{/a}}', message)
    const tooMany = { ...values, a: Array(150).fill({}) }
    const refusal = expect.objectContaining({ code: 'message_too_large' })
    expect(() => template.render(tooMany)).toThrow(refusal)
    expect(() => template.assertVariables(tooMany)).toThrow(refusal)
    expect(() => template.assertVariables({ ...values, a: [{}] })).not.toThrow()
  })

  it('counts as work of a lint with its messages', () => {
    const made = (message: string) => ({
      key: 'k',
      sources: { layout: null, partials: new Map() },
      language: language('en', message),
    })
    const worked = (message: string) => finish(judge('{{@k}}', made(message) as never)).work
    expect(worked(PLURALS)).toBeGreaterThan(20 * worked('x'))
  })

  it('has no limit below 25,000 tags for short messages', () => {
    const template = speak('{{#a}}{{@k}}{{/a}}', 'Hello {n}')
    expect(() => template.render({ a: Array(3_000).fill({}), n: 'x' })).not.toThrow()
  })

  it('is encoded in lines of 76 characters that decode to it, wherever it is cut', () => {
    for (const shift of [0, 1, 2, 3]) {
      const text = `${'x'.repeat(shift)}${'naïve 👩‍👧 text \r\n'.repeat(100)}${'é'.repeat(9_000)}${'y z'.repeat(20_000)}`
      const { pieces } = finish(compose(text))
      const body = String(pieces[0]).split('\r\n\r\n').slice(1).join('\r\n\r\n')
      expect(Math.max(...body.split('\r\n').map(({ length }) => length))).toBeLessThanOrEqual(76)
      const bytes = body
        .replaceAll('=\r\n', '')
        .replace(/=([0-9A-F]{2})/g, (_whole, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
      expect(Buffer.from(bytes, 'latin1').toString().trimEnd()).toBe(text.trimEnd())
    }
  })

  it('becomes the same text in pieces as at once', () => {
    const paragraph = '<p>Tom &amp; Ada&#39;s 👩‍👧 <a href="https://e.example/">link</a></p>'
    const text = finish(htmlToText(`${paragraph.repeat(2_000)}${'a&amp;b '.repeat(10_000)}`))
    const expected = `${Array(2_000).fill("Tom & Ada's 👩‍👧 link (https://e.example/)").join('\n\n')}\n\n${'a&b '.repeat(10_000)}`
    expect(text).toBe(expected.trim())
  })
})
