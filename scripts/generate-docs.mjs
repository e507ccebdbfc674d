// Writes the generated parts of docs/ between their markers, a page for each new error code, and llms.txt: npm run docs [-- --check]
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import ts from 'typescript'
import { BUILT_IN, builtInKinds } from '../src/core/channels/built-in.ts'
import { ERRORS } from '../src/core/errors/catalogue.ts'
import { EVENT_TYPE_OF, EVENT_TYPES, SPEC_EVENT_TYPES } from '../src/core/notification/facts.ts'
import { GAUGES, METRICS } from '../src/core/observe/metric-definitions.ts'
import { TEMPLATE_RULES } from '../src/features/lint/rules.ts'
import { errorResponses, sharedResponses } from '../src/http/openapi/errors.ts'
import { ROUTES } from '../src/routes.ts'
import {
  SIMULATED_CASES,
  SIMULATED_CODES,
  SIMULATED_FORMS,
  simulatedRecipient,
} from '../src/testing/simulator/recipients.ts'
import { fromRoot } from './entries.mjs'
import { POSTGRES, RUNTIMES } from './tested-versions.mjs'

/** Makers of parts by name, from the file. Every other name is a file of an example, or an interface, whose options are listed. */
const makers = new Map(
  Object.entries({
    catalogue,
    error,
    types,
    routes,
    simulator,
    'simulated codes': simulatedCodes,
    metrics,
    gauges,
    providers,
    duplicates,
    checks,
    'lint rules': lintRules,
    'tested runtimes': testedRuntimes,
    'tested databases': testedDatabases,
    'tested peers': testedPeers,
  }),
)

/** Each exported interface by name, with its file. */
const interfaces = new Map(
  globSync('{src,adapters}/**/*.ts', { cwd: fromRoot('.') }).flatMap((file) =>
    [...readFileSync(fromRoot(file), 'utf8').matchAll(/^export interface (\w+)/gm)].map(([, name]) => [
      name ?? '',
      file,
    ]),
  ),
)

/** The interfaces whose tables explain an option for all that have it with the same words. */
const SHARED = ['ProviderOptions', 'MailOptions']

const ERROR_PAGES = 'docs/reference/errors'
const PART = /(<!-- generated: (.+) -->\n)[\s\S]*?(<!-- end of \2 -->)/g
const found = ['README.md', ...globSync('docs/**/*.md', { cwd: fromRoot('.') })]
const pages = new Set([...found, ...Object.keys(ERRORS).map((code) => `${ERROR_PAGES}/${code}.md`)])
const texts = [...pages].map((file) => {
  const text = (existsSync(fromRoot(file)) ? read(file) : newErrorPage(file)).replaceAll(
    PART,
    (_, begin, name, end) => `${begin}\n${partOf(name, file)}\n\n${end}`,
  )
  return { file, text }
})

let stale = false
for (const { file, text } of [...texts, { file: 'llms.txt', text: llms() }]) {
  if (existsSync(fromRoot(file)) && read(file) === text) continue
  stale = true
  if (process.argv.includes('--check')) console.error(`${file} is out of date: npm run docs`)
  else writeFileSync(fromRoot(file), text)
}
process.exitCode = stale && process.argv.includes('--check') ? 1 : 0

/** @param {string} file */
function read(file) {
  return readFileSync(fromRoot(file), 'utf8')
}

/**
 * @param {string} name
 * @param {string} file the page that has the part
 */
function partOf(name, file) {
  if (name.startsWith('examples/')) return program(name)
  return makers.get(name)?.(file) ?? options(name)
}

/**
 * A file of an example, under its path within the folder of the example.
 *
 * @param {string} path
 */
function program(path) {
  const name = path.split('/').slice(2).join('/')
  return `\`\`\`ts\n// ${name}\n${read(path)}\`\`\``
}

/**
 * What each folder of a provider says of it in `about.json`, by channel.
 *
 * @returns {{ folder: string, use: string, channel: string, title: string, needs?: string, repeated: string, proof?: string, reports?: string, check?: string, checkNeeds?: string }[]}
 */
function about() {
  const rank = (/** @type {string} */ channel) => [...BUILT_IN, channel].indexOf(channel)
  return globSync('adapters/channels/*/send.ts', { cwd: fromRoot('.') })
    .map((file) => dirname(file))
    .sort()
    .flatMap((path) => {
      const ones = JSON.parse(readFileSync(fromRoot(`${path}/about.json`), 'utf8'))
      return ones.map((/** @type {object} */ one) => ({ folder: basename(path), ...one }))
    })
    .sort((a, b) => rank(a.channel) - rank(b.channel) || a.channel.localeCompare(b.channel))
}

