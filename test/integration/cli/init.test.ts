import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { carillon, spawnCarillon, typeAtTerminal } from '../../support/command-line.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const MODULE = { type: 'module' }

/** A folder with files by their paths. Objects are JSON. */
function folderWith(files: Readonly<Record<string, unknown>>): string {
  const folder = temporaryDirectory(onTestFinished)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return folder
}

const contents = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]),
  )

const uses = (...names: string[]) => ({ dependencies: Object.fromEntries(names.map((name) => [name, '*'])) })

test.for([
  [
    'Express, TypeScript, ES modules, pnpm',
    { 'package.json': { ...MODULE, ...uses('express', 'typescript') }, 'pnpm-lock.yaml': '' },
    'ts',
  ],
  [
    'Fastify, TypeScript, ES modules, npm',
    { 'package.json': { ...MODULE, ...uses('fastify') }, 'tsconfig.json': '{}' },
    'ts',
  ],
  [
    'Express, TypeScript, CommonJS, yarn',
    { 'package.json': uses('express', 'typescript'), 'yarn.lock': '' },
    'mjs',
  ],
  [
    'Koa, JavaScript, ES modules, bun',
    { 'package.json': { ...MODULE, ...uses('koa') }, 'bun.lock': '' },
    'mjs',
  ],
  ['Hono, JavaScript, CommonJS, npm', { 'package.json': uses('hono') }, 'mjs'],
  [
    'NestJS, TypeScript, CommonJS, npm',
    {
      'package.json': {
        dependencies: uses('@nestjs/core', 'express').dependencies,
        devDependencies: { typescript: '*' },
      },
      'package-lock.json': '{}',
    },
    'mjs',
  ],
  [
    'Next.js, TypeScript, ES modules, npm',
    { 'package.json': { ...MODULE, ...uses('next', 'express') }, 'tsconfig.json': '{}' },
    'mjs',
  ],
  ['Node.js, JavaScript, CommonJS, npm', { 'package.json': {} }, 'mjs'],
] as const)('finds %s', async ([found, files, ending]) => {
  const folder = folderWith(files)
  const { code, err } = await carillon(['init', '--yes'], { cwd: folder })
  expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining(`Found ${found}.`) })
  const written = Object.keys(contents(folder)).filter((path) => !(path in files))
  expect(written).toContain(`carillon.config.${ending}`)
  expect(written).toContain(join('.carillon', '.gitignore'))
  expect(written.every((path) => !/secret|\.env/.test(path))).toBe(true)
})

test('a package of a workspace has the lockfile above it, and routes of Next.js lie where its others do', async () => {
  const folder = folderWith({
    'pnpm-lock.yaml': '',
    'site/package.json': uses('next'),
    'site/src/lib.js': '',
  })
  const { err } = await carillon(['init', '--yes'], { cwd: join(folder, 'site') })
  expect(err).toContain('pnpm add carillon')
  expect(err).toContain('pnpm exec next dev -H localhost')
  expect(Object.keys(contents(folder))).toContain('site/src/app/mailbox/[[...path]]/route.js')
})

test('a second init writes nothing, and prints the steps again', async () => {
  const folder = folderWith({ 'package.json': uses('express', 'carillon') })
  const first = await carillon(['init', '--yes'], { cwd: folder })
  expect(first.out).toBe('carillon.config.mjs\ncarillon.server.mjs\n.carillon/.gitignore\n')
  const before = contents(folder)
  // There is nothing to ask.
  expect(await carillon(['init'], { cwd: folder })).toEqual({ ...first, out: '' })
  expect(contents(folder)).toEqual(before)
  expect(first.err).not.toContain('npm install')
})

test.for([
  ['carillon.server.mjs', 'my own'],
  ['carillon.config.mjs', 'my own'],
  ['carillon.config.ts', 'under another ending'],
] as const)('%s is not overwritten: %s', async ([path, text]) => {
  const folder = folderWith({ 'package.json': uses('express'), [path]: text })
  const before = contents(folder)
  const outcome = await carillon(['init', '--yes'], { cwd: folder })
  expect(outcome).toMatchObject({
    code: 4,
    out: '',
    err: expect.stringContaining(`There is already ${path},`),
  })
  expect(contents(folder)).toEqual(before)
})

test('--dry-run shows the files and writes none', async () => {
  const folder = folderWith({ 'package.json': uses('koa') })
  const before = contents(folder)
  const { code, out } = await carillon(['init', '--dry-run'], { cwd: folder })
  expect(code).toBe(0)
  expect(out).toContain('carillon.server.mjs\n    import')
  expect(contents(folder)).toEqual(before)
  const { out: json } = await carillon(['init', '--dry-run', '--json'], { cwd: folder })
  const [first] = json.split('\n')
  expect(JSON.parse(first ?? '')).toEqual({
    path: 'carillon.config.mjs',
    text: expect.stringContaining('createNotifier'),
  })
})

test.for([
  [{}, 3, 'There is no package.json'],
  [{ 'package.json': '{' }, 3, 'is not JSON'],
  [{ 'package.json': {} }, 2, 'this needs "--yes"'],
] as const)('in %j without a terminal it ends with %i', async ([files, code, says]) => {
  const folder = folderWith(files)
  const outcome = await spawnCarillon(['init'], { cwd: folder }).outcome
  expect(outcome).toMatchObject({ code, out: '', err: expect.stringContaining(says) })
  expect(Object.keys(contents(folder))).toEqual(Object.keys(files))
})

test.for([
  ['y\r', 0, true],
  ['\r', 130, false],
  ['\u0003', 130, false],
] as const)('%j answers on a terminal', async ([input, code, written]) => {
  const folder = folderWith({ 'package.json': uses('express') })
  const outcome = await typeAtTerminal(['init'], { cwd: folder, input })
  expect(outcome.code).toBe(code)
  expect(outcome.out).toContain('Write carillon.config.mjs, carillon.server.mjs, .carillon/.gitignore? [y/N]')
  expect('carillon.config.mjs' in contents(folder)).toBe(written)
})
