import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'

// The rules are worth what they catch: each test plants a tree of small files and reads the report.

/** The rules of CONTRIBUTING.md, written down a second time on purpose. */
const mayImport: Record<string, string[]> = {
  'src/core': [],
  'src/features': ['src/core'],
  'src/outgoing': ['src/core'],
  'src/http': ['src/core'],
  'src/testing': ['src/core'],
  'src/template-files': ['src/core', 'src/features'],
  'src/webhook-receiver': ['src/core'],
  'adapters/http': ['src/core', 'src/http'],
  'adapters/storage': ['src/core'],
  'adapters/rate-limit': ['src/core'],
  'adapters/queue': ['src/core'],
  'adapters/channels': ['src/core', 'src/outgoing'],
}
/** They also see the composition. */
const doors = ['src/testing', 'src/template-files', 'adapters/http']
const layers = Object.keys(mayImport)
const inSrc = layers.filter((layer) => layer.startsWith('src/'))
const roots = ['src/index.ts', 'src/options.ts', 'src/create-notifier.ts']

let directory = ''
let tree: Map<string, string>

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'carillon-imports-'))
  tree = new Map(layers.map((layer) => [leaf(layer), "export const name = ''\n"]))
  for (const layer of layers) addImport(`${layer}/user.ts`, leaf(layer))
  addImport('src/index.ts', 'src/create-notifier.ts', 'export const index = value0\n')
  addImport('src/create-notifier.ts', 'src/options.ts')
  for (const layer of inSrc) addImport('src/options.ts', leaf(layer))
})

afterEach(() => rm(directory, { recursive: true, force: true }))

test('a tree that keeps the rules passes', async () => {
  for (const [layer, allowed] of Object.entries(mayImport)) {
    if (layer === 'src/webhook-receiver') continue
    for (const target of allowed) addImport(`${layer}/allowed.ts`, leaf(target))
  }
  tree.set('src/core/errors/error.ts', "export const name = ''\n")
  addImport('src/webhook-receiver/allowed.ts', 'src/core/errors/error.ts')
  tree.set('src/webhook-receiver/type.ts', typeImport('../core/leaf.ts'))
  addPackage('src/webhook-receiver/packages.ts', 'node:crypto')
  addPackage(
    'src/core/packages.ts',
    'libphonenumber-js',
    'validator',
    'p-queue',
    'eventemitter3',
    'zod',
    'node:crypto',
  )
  tree.set('src/features/one/index.ts', "export const name = ''\n")
  addImport('src/features/two/allowed.ts', 'src/features/one/index.ts')
  addPackage('adapters/http/packages.ts', 'express', 'node:http')
  addPackage('adapters/channels/smtp/send.ts', 'nodemailer', 'node:tls')
  expect(await check()).toEqual({ passed: true, breaches: [] })
})

test('every import that no layer allows is reported under the name of its layer', async () => {
  const expected: string[] = []
  for (const [layer, allowed] of Object.entries(mayImport)) {
    for (const target of [...layers.map(leaf), ...roots]) {
      if (target === leaf(layer) || allowed.map(leaf).includes(target)) continue
      if (doors.includes(layer) && roots.includes(target)) continue
      const file = `${layer}/breach.ts`
      addImport(file, target)
      expected.push(`layer:${layer}: ${file} → ${target}`)
    }
  }
  const { passed, breaches } = await check()
  expect(passed).toBe(false)
  expect(breaches).toEqual(expected.sort())
})

test('a type import counts like any other', async () => {
  tree.set('src/core/breach.ts', typeImport('../features/leaf.ts'))
  expect(await check()).toEqual({
    passed: false,
    breaches: ['layer:src/core: src/core/breach.ts → src/features/leaf.ts'],
  })
})

