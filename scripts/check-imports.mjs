// Checks the import rules of .dependency-cruiser.cjs: node scripts/check-imports.mjs [--json] [directory]
// Breaches that scripts/import-exceptions.txt names are allowed. A line there without a breach fails, so the list shrinks.
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { parseArgs } from 'node:util'
import { cruise } from 'dependency-cruiser'
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config'
import { fromRoot } from './entries.mjs'

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
})
process.chdir(positionals[0] ?? fromRoot('.'))

const { forbidden, options } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
const { output } = await cruise(
  ['src', 'adapters'].filter((folder) => existsSync(folder)),
  { ...options, ruleSet: { forbidden }, validate: true },
  {},
  { tsConfig: extractTsConfig('tsconfig.lib.json') },
)
if (typeof output === 'string') throw new Error('dependency-cruiser answered with text')

const EXCEPTIONS = 'scripts/import-exceptions.txt'
const exceptions = existsSync(EXCEPTIONS)
  ? readFileSync(EXCEPTIONS, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
  : []

const { totalCruised, violations } = output.summary
const found = violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }))
const known = new Set(exceptions)
const met = new Set(found.map(lineOf))
const breaches = [
  ...found.filter((breach) => !known.has(lineOf(breach))),
  ...exceptions
    .filter((line) => !met.has(line))
    .map((line) => {
      const [from = '', to = ''] = line.split(' → ')
      return { rule: 'exception-without-breach', from, to }
    }),
]
if (values.json) {
  console.log(JSON.stringify({ totalCruised, breaches }))
} else {
  for (const { rule, from, to } of breaches) console.error(`${rule}: ${from} → ${to}`)
  console.log(
    `${totalCruised} modules, ${breaches.length} breaches of the import rules, ${exceptions.length} exceptions`,
  )
}
// A parser without TypeScript support reads nothing and finds no breach.
if (totalCruised === 0) console.error('dependency-cruiser read no module, so the check proves nothing')
process.exitCode = totalCruised > 0 && breaches.length === 0 ? 0 : 1

/** @param {{ from: string, to: string }} breach */
function lineOf({ from, to }) {
  return `${from} → ${to}`
}
