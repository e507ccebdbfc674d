import Mustache from 'mustache'
import { parseSource } from '../src/core/text/parse.ts'
import { compare, describeMachine, median, record, report } from './lib/measure.ts'

/**
 * Time to parse templates: typical ones beside mustache.js by itself, and the growth for hostile ones that become four
 * times as long, up to the default bound. Linear growth is 4, quadratic growth is 16.
 */

const LENGTH = 64 * 1024
const ROUNDS = 9

const mail = `<html><body><h1>Hello {{user.name}}</h1>
<p>Your order {{order.id}} has shipped and arrives on {{order.date}}.</p>
<table>
  {{#items}}
  <tr><td>{{title}}</td><td>{{count}}</td>{{#note}}<td>{{{note}}}</td>{{/note}}</tr>
  {{/items}}
  {{^items}}
  <tr><td>Nothing to show.</td></tr>
  {{/items}}
</table>
{{! The footer is the same in all mails. }}
<p>Any questions? Write to {{support}}.</p></body></html>
`

const page = mail.replace('</table>', `</table>\n${'<p>Thank you for your order.</p>\n'.repeat(600)}`)

const filled = (part: string) => (length: number) => part.repeat(Math.floor(length / part.length))
const spaces = ' '.repeat(190)
const hostile: Readonly<Record<string, (length: number) => string>> = {
  'text without a tag': filled('Thank you for your order. '),
  'a comment of line breaks': (length) => `{{!a${'\n'.repeat(length)}b}}`,
  'a tag of line breaks, not closed': (length) => `{{${'\n'.repeat(length)}`,
  'a tag of spaces': (length) => `{{${' '.repeat(length)}a}}`,
  'spaces before tags': filled(`${spaces}{{#a}}\n${spaces}{{/a}}\n`),
  'spaces in tags': filled(`{{#a${spaces}}}\n{{/a${spaces}}}\n`),
  'tags on one line': filled(`{{a}}${'b'.repeat(200)}`),
  braces: filled('{'),
}

const writer = new Mustache.Writer()
Object.assign(writer, { templateCache: undefined })

const parsers: Readonly<Record<string, (source: string) => unknown>> = {
  carillon: (source) => parseSource(source, { field: 'body', owner: 'template' }),
  'mustache.js': (source) => writer.parse(source),
}

/** @param rounds of at least 20 ms */
function milliseconds(source: string, parser: string, rounds: number = ROUNDS): number {
  const parse = parsers[parser] as (source: string) => unknown
  const times = Array.from({ length: rounds }, () => {
    const before = process.cpuUsage()
    let parsed = 0
    do {
      try {
        parse(source)
      } catch {}
      parsed += 1
    } while (process.cpuUsage(before).user < 20_000)
    return process.cpuUsage(before).user / 1_000 / parsed
  })
  return median(times)
}

console.log(describeMachine())

for (const [title, source] of [
  ['parse a mail template', mail],
  ['parse a page of 20 KB', page],
] as const) {
  const rates = await compare(
    Object.entries(parsers).map(([name, parse]) => ({
      name,
      async run() {
        for (let count = 0; count < 1_000; count += 1) parse(source)
        return 1_000
      },
    })),
  )
  report(title, 'templates', rates, 'mustache.js')
}

const growths = Object.entries(hostile).map(([name, shape]) => {
  const short = milliseconds(shape(LENGTH), 'carillon')
  const long = milliseconds(shape(4 * LENGTH), 'carillon')
  const growth = long / short
  record({ title: 'parse 256 KiB', name, value: long, unit: 'ms', floor: '64 KiB', ratio: growth })
  return {
    'hostile template': name,
    'ms for 64 KiB': short.toFixed(2),
    'ms for 256 KiB': long.toFixed(2),
    growth: growth.toFixed(1),
    'mustache.js, ms for 64 KiB': milliseconds(shape(LENGTH), 'mustache.js', 1).toFixed(2),
  }
})
console.table(growths)
