// Checks the import rules of .dependency-cruiser.cjs: node scripts/check-imports.mjs [--json] [directory]
import { existsSync } from 'node:fs'
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

const { totalCruised, violations } = output.summary
const breaches = violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }))
if (values.json) {
  console.log(JSON.stringify({ totalCruised, breaches }))
} else {
  for (const { rule, from, to } of breaches) console.error(`${rule}: ${from} → ${to}`)
  console.log(`${totalCruised} modules, ${breaches.length} breaches of the import rules`)
}
// A parser without TypeScript support reads nothing and finds no breach.
if (totalCruised === 0) console.error('dependency-cruiser read no module, so the check proves nothing')
process.exitCode = totalCruised > 0 && breaches.length === 0 ? 0 : 1
