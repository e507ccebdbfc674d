import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { entries, fromRoot } from '../../scripts/entries.mjs'
import { type Consumer, createConsumer, type Manifest, readManifest } from './consumer.ts'
import { links } from './markdown.ts'

const specifiers = entries().map(({ specifier }) => specifier)

let manifest: Manifest
let bare: Consumer
let withPeers: Consumer

beforeAll(async () => {
  manifest = await readManifest()
  bare = await createConsumer()
  withPeers = await createConsumer(Object.keys(manifest.peerDependencies))
})

afterAll(async () => {
  await bare?.remove()
  await withPeers?.remove()
})

test('the package holds its build and its papers, and nothing else', async () => {
  const files = await readdir(join(bare.directory, 'node_modules/carillon'))
  const papers = [
    'AGENTS.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'docs',
    'llms.txt',
  ]
  expect(files.sort()).toEqual([...papers, 'dist', 'package.json'].sort())
})

test('package.json names only files that the package holds, and no scripts', async () => {
  const folder = join(bare.directory, 'node_modules/carillon')
  const packed = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
  expect(packed.scripts).toBeUndefined()
  const text = JSON.stringify([packed.main, packed.types, packed.exports, packed.typesVersions])
  const paths = [...text.matchAll(/"(\.\/[^"]+\.(?:js|ts|json))"/g)].map(([, path = '']) => path)
  expect(paths.length).toBeGreaterThan(60)
  expect(paths.filter((path) => !existsSync(join(folder, path)))).toEqual([])
})

