// Proves that a feature can be taken away with its lines: node scripts/without-feature.mjs statistics
// In a copy of the sources, its folder goes, and every line of the composition that names it. What remains must compile, and
// serve a REST API without its operations.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from './entries.mjs'

const [name = ''] = process.argv.slice(2)
const folder = `features/${name}/`
if (!readdirSync(fromRoot('src/features')).includes(name)) throw new Error(`There is no feature "${name}".`)

const copy = mkdtempSync(join(tmpdir(), 'carillon-without-'))
process.once('exit', () => rmSync(copy, { recursive: true, force: true }))
for (const path of ['src', 'adapters', 'package.json', 'tsconfig.json', 'tsconfig.lib.json'])
  cpSync(fromRoot(path), join(copy, path), { recursive: true })
symlinkSync(fromRoot('node_modules'), join(copy, 'node_modules'))
rmSync(join(copy, 'src', folder), { recursive: true })

const composition = [
  'src/features/index.ts',
  'src/client/types.ts',
  ...readdirSync(join(copy, 'src')).flatMap((file) => (file.endsWith('.ts') ? [`src/${file}`] : [])),
]
const removed = composition.flatMap((file) => withoutIt(file))
for (const line of removed) console.log(`- ${line}`)

run(fromRoot('node_modules/typescript7/bin/tsc'), '-p', 'tsconfig.lib.json', '--noEmit')
writeFileSync(join(copy, 'program.ts'), program())
run('program.ts')
console.log(
  `Without "${name}", ${removed.length} lines less, everything compiles, and a notification is sent.`,
)

/**
 * Removes the lines that import the feature, and those that use what they import.
 *
 * @param {string} file
 */
function withoutIt(file) {
  const path = join(copy, file)
  // A list of exported types may take several lines.
  const joined = readFileSync(path, 'utf8').replace(/^export type \{[^}]*\}/gm, (list) =>
    list.replaceAll('\n', ' '),
  )
  const lines = joined.split('\n')
  const from = new RegExp(`from '\\.{1,2}/(?:features/)?${name}/`)
  const imports = lines.filter((line) => from.test(line))
  const words = imports.flatMap((line) => /\{([^}]*)\}/.exec(line)?.[1]?.match(/\w+(?=\s*(?:,|$))/g) ?? [])
  const uses = words.length === 0 ? null : new RegExp(`\\b(?:${words.join('|')})\\b`)
  const isGone = (/** @type {string} */ line) =>
    from.test(line) || (uses?.test(line) === true && !line.startsWith(' *'))
  writeFileSync(path, lines.filter((line) => !isGone(line)).join('\n'))
  return lines.filter(isGone).map((line) => `${file}: ${line.trim()}`)
}

/** @param {string[]} args */
function run(...args) {
  const { status } = spawnSync(process.execPath, args, { cwd: copy, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`Without "${name}", this fails: ${args.join(' ')}`)
    process.exit(1)
  }
}

function program() {
  return `
import { notifierFetch } from './adapters/http/fetch.ts'
import { createNotifier } from './src/index.ts'

const channels = { email: { name: 'none', channel: 'email', send: async () => ({ kind: 'accepted' }) } } as const
const notifier = createNotifier({ channels })
await notifier.start()
const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' })
const { status } = await notifier.waitFor(id)
const connection = { remoteAddress: '203.0.113.1', encrypted: true }
const response = await notifierFetch(notifier)(new Request('https://localhost/openapi.json'), connection)
const { paths } = (await response?.json()) as { paths: Record<string, object> }
await notifier.stop()
if (status !== 'sent') throw new Error(\`The notification is \${status}.\`)
if ('/v1/${name}' in paths) throw new Error('Its operations are still in the OpenAPI document.')
if (!('/v1/notify' in paths)) throw new Error('The REST API lost another operation.')
`
}