test('no file of src/ imports an adapter; the composition root imports the default storage', async () => {
  tree.set('adapters/storage/sqlite/index.ts', "export const name = ''\n")
  for (const root of roots) addImport(root, 'adapters/storage/sqlite/index.ts')
  addImport('src/create-notifier.ts', leaf('adapters/storage'))
  addImport('src/features/breach.ts', 'adapters/storage/sqlite/index.ts')
  expect((await check()).breaches).toEqual([
    'layer:root: src/create-notifier.ts → adapters/storage/leaf.ts',
    'layer:root: src/index.ts → adapters/storage/sqlite/index.ts',
    'layer:root: src/options.ts → adapters/storage/sqlite/index.ts',
    'layer:src/features: src/features/breach.ts → adapters/storage/sqlite/index.ts',
  ])
})

test('a cycle is reported, one of types too', async () => {
  addImport('src/features/one.ts', 'src/features/two.ts')
  addImport('src/features/two.ts', 'src/features/one.ts')
  tree.set('src/core/one.ts', "import type { Two } from './two.ts'\nexport type One = Two[]\n")
  tree.set('src/core/two.ts', "import type { One } from './one.ts'\nexport type Two = One | string\n")
  expect((await check()).breaches).toEqual([
    'no-circular: src/core/one.ts → src/core/two.ts',
    'no-circular: src/features/one.ts → src/features/two.ts',
  ])
})

test('a file that nothing imports and that imports nothing is reported', async () => {
  tree.set('src/features/forgotten.ts', "export const name = ''\n")
  expect((await check()).breaches).toEqual([
    'no-orphans: src/features/forgotten.ts → src/features/forgotten.ts',
  ])
})

test('a feature sees others through their index alone', async () => {
  tree.set('src/features/one/model.ts', "export const name = ''\n")
  addImport('src/features/one/own.ts', 'src/features/one/model.ts')
  addImport('src/features/two/breach.ts', 'src/features/one/model.ts')
  expect((await check()).breaches).toEqual([
    'feature-through-its-index: src/features/two/breach.ts → src/features/one/model.ts',
  ])
})

test('ports take neither core modules nor packages', async () => {
  addPackage('src/core/ports/core.ts', 'node:http')
  addPackage('src/core/ports/package.ts', 'zod')
  expect((await check()).breaches).toEqual([
    'ports-without-packages: src/core/ports/core.ts → http',
    'ports-without-packages: src/core/ports/package.ts → node_modules/zod/index.js',
  ])
})

test('src/ never loads a peer or a development package, not even for its types', async () => {
  addPackage('src/features/peer.ts', 'nodemailer')
  addPackage('src/testing/development.ts', 'vitest')
  tree.set('src/http/type.ts', "import type { Request } from 'express'\nexport type R = Request\n")
  tree.set('src/http/later.ts', "export const later = () => import('nodemailer')\n")
  expect((await check()).breaches).toEqual([
    'src-packages: src/features/peer.ts → node_modules/nodemailer/index.js',
    'src-packages: src/http/later.ts → node_modules/nodemailer/index.js',
    'src-packages: src/http/type.ts → node_modules/express/index.js',
    'src-packages: src/testing/development.ts → node_modules/vitest/index.js',
  ])
})

test('what receives webhooks loads the errors and node:crypto, and nothing else', async () => {
  addImport('src/webhook-receiver/core-leaf.ts', 'src/core/leaf.ts')
  addPackage('src/webhook-receiver/core.ts', 'node:http')
  addPackage('src/webhook-receiver/package.ts', 'zod')
  expect((await check()).breaches).toEqual([
    'webhook-receiver-stays-small: src/webhook-receiver/core-leaf.ts → src/core/leaf.ts',
    'webhook-receiver-stays-small: src/webhook-receiver/core.ts → http',
    'webhook-receiver-stays-small: src/webhook-receiver/package.ts → node_modules/zod/index.js',
  ])
})

test('the client has types of the rest, and loads none of it', async () => {
  tree.set('src/client/type.ts', typeImport('../core/leaf.ts'))
  addImport('src/client/own.ts', 'src/client/type.ts', 'export type Own = typeof value0\n')
  addImport('src/client/core-leaf.ts', 'src/core/leaf.ts')
  addPackage('src/client/core.ts', 'node:crypto')
  expect((await check()).breaches).toEqual([
    'client-stays-small: src/client/core-leaf.ts → src/core/leaf.ts',
    'client-stays-small: src/client/core.ts → crypto',
  ])
})