/** @param {{ folder: string, use: string }} provider */
function importOf({ folder, use }) {
  return `\`${use}\` from \`carillon/${folder}\``
}

function providers() {
  const rows = about().map((one) => `| ${one.title} | ${importOf(one)} | ${one.needs ?? 'nothing'} |`)
  return ['| Provider | Import | Needs |', '|---|---|---|', ...rows].join('\n')
}

function duplicates() {
  const rows = about().map(
    ({ title, repeated, proof = 'no reports', reports = '' }) =>
      `| ${title} | ${repeated} | ${proof} | ${reports} |`,
  )
  const head =
    '| Provider | Repeated after an ambiguous attempt | Reports authenticated by | Reported facts |'
  return [head, '|---|---|---|---|', ...rows].join('\n')
}

function checks() {
  const rows = about().flatMap(({ title, check, checkNeeds = '' }) =>
    check === undefined ? [] : [`| ${title} | ${check} | ${checkNeeds} |`],
  )
  return ['| Provider | Check | Needs |', '|---|---|---|', ...rows].join('\n')
}

function lintRules() {
  const own = [...builtInKinds()].flatMap(([name, { lint }]) => rowsOf(`\`${name}\``, lint?.rules ?? {}))
  const rows = [...rowsOf('every channel', TEMPLATE_RULES), ...own]
  return ['| Rule | Channel | Severity | Finds |', '|---|---|---|---|', ...rows].join('\n')
}

/**
 * @param {string} channel
 * @param {Readonly<Record<string, { severity: string, finds: string }>>} rules
 */
function rowsOf(channel, rules) {
  return Object.entries(rules).map(
    ([rule, { severity, finds }]) => `| \`${rule}\` | ${channel} | ${severity} | ${finds} |`,
  )
}

function catalogue() {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, message, retryable }]) =>
      `| [\`${code}\`](errors/${code}.md) | ${status} | ${retryable ? 'yes' : ''} | ${message} |`,
  )
  return ['| Code | Status | Retry | What happened |', '|---|---|---|---|', ...rows].join('\n')
}

/** @param {string} file */
function newErrorPage(file) {
  return `# \`${basename(file, '.md')}\`\n\n<!-- generated: error -->\n<!-- end of error -->\n`
}

/**
 * The part of the page of an error code.
 *
 * @param {string} file
 */
function error(file) {
  const code = basename(file, '.md')
  const known = Object.entries(ERRORS).find(([each]) => each === code)?.[1]
  if (known === undefined) throw new Error(`${file}: there is no such code`)
  const { status, message, action, retryable } = known
  const answers = answersWith(code)
  const facts =
    status === 422 && answers.size === 0
      ? ['On notifications and webhook deliveries.']
      : [
          ...(answers.size === 0 ? [`Status ${status}.`] : [...answers].map(answer)),
          ...(retryable ? ['The same call may succeed later.'] : []),
        ]
  return [message, `**What to do:** ${action}`, facts.join(' ')].join('\n\n')
}

/** @param {[status: string, operations: readonly string[]]} answers */
function answer([status, operations]) {
  const few = operations.length <= 6 ? operations.map((one) => `\`${one}\``).join(', ') : ''
  return `HTTP status ${status} of ${few || `${operations.length} operations`}.`
}

/**
 * The operations that answer with a code, by status.
 *
 * @param {string} code
 */
function answersWith(code) {
  const shared = sharedResponses('nested')
  /** @type {Map<string, string[]>} */
  const found = new Map()
  for (const route of ROUTES) {
    for (const [status, given] of Object.entries(errorResponses(route, 'nested'))) {
      const response = shared[String(given.$ref ?? '').replace('#/components/responses/', '')] ?? given
      // Each code has a line of the description.
      if (!String(response.description).includes(`- \`${code}\`:`)) continue
      found.set(status, [...(found.get(status) ?? []), route.operation])
    }
  }
  return found
}

