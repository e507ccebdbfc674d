import Mustache from 'mustache'
import { parseSource } from '../src/core/text/parse.ts'
import { compare, describeMachine, median, record, report } from './lib/measure.ts'

/**
 * Time to parse templates: typical ones beside mustache.js, and the growth for hostile ones that become four times as
 * long. Linear growth is 4, quadratic growth is 16.
 */

const LENGTH = 128 * 1024
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

const filled = (part: string) => (length: number) => part.repeat(Math.floor(length / part.length))
const spaces = ' '.repeat(190)
const hostile: Readonly<Record<string, (length: number) => string>> = {
  'a tag of line breaks, not closed': (length) => `{{${'\n'.repeat(length)}`,
  'a tag of spaces': (length) => `{{${' '.repeat(length)}a}}`,
  'spaces before tags': filled(`${spaces}{{#a}}\n${spaces}{{/a}}\n`),
  'spaces in tags': filled(`{{#a${spaces}}}\n{{/a${spaces}}}\n`),
  'tags on one line': filled(`{{a}}${'b'.repeat(200)}`),
  braces: filled('{'),
}

function milliseconds(source: string): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    let parsed = 0
    do {
      try {
        parseSource(source, { field: 'body', owner: 'template' })
      } catch {}
      parsed += 1
    } while (process.cpuUsage(before).user < 20_000)
    return process.cpuUsage(before).user / 1_000 / parsed
  })
  return median(times)
}

console.log(describeMachine())

const writer = new Mustache.Writer()
Object.assign(writer, { templateCache: undefined })
const parsedWith = (parse: (source: string) => unknown) => async () => {
  for (let count = 0; count < 1_000; count += 1) parse(mail)
  return 1_000
}
const rates = await compare([
  {
    name: 'carillon',
    run: parsedWith((source) => parseSource(source, { field: 'body', owner: 'template' })),
  },
  { name: 'mustache.js', run: parsedWith((source) => writer.parse(source)) },
])
report('parse a mail template', 'templates', rates, 'mustache.js')

const growths = Object.entries(hostile).map(([name, shape]) => {
  const short = milliseconds(shape(LENGTH))
  const long = milliseconds(shape(4 * LENGTH))
  const growth = long / short
  record({ title: 'parse 512 KiB', name, value: long, unit: 'ms', floor: '128 KiB', ratio: growth })
  return {
    'hostile template': name,
    'ms for 128 KiB': short.toFixed(2),
    'ms for 512 KiB': long.toFixed(2),
    growth: growth.toFixed(1),
  }
})
console.table(growths)