test('adapters load peers, but nothing of the development', async () => {
  addPackage('adapters/storage/breach.ts', 'vitest')
  expect((await check()).breaches).toEqual([
    'adapters-without-development-packages: adapters/storage/breach.ts → node_modules/vitest/index.js',
  ])
})

test('a folder that no rule knows is reported from both sides', async () => {
  addImport('src/helpers/user.ts', 'src/core/leaf.ts')
  addImport('src/features/breach.ts', 'src/helpers/user.ts')
  addImport('adapters/shared.ts', 'src/core/leaf.ts')
  expect((await check()).breaches).toEqual([
    'layer:src/features: src/features/breach.ts → src/helpers/user.ts',
    'no-import-of-unknown-layer: src/features/breach.ts → src/helpers/user.ts',
    'no-unknown-layer: adapters/shared.ts → src/core/leaf.ts',
    'no-unknown-layer: src/helpers/user.ts → src/core/leaf.ts',
  ])
})

test('nothing is imported from outside src/ and adapters/, and nothing that is not there', async () => {
  tree.set('test/fake.ts', "export const name = ''\n")
  addImport('src/testing/breach.ts', 'test/fake.ts')
  addImport('src/features/breach.ts', 'src/features/missing.ts')
  const { breaches } = await check()
  expect(breaches).toContain('no-import-from-outside: src/testing/breach.ts → test/fake.ts')
  expect(breaches).toContain('no-unresolvable: src/features/breach.ts → ./missing.ts')
})

test('a run that reads no module fails', async () => {
  tree = new Map([
    ['tsconfig.lib.json', '{ "files": ["elsewhere.ts"] }'],
    ['elsewhere.ts', "export const name = ''\n"],
    ['src/notes.md', 'No module here.\n'],
  ])
  expect(await check()).toEqual({ passed: false, breaches: [] })
})

function typeImport(of: string): string {
  return `import type { name } from '${of}'\nexport type Name = typeof name\n`
}

function leaf(layer: string): string {
  return `${layer}/leaf.ts`
}

/** Adds an import of one planted file to another. */
function addImport(from: string, to: string, rest = ''): void {
  const before = tree.get(from) ?? ''
  const path = relative(dirname(from), to)
  const local = `value${before.split('\n').filter((line) => line.startsWith('import ')).length}`
  const line = `import * as ${local} from '${path.startsWith('.') ? path : `./${path}`}'\nexport { ${local} }\n`
  tree.set(from, `${before}${line}${rest}`)
}

function addPackage(file: string, ...names: string[]): void {
  tree.set(file, names.map((name, at) => `import * as p${at} from '${name}'\nexport { p${at} }\n`).join(''))
}

async function check(): Promise<{ passed: boolean; breaches: string[] }> {
  for (const file of ['tsconfig.json', 'tsconfig.lib.json', 'package.json']) {
    await copyFile(fromRoot(file), join(directory, file))
  }
  const packages = ['eventemitter3', 'express', 'libphonenumber-js', 'nodemailer', 'p-queue']
  for (const name of [...packages, 'validator', 'vitest', 'zod']) {
    tree.set(
      `node_modules/${name}/package.json`,
      JSON.stringify({ name, version: '1.0.0', main: 'index.js' }),
    )
    tree.set(`node_modules/${name}/index.js`, '')
  }
  for (const [file, text] of tree) {
    await mkdir(dirname(join(directory, file)), { recursive: true })
    await writeFile(join(directory, file), text)
  }
  const { code, stdout } = await new Promise<{ code: number; stdout: string }>((resolve, reject) => {
    execFile(
      process.execPath,
      [fromRoot('scripts/check-imports.mjs'), '--json', directory],
      (error, out, err) => {
        if (error !== null && out === '') reject(new Error(err))
        else resolve({ code: error === null ? 0 : Number(error.code), stdout: out })
      },
    )
  })
  const report: { totalCruised: number; breaches: { rule: string; from: string; to: string }[] } =
    JSON.parse(stdout)
  return {
    passed: code === 0,
    breaches: report.breaches.map(({ rule, from, to }) => `${rule}: ${from} → ${to}`).sort(),
  }
}