/** The index for language models, in the form of llmstxt.org: the pages of docs/README.md, each with the questions that lead to it. */
function llms() {
  const index = texts.find(({ file }) => file === 'docs/README.md')?.text ?? ''
  const [head = '', ...sections] = index.split(/^## /m)
  const isQuestions = (/** @type {string} */ section) => section.startsWith('How do I …?')
  const questions = sections
    .filter(isQuestions)
    .flatMap((section) => section.split(/\n(?=- )|\n\n/))
    .flatMap((question) =>
      linksOf(question).map(({ title, target }) => ({ page: pageAt(target), title, text: plain(question) })),
    )
  const lists = sections
    .filter((section) => !isQuestions(section))
    .map((section) => ({ name: section.split('\n', 1)[0] ?? '', pages: linksOf(section).filter(isPage) }))
  const listed = new Set(lists.flatMap(({ pages }) => pages.map(({ target }) => target)))
  const others = new Map(questions.map(({ page, title }) => [page, { title, target: page }]))
  const optional = [...others.values()].filter(({ target }) => !listed.has(target))
  const line = (/** @type {{ title: string, target: string }} */ { title, target }) => {
    const answered = new Set(
      questions.filter(({ page, text }) => page === target && text !== title).map(({ text }) => text),
    )
    const what = answered.size === 0 ? '' : `: ${[...answered].join('; ')}`
    return `- [${title}](${join('docs', target)})${what}`
  }
  const parts = [...lists, { name: 'Optional', pages: optional }].map(({ name, pages }) =>
    [`## ${name}`, '', ...pages.map(line)].join('\n'),
  )
  const { description } = JSON.parse(read('package.json'))
  const note = plain(head.split('\n\n').slice(1).join(' '))
  return `${['# Carillon', `> ${description}`, note, ...parts].join('\n\n')}\n`
}

/** @param {string} text */
function linksOf(text) {
  return [...text.matchAll(/\[([^\]]+)\]\(([^)\s]+)\)/g)].map(([, title = '', target = '']) => ({
    title,
    target,
  }))
}

/** @param {{ target: string }} link */
function isPage({ target }) {
  return pageAt(target) === target
}

/** @param {string} target */
function pageAt(target) {
  return target.replace(/#.*/, '')
}

/**
 * Text without its marks.
 *
 * @param {string} text
 */
function plain(text) {
  return text
    .replace(/^- /, '')
    .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .replace(/\*\*|`/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function types() {
  const rows = EVENT_TYPES.map((type) => {
    const facts = Object.entries(EVENT_TYPE_OF)
      .filter(([, published]) => published === type)
      .map(([fact]) => `\`${fact}\``)
    return `| \`${type}\` | ${SPEC_EVENT_TYPES.includes(type) ? 'yes' : 'on request'} | ${facts.join(', ')} |`
  })
  return ['| Event | Sent by default | Published for the fact |', '|---|---|---|', ...rows].join('\n')
}

function simulator() {
  const cases = SIMULATED_CASES.map(({ name, what }) => ({ name, what, sms: name }))
  const rows = [...cases, ...SIMULATED_FORMS].map(({ name, what, sms }) => {
    const number = simulatedRecipient('sms', sms)
    return `| \`${name}\` | ${what} | \`${number}\`${sms === name ? '' : ` (\`${sms}\`)`} |`
  })
  return ['| Name | What happens | `sms` |', '|---|---|---|', ...rows].join('\n')
}

function simulatedCodes() {
  const rows = SIMULATED_CODES.map(([code, scope]) => {
    const [rejected, retry] = ['rejected', 'retry'].map((kind) =>
      simulatedRecipient('sms', `${kind}-${code}`),
    )
    return `| \`${code}\` | ${scope} | \`${rejected}\` | \`${retry}\` |`
  })
  const head = ['| Code | Fault of the | `sms` rejected | `sms` retry |', '|---|---|---|---|']
  return [...head, ...rows].join('\n')
}

function metrics() {
  const rows = Object.entries(METRICS).map(
    ([key, { name, kind, labels, help }]) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | \`${key}\` | ${help} |`,
  )
  return ['| Metric | Kind | Labels | In a snapshot | What |', '|---|---|---|---|---|', ...rows].join('\n')
}

function gauges() {
  const rows = Object.values(GAUGES).map(
    ({ name, labels, help }) =>
      `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  return ['| Gauge | Labels | What |', '|---|---|---|', ...rows].join('\n')
}

function routes() {
  const rows = ROUTES.map(({ method, paths, permission, belongsTo, queryGrants = {}, summary }) => {
    const grants = Object.entries(queryGrants).map(
      ([parameter, grant]) => `; with \`${parameter}=true\` also the grant \`${grant}\``,
    )
    const forms = paths.map((path) => `\`${method} ${path}\``).join('<br>')
    const key = belongsTo === 'operator' ? 'operator key, ' : ''
    return `| ${forms} | ${key}${permission}${grants.join('')} | ${summary} |`
  })
  return ['| Request | Permission | What it does |', '|---|---|---|', ...rows].join('\n')
}

/**
 * Table of an options interface, from its doc comments. Options that mean the same for all providers are only named.
 *
 * @param {string} name
 */
function options(name) {
  const common = new Set(SHARED.includes(name) ? [] : SHARED.flatMap(membersOf).map(meaningOf))
  const members = membersOf(name)
  const same = members.filter((one) => one.questionToken !== undefined && common.has(meaningOf(one)))
  const own = members.filter((one) => !same.includes(one))
  const table = ['| Option | Type | |', '|---|---|---|', ...own.map(optionRow)].join('\n')
  if (same.length === 0) return table
  const named = same.map((member) => {
    const preset = presetOf(member)
    return `\`${member.name.getText()}\`${preset === undefined ? '' : ` (${preset})`}`
  })
  return `${table}\n\nAs for [every provider](#e-mail-providers), with their defaults: ${named.join(', ')}.`
}