test('every relative link of a packed page leads to what is packed', async () => {
  const folder = join(bare.directory, 'node_modules/carillon')
  const pages = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.md'))
  expect(pages).toContain('docs/reference/options.md')
  for (const page of pages) {
    const dead = (await links(pathToFileURL(join(folder, page)).href)).filter(
      (target) => !existsSync(join(folder, dirname(page), target.replace(/#.*/, ''))),
    )
    expect(dead, page).toEqual([])
  }
})

test('types cite no file that the package lacks', async () => {
  const folder = join(bare.directory, 'node_modules/carillon')
  const files = await readdir(join(folder, 'dist'), { recursive: true })
  for (const file of files.filter((each) => each.endsWith('.d.ts'))) {
    const text = await readFile(join(folder, 'dist', file), 'utf8')
    const cited = [...text.matchAll(/(?<![\w.:/-])(?:[\w-]+\/)*[\w-]+\.md\b/g)].map(([path]) => path)
    expect(
      cited.filter((path) => !existsSync(join(folder, path))),
      file,
    ).toEqual([])
  }
})

test('core modules keep their full names, the only ones that all of them have', async () => {
  const folder = join(bare.directory, 'node_modules/carillon/dist')
  const files = await readdir(folder, { recursive: true })
  for (const file of files.filter((each) => each.endsWith('.js'))) {
    const text = await readFile(join(folder, file), 'utf8')
    const names = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*["']([^"'.][^"']*)["']/g)].map(
      ([, name]) => name ?? '',
    )
    expect(
      names.filter((name) => isBuiltin(name) && !name.startsWith('node:')),
      file,
    ).toEqual([])
  }
})

test('what each entry point exports is what is written down', async () => {
  const code = `
    const names = {}
    for (const specifier of ${JSON.stringify(specifiers)}) names[specifier] = Object.keys(await import(specifier))
    console.log(JSON.stringify(names))`
  const values: Record<string, string[]> = JSON.parse(await bare.node('--input-type=module', '-e', code))
  const names = declaredNames(
    entries().map(({ name }) => join(bare.directory, `node_modules/carillon/dist/${name}.d.ts`)),
  )
  const text = specifiers.map((specifier, at) => {
    const runtime = values[specifier]?.sort() ?? []
    const declared = names[at] ?? []
    expect(declared, `${specifier}: the types declare what the code exports`).toEqual(
      expect.arrayContaining(runtime),
    )
    const types = declared.filter((each) => !runtime.includes(each)).map((each) => `type ${each}`)
    return [specifier, ...[...runtime, ...types].map((each) => `  ${each}`), ''].join('\n')
  })
  await expect(text.join('\n')).toMatchFileSnapshot('exports.txt')
})

test('the root and the kits export each name once', async () => {
  const exported = await readFile(new URL('exports.txt', import.meta.url), 'utf8')
  const names = exported
    .split('\n\n')
    .filter((entry) => /^carillon(?:\/[a-z-]+-kit)?$/m.test(entry))
    .flatMap((entry) => entry.trim().split('\n').slice(1))
  expect(names.length).toBeGreaterThan(400)
  expect(names.filter((name, at) => names.indexOf(name) !== at)).toEqual([])
})

test('require() gets the same modules as import', async () => {
  const code = `
    const { createRequire } = await import('node:module')
    const require = createRequire(process.cwd() + '/')
    for (const specifier of ${JSON.stringify(specifiers)}) {
      if (require(specifier).default !== undefined) throw new Error(specifier + ' has a default export')
      for (const [name, value] of Object.entries(await import(specifier))) {
        if (require(specifier)[name] !== value) throw new Error(specifier + ' exists twice: ' + name)
      }
    }`
  await bare.node('--input-type=module', '-e', code)
})

test('every entry point can be imported where no peer is installed', async () => {
  await bare.node('--input-type=module', '-e', specifiers.map((each) => `import '${each}'`).join('\n'))
})

test('no entry point loads a peer that is installed', async () => {
  const code = `
    import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({
      resolve(specifier, context, next) {
        loaded.push([specifier, context.parentURL])
        return next(specifier, context)
      },
    })
    for (const specifier of ${JSON.stringify(specifiers)}) await import(specifier)
    console.log(JSON.stringify(loaded))`
  const loaded: [string, string][] = JSON.parse(await withPeers.node('--input-type=module', '-e', code))
  expect(loaded.map(([specifier]) => specifier)).toEqual(expect.arrayContaining(specifiers))
  expect(loaded.filter(([specifier]) => packageName(specifier) in manifest.peerDependencies)).toEqual([])
})

test('what receives webhooks loads the error catalogue and node:crypto, and nothing else', async () => {
  const code = `
    import { statSync } from 'node:fs'
    import { registerHooks } from 'node:module'
    const loaded = []
    const seen = new Set()
    registerHooks({
      resolve(specifier, context, next) {
        const resolved = next(specifier, context)
        const isNew = resolved.url.startsWith('file:') && !seen.has(resolved.url)
        loaded.push([specifier, isNew ? statSync(new URL(resolved.url)).size : 0])
        seen.add(resolved.url)
        return resolved
      },
    })
    await import('carillon/webhooks')
    console.log(JSON.stringify(loaded))`
  const loaded: [string, number][] = JSON.parse(await bare.node('--input-type=module', '-e', code))
  const elsewhere = loaded.map(([specifier]) => specifier).filter((each) => !/^\.{1,2}\/chunk-/.test(each))
  expect(elsewhere).toEqual(['carillon/webhooks', 'node:crypto'])
  expect(loaded.reduce((sum, [, size]) => sum + size, 0)).toBeLessThan(32_000)
})

test('an application with strict types and skipLibCheck off compiles, and needs no types of a peer', async () => {
  const consumer = await createConsumer(['@types/node'])
  try {
    const imports = specifiers.map((each, at) => `import * as entry${at} from '${each}'`)
    const names = specifiers.map((_, at) => `entry${at}`)
    await consumer.write('all.ts', `${imports.join('\n')}\nexport const all = [${names.join(', ')}]\n`)
    await consumer.write('app.ts', application)
    await consumer.compile(['all.ts', 'app.ts'], { declaration: true })
  } finally {
    await consumer.remove()
  }
})

/**
 * Options that are there and undefined, as an application with exactOptionalPropertyTypes passes them on; and exports whose
 * types are inferred, which a library with declarations must be able to name.
 */
const application = `
import { createServer } from 'node:http'
import { createNotifier, isNotifierError, type Notifier, type Provider, type ProviderResumedEvent } from 'carillon'
import { notifierRouter } from 'carillon/express'
import { notifierPlugin } from 'carillon/fastify'
import { notifierFetch } from 'carillon/fetch'
import { notifierMiddleware } from 'carillon/koa'
import { notifierHandler } from 'carillon/node'
import { smtp } from 'carillon/smtp'
import { sqlite } from 'carillon/sqlite'

const file: string | undefined = process.env['FILE']
const port: number | undefined = file === undefined ? undefined : 25

const sms: Provider = {
  name: 'own',
  async send({ to, body }, { signal }) {
    return signal.aborted ? { kind: 'ambiguous', reason: to + body } : { kind: 'accepted' }
  },
}

export async function main(): Promise<void> {
  const notifier: Notifier = createNotifier({
    storage: file === undefined ? undefined : sqlite({ file, synchronous: undefined }),
    channels: { email: [smtp({ host: 'mail', from: 'a@example.com', port })], sms, slack: undefined },
    secret: undefined,
  })
  notifier.on('notification.delivered', ({ data }) => console.log(data.id, data.status)).on('error', console.error)
  await notifier.start()
  try {
    const variables = { name: 'Ada' }
    const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', template: 'welcome', variables })
    const { timeline } = await notifier.notifications.get(id, { rendered: undefined })
    console.log(timeline[0]?.event)
  } catch (error) {
    if (isNotifierError(error) && error.code === 'template_not_found') console.log(error.message)
  }
  const router = notifierRouter(notifier)
  createServer((req, res) => router(req, res, () => res.end())).listen(0)
  const prefix: string | undefined = process.env['PREFIX']
  createServer(notifierHandler(notifier, { prefix, https: 'off' })).listen(0)
  const connection = { remoteAddress: undefined, encrypted: true }
  const response = await notifierFetch(notifier, { prefix })(new Request('https://localhost/v1/notify'), connection)
  console.log(response?.status, notifierPlugin(notifier), notifierMiddleware(notifier, { prefix }))
  await notifier[Symbol.asyncDispose]()
}

export const queue = async (notifier: Notifier) => (await notifier.health()).queue
export const resumed = ({ data }: ProviderResumedEvent) => data
`

test('the sources that tests and examples import by name are those of the entry points', () => {
  const { config } = ts.readConfigFile(fromRoot('tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, fromRoot('.'))
  for (const { specifier, source } of entries()) {
    const { resolvedModule } = ts.resolveModuleName(specifier, fromRoot('test/any.ts'), options, ts.sys)
    expect(resolvedModule?.resolvedFileName, specifier).toBe(fromRoot(source))
  }
})

test('every peer is optional, has a range and is installed here in a version within it', async () => {
  const { peerDependenciesMeta } = JSON.parse(await readFile(fromRoot('package.json'), 'utf8'))
  for (const [name, range] of Object.entries(manifest.peerDependencies)) {
    expect(peerDependenciesMeta[name], name).toEqual({ optional: true })
    const { version } = JSON.parse(await readFile(fromRoot(`node_modules/${name}/package.json`), 'utf8'))
    expect(range, name).toContain(`^${version.split('.')[0]}.`)
  }
})

test('the changelog has a place for what comes next and an entry for every released version', async () => {
  const changelog = await readFile(fromRoot('CHANGELOG.md'), 'utf8')
  const titles = [...changelog.matchAll(/^## \[([^\]]+)\]/gm)].map(([, title]) => title)
  expect(titles[0]).toBe('Unreleased')
})

/** Every name that declaration files export, types included. */
function declaredNames(files: readonly string[]): string[][] {
  const program = ts.createProgram(files, { module: ts.ModuleKind.NodeNext, noEmit: true })
  const checker = program.getTypeChecker()
  return files.map((file) => {
    const source = program.getSourceFile(file)
    const symbol = source && checker.getSymbolAtLocation(source)
    if (symbol === undefined) throw new Error(`${file} is no module`)
    return checker
      .getExportsOfModule(symbol)
      .map((each) => each.name)
      .sort()
  })
}

function packageName(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}
