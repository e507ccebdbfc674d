// Checks that this commit can be released as the version of package.json, and writes the parts of a release to release/:
// the package, its bill of materials and its notes. Publishes nothing: node scripts/release.mjs [tag]
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromRoot } from './entries.mjs'

/** Without pre-releases, which `npm publish` takes only under a tag of their own. */
const VERSION = /^\d+\.\d+\.\d+$/
/** Files that npm always packs. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE']

/** @type {string[]} */
const faults = []
const check = (/** @type {boolean} */ holds, /** @type {string} */ fault) =>
  void (holds || faults.push(fault))
const read = (/** @type {string} */ file) => readFileSync(fromRoot(file), 'utf8')

const manifest = JSON.parse(read('package.json'))
const lock = JSON.parse(read('package-lock.json'))
const { version } = manifest
const tag = `v${version}`
/** Empty, as absent: the release makes the tag. */
const asked = process.argv[2] ?? ''

check(VERSION.test(version), `package.json: "${version}" is no version that can be released.`)
check(
  [lock.version, lock.packages[''].version].every((each) => each === version),
  `package-lock.json is not of version ${version}: npm install --package-lock-only`,
)
check(['', tag].includes(asked), `The tag is ${asked}; package.json has version ${version}.`)
check(git('status', '--porcelain') === '', 'Something is not committed: git status')
const head = git('rev-parse', 'HEAD')
check(
  git('tag', '--list', tag) === '' || git('rev-list', '-n', '1', tag) === head,
  `The tag ${tag} is on another commit.`,
)

const changelog = read('CHANGELOG.md')
const sections = changelog
  .split(/^## /m)
  .slice(1)
  .map((text) => {
    const end = text.indexOf('\n')
    return { title: text.slice(0, end).trim(), notes: text.slice(end).trim() }
  })
const [released] = sections.filter(({ title }) => title !== '[Unreleased]')
const date = released?.title.replace(`[${version}] - `, '') ?? ''
const notes = released?.notes ?? ''
check(/^\d{4}-\d{2}-\d{2}$/.test(date), `CHANGELOG.md lacks "## [${version}] - <date>" above older versions.`)
check(notes !== '', `CHANGELOG.md says nothing about ${version}.`)
check(
  sections.every(({ title, notes }) => title !== '[Unreleased]' || notes === '') &&
    !/will be version/.test(changelog),
  'CHANGELOG.md has something that is not released.',
)
const outdated = ['README.md', ...globSync('docs/**/*.md', { cwd: fromRoot('.') })].filter((file) =>
  /not yet on the npm registry/.test(read(file)),
)
check(outdated.length === 0, `Says that nothing is released: ${outdated.join(', ')}`)
check(
  existsSync(fromRoot(`test/fixtures/databases/${version}`)),
  `The databases are not frozen: node scripts/freeze-database.mjs ${version}`,
)
report()

const folder = fromRoot('release')
rmSync(folder, { recursive: true, force: true })
mkdirSync(folder)
const [{ filename, files }] = JSON.parse(npm(fromRoot('.'), 'pack', '--json', '--pack-destination', folder))
checkPack(
  files.map((/** @type {{ path: string }} */ { path }) => path),
  JSON.parse(run('tar', ['-xOf', join(folder, filename), 'package/package.json'])),
)
const bill = billOfMaterials()
checkBill(JSON.parse(bill))
report()

writeFileSync(join(folder, `carillon-${version}.cdx.json`), bill)
writeFileSync(join(folder, 'notes.md'), `${notes}\n`)
console.log(`carillon ${version} can be released. What would be published is in release/.`)

/**
 * @param {string[]} paths
 * @param {Record<string, any>} packed its package.json
 */
function checkPack(paths, packed) {
  const { files, exports, bin } = manifest
  const belongs = [...ALWAYS, ...files]
  const strange = paths.filter(
    (path) => !belongs.some((each) => path === each || path.startsWith(`${each}/`)),
  )
  check(strange.length === 0, `The package has files that do not belong there: ${strange.join(', ')}`)
  const named = JSON.stringify([exports, bin]).matchAll(/"\.\/([^"*]+\.(?:js|ts|json))"/g)
  const missing = [...named].flatMap(([, path = '']) => (paths.includes(path) ? [] : [path]))
  check(missing.length === 0, `The package lacks ${missing.join(', ')}: npm run build`)
  check(
    packed.version === version && packed.scripts === undefined,
    'The packed package.json is not the published one.',
  )
}

/**
 * Of the published dependencies alone, at the versions of the lock file: `npm sbom` takes those that development tools share
 * for theirs.
 */
function billOfMaterials() {
  const { devDependencies: _, peerDependencies, peerDependenciesMeta, scripts, ...published } = manifest
  const scratch = mkdtempSync(join(tmpdir(), 'carillon-sbom-'))
  // The name of the folder becomes that of the component.
  const project = join(scratch, manifest.name)
  try {
    mkdirSync(project)
    writeFileSync(join(project, 'package.json'), JSON.stringify(published))
    writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lock))
    npm(project, 'install', '--package-lock-only', '--offline', '--ignore-scripts', '--no-audit', '--no-fund')
    return npm(project, 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--omit', 'dev')
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** @param {Record<string, any>} bill */
function checkBill(bill) {
  const { component } = bill.metadata
  check(
    bill.bomFormat === 'CycloneDX' && component.purl === `pkg:npm/${manifest.name}@${version}`,
    'The bill of materials is not one of this version in CycloneDX.',
  )
  const listed = new Set(bill.components.map((/** @type {{ name: string }} */ { name }) => name))
  const missing = Object.keys(manifest.dependencies).filter((name) => !listed.has(name))
  check(missing.length === 0, `The bill of materials lacks ${missing.join(', ')}.`)
  const unsafe = bill.components.filter((/** @type {any} */ { purl, hashes }) => !purl || !hashes?.length)
  check(unsafe.length === 0, 'The bill of materials has components without a hash.')
}

/** @param {string[]} args */
function git(...args) {
  return run('git', args, fromRoot('.')).trim()
}

/**
 * @param {string} cwd
 * @param {string[]} args
 */
function npm(cwd, ...args) {
  return run('npm', args, cwd)
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} [cwd]
 */
function run(command, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    maxBuffer: 1e8,
    shell: process.platform === 'win32',
  })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

function report() {
  if (faults.length === 0) return
  console.error(`carillon ${version} cannot be released:\n${faults.map((fault) => `- ${fault}`).join('\n')}`)
  process.exit(1)
}