/** @param {string} name */
function membersOf(name) {
  const file = interfaces.get(name)
  if (file === undefined) throw new Error(`No part and no interface has the name ${name}`)
  const text = readFileSync(fromRoot(file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)
  const found = source.statements.filter(ts.isInterfaceDeclaration).find((one) => one.name.text === name)
  return found?.members.filter(isOption) ?? []
}

/** @param {ts.PropertySignature | ts.MethodSignature} member */
function meaningOf(member) {
  return `${member.name.getText()}: ${commentOf(member)}`
}

/** @param {ts.PropertySignature | ts.MethodSignature} member */
function commentOf(member) {
  const docs = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
  return docs.map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? '').join(' ')
}

/** @param {ts.PropertySignature | ts.MethodSignature} member */
function presetOf(member) {
  const preset = ts.getJSDocTags(member).find((tag) => tag.tagName.text === 'default')
  return preset === undefined ? undefined : (ts.getTextOfJSDocComment(preset.comment) ?? '')
}

/** @param {ts.TypeElement} member */
function isOption(member) {
  return ts.isPropertySignature(member) || ts.isMethodSignature(member)
}

/** @param {ts.PropertySignature | ts.MethodSignature} member */
function optionRow(member) {
  const given = ts.isMethodSignature(member)
    ? `(${member.parameters.map(({ name }) => name.getText()).join(', ')}) => `
    : ''
  const type = `${given}${member.type?.getText() ?? ''}`
    .replace(/\s*\|\s*undefined$/, '')
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|')
  const preset = presetOf(member)
  const text = [
    member.questionToken === undefined ? '**Required.**' : '',
    commentOf(member),
    preset === undefined ? '' : `Default: ${preset}.`,
  ]
  const words = text.join(' ').replace(/\s+/g, ' ').trim().replaceAll('|', '\\|') || 'See below.'
  return `| \`${member.name.getText()}\` | \`${type}\` | ${words} |`
}

function testedRuntimes() {
  const { engines, devDependencies } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'))
  const on = (/** @type {string} */ runtime) =>
    RUNTIMES.flatMap((each) => (each.startsWith(`${runtime}@`) ? [each.slice(runtime.length + 1)] : []))
  const node = [...on('node'), devDependencies.node.replace(/^\^(\d+).*/, '$1')].sort()
  const compilers = testedOf('typescript')
  return tested('', [
    ['Node.js', engines.node.replace('>=', 'from ').concat(' on'), node.join(', ')],
    ['Bun', `from ${on('bun')[0]} on`, on('bun').join(', ')],
    ['Deno', `from ${on('deno')[0]} on`, on('deno').join(', ')],
    ['TypeScript', `from ${minor(compilers[0])} on`, compilers.map(minor).join(', ')],
  ])
}

function testedDatabases() {
  const versions = POSTGRES.map((version) => version.split('.')[0])
  return tested('', [
    ['PostgreSQL', `from ${versions[0]} on`, versions.join(', ')],
    ['`node:sqlite`', 'of every supported runtime', 'on all of them'],
    ...['better-sqlite3', 'libsql'].map((driver) => [
      `\`${driver}\``,
      'in place of `node:sqlite`',
      testedOf(driver).map(minor).join(', '),
    ]),
  ])
}

function testedPeers() {
  const { peerDependencies } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'))
  const rows = Object.entries(peerDependencies).map(([name, range]) => [
    `\`${name}\``,
    `\`${range.replaceAll(' || ', '`, `')}\``,
    testedOf(name).map(minor).join(', '),
  ])
  return tested('Peer', rows)
}

/**
 * @param {string} title
 * @param {readonly (readonly (string | undefined)[])[]} rows
 */
function tested(title, rows) {
  return [
    `| ${title} | Supported | Tested |`,
    '|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}

/**
 * The installed versions of a package, also under other names, oldest first.
 *
 * @param {string} name
 */
function testedOf(name) {
  const { packages } = JSON.parse(readFileSync(fromRoot('package-lock.json'), 'utf8'))
  const { devDependencies } = packages['']
  return Object.entries(devDependencies)
    .flatMap(([alias, range]) => {
      const called = /^npm:(.+)@/.exec(range)?.[1] ?? alias
      return called === name ? [packages[`node_modules/${alias}`].version] : []
    })
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
}

/** @param {string} version */
function minor(version) {
  return version.replace(/^(\d+\.\d+).*/, '$1')
}
