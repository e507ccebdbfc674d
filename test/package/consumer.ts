import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import {
  copyFile,
  cp,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { fromRoot } from '../../scripts/entries.mjs'

const run = promisify(execFile)

export interface Manifest {
  version: string
  files: string[]
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  devDependencies: Record<string, string>
}

export interface Consumer {
  /** The folder of the consuming project. */
  directory: string
  /** Writes a file into the project. */
  write(path: string, text: string): Promise<void>
  /** Runs Node in the project and returns what it printed; fails with everything it printed. */
  node(...args: string[]): Promise<string>
  /** Compiles files of the project; fails with the compiler's errors. */
  compile(files: readonly string[], options?: CompileOptions): Promise<void>
  remove(): Promise<void>
}

export interface CompileOptions {
  /** Package of the compiler. Default: the newest, which takes the least time. */
  readonly compiler?: string
  /** Where `tsconfig.json` and the files are. Default: the folder of the project. */
  readonly folder?: string
  /** In place of those of {@link STRICT}. */
  readonly [compilerOption: string]: unknown
}

const STRICT = {
  target: 'es2022',
  module: 'nodenext',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
  allowImportingTsExtensions: true,
  types: ['node'],
}

export async function readManifest(): Promise<Manifest> {
  return JSON.parse(await readFile(fromRoot('package.json'), 'utf8'))
}

/** The package is packed once in this process. */
let packed: Promise<string> | undefined

/** The path of the packed package. */
async function pack(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'carillon-pack-'))
  // A copy, because npm changes package.json for a moment, and other tests read it.
  const { files } = await readManifest()
  for (const path of [...files, 'package.json', 'README.md', 'LICENSE', 'scripts/manifest.mjs']) {
    await cp(fromRoot(path), join(directory, path), { recursive: true })
  }
  const { stdout } = await run('npm', ['pack', '--json'], {
    cwd: directory,
    shell: process.platform === 'win32',
  })
  const tarball = /"filename": "([^"]+)"/.exec(stdout)?.[1]
  if (tarball === undefined) throw new Error(`npm pack has printed no file name: ${stdout}`)
  return join(directory, tarball)
}

/**
 * A project that has installed the packed package, as the registry would deliver it, in a folder that
 * shares no `node_modules` with this one. Its dependencies, and whatever is named beside them, are links
 * to the packages installed here, so that this needs no network.
 *
 * @param how `files`: links to files in place of folders, for tools that refuse a link out of the project
 */
export async function createConsumer(
  installed: string[] = [],
  how: 'folders' | 'files' = 'folders',
): Promise<Consumer> {
  if (!existsSync(fromRoot('dist'))) throw new Error('The built package is tested: npm run build comes first')
  const directory = await mkdtemp(join(tmpdir(), 'carillon-consumer-'))
  const modules = join(directory, 'node_modules')
  await mkdir(modules)

  packed ??= pack()
  await run('tar', ['-xzf', await packed, '-C', 'node_modules'], { cwd: directory })
  await rename(join(modules, 'package'), join(modules, 'carillon'))

  const { dependencies } = await readManifest()
  const named = new Set([...Object.keys(dependencies), ...installed])
  for (const name of how === 'files' ? await withDependencies(named) : named) {
    const [from, to] = [fromRoot(`node_modules/${name}`), join(modules, name)]
    await mkdir(dirname(to), { recursive: true })
    await (how === 'files' ? linkFiles(from, to) : symlink(from, to, 'junction'))
  }

  const consumer: Consumer = {
    directory,
    async write(path, text) {
      await mkdir(dirname(join(directory, path)), { recursive: true })
      await writeFile(join(directory, path), text)
    },
    async node(...args) {
      try {
        const env = { ...process.env, NODE_OPTIONS: '' }
        return (await run(process.execPath, args, { cwd: directory, env })).stdout
      } catch (error) {
        const { stdout: out, stderr } = error as { stdout: string; stderr: string }
        throw new Error(`node ${args.join(' ')} failed:\n${out}${stderr}`, { cause: error })
      }
    },
    async compile(files, { compiler = 'typescript7', folder = '.', ...options } = {}) {
      const compilerOptions = { ...STRICT, ...options }
      await consumer.write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
      await consumer.node(fromRoot(`node_modules/${compiler}/bin/tsc`), '-p', folder, '--pretty', 'false')
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  }
  await consumer.write('package.json', '{ "name": "consumer", "private": true, "type": "module" }\n')
  return consumer
}

/** The names of packages and of what they depend on, as far as it is installed here beside them. */
async function withDependencies(names: Iterable<string>): Promise<Set<string>> {
  const found = new Set(names)
  for (const name of found) {
    const { dependencies, optionalDependencies } = JSON.parse(
      await readFile(fromRoot(`node_modules/${name}/package.json`), 'utf8'),
    )
    for (const each of Object.keys({ ...dependencies, ...optionalDependencies }))
      if (existsSync(fromRoot(`node_modules/${each}`))) found.add(each)
  }
  return found
}

async function linkFiles(from: string, to: string): Promise<void> {
  await mkdir(to)
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) await linkFiles(source, target)
    // The folder may be on another disk.
    else await link(source, target).catch(() => copyFile(source, target))
  }
}
