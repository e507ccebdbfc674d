import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'

const { version, files, dependencies } = JSON.parse(readFileSync(fromRoot('package.json'), 'utf8'))
const COPIED = [
  ...files,
  ...[
    '.gitignore',
    'LICENSE',
    'README.md',
    'package.json',
    'package-lock.json',
    'scripts',
    'test/fixtures/databases',
  ],
]

let clone: string

function git(...args: string[]): void {
  const who = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', '-c', 'commit.gpgsign=false']
  execFileSync('git', [...who, ...args], { cwd: clone, stdio: 'ignore' })
}

function change(file: string, replace: (text: string) => string): void {
  const path = join(clone, file)
  writeFileSync(path, replace(readFileSync(path, 'utf8')))
}

function commit(): void {
  git('add', '--all')
  git('commit', '--allow-empty', '--message', 'Release')
}

function release(...args: string[]): { readonly status: number | null; readonly said: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/release.mjs', ...args], {
    cwd: clone,
    encoding: 'utf8',
    env: { ...process.env, GITHUB_REPOSITORY: 'acme/carillon' },
  })
  return { status, said: stdout + stderr }
}

/** A clone that can be released, with what a maintainer changes for it. */
beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'carillon-release-'))
  for (const file of COPIED) cpSync(fromRoot(file), join(clone, file), { recursive: true })
  change('CHANGELOG.md', (text) =>
    text
      .replace(/^## \[Unreleased\]$/m, `## [Unreleased]\n\n## [${version}] - 2026-12-01`)
      .replace('This will be version', 'This is version'),
  )
  for (const file of ['README.md', 'docs/README.md']) {
    change(file, (text) => text.replace('not yet on the npm registry', 'on the npm registry'))
  }
  git('init', '--quiet')
  commit()
})

afterEach(() => rmSync(clone, { recursive: true, force: true }))

test('a release holds the package, its bill of materials and its notes', () => {
  const { status, said } = release(`v${version}`)
  expect([status, said]).toEqual([0, expect.stringContaining(`carillon ${version} can be released`)])
  expect(readdirSync(join(clone, 'release')).sort()).toEqual(
    [`carillon-${version}.cdx.json`, `carillon-${version}.tgz`, 'notes.md'].sort(),
  )
  const bill = JSON.parse(readFileSync(join(clone, `release/carillon-${version}.cdx.json`), 'utf8'))
  const names: string[] = bill.components.map(({ name }: { name: string }) => name)
  expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies)))
  expect(names.filter((name) => /^(?:vitest|typescript|node)/.test(name))).toEqual([])
  expect(readFileSync(join(clone, 'release/notes.md'), 'utf8')).toMatch(/^Carillon is a multi-channel/)

  const packed = join(clone, `release/carillon-${version}.tgz`)
  const manifest = JSON.parse(
    execFileSync('tar', ['-xOf', packed, 'package/package.json'], { encoding: 'utf8' }),
  )
  expect(manifest).toMatchObject({ repository: { url: 'git+https://github.com/acme/carillon.git' } })
  expect(execFileSync('git', ['status', '--porcelain'], { cwd: clone, encoding: 'utf8' })).toBe('')
})

test('everything that disagrees is named at once', () => {
  change('CHANGELOG.md', (text) => text.replaceAll(`[${version}] - `, '[0.0.9] - '))
  change('README.md', (text) => `${text}\nIt is not yet on the npm registry.\n`)
  change('package-lock.json', (text) => text.replace(`"version": "${version}"`, '"version": "9.9.9"'))
  rmSync(join(clone, 'test/fixtures/databases', version), { recursive: true })
  const { status, said } = release('v9.9.9')
  expect(status).toBe(1)
  for (const named of [
    'package-lock.json is not of version',
    'The tag is v9.9.9',
    'Something is not committed',
    `CHANGELOG.md lacks "## [${version}] - <date>"`,
    'Says that nothing is released: README.md',
    'The databases are not frozen',
  ]) {
    expect(said).toContain(named)
  }
})

test.each<[string, () => void, string]>([
  [
    'a tag on another commit',
    () => [git('tag', `v${version}`), commit()],
    `The tag v${version} is on another commit`,
  ],
  [
    'something unreleased',
    () => [
      change('CHANGELOG.md', (text) => text.replace('## [Unreleased]', '## [Unreleased]\n\n- News')),
      commit(),
    ],
    'CHANGELOG.md has something that is not released',
  ],
  [
    'a pre-release',
    () =>
      change('package.json', (text) => text.replace(`"version": "${version}"`, '"version": "9.9.9-rc.1"')),
    '"9.9.9-rc.1" is no version that can be released',
  ],
  [
    'a folder without a repository',
    () => rmSync(join(clone, '.git'), { recursive: true }),
    'git status --porcelain: ',
  ],
  [
    'an entry point that is not built',
    () => rmSync(join(clone, 'dist/client/index.js')),
    'The package lacks dist/client/index.js',
  ],
])('%s cannot be released', (_, prepare, reason) => {
  prepare()
  expect(release()).toEqual({ status: 1, said: expect.stringContaining(reason) })
})
