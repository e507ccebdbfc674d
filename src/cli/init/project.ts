import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Exit, messageOf } from '../exit.ts'

/** A project, as its folder shows it. */
export interface Project {
  readonly folder: string
  readonly framework: FrameworkName
  readonly typescript: boolean
  readonly esm: boolean
  readonly manager: PackageManager
  /** Names of the packages that it depends on. */
  readonly packages: ReadonlySet<string>
}

export type FrameworkName = 'Next.js' | 'NestJS' | 'Fastify' | 'Koa' | 'Hono' | 'Express' | 'Node.js'
export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

/** By a package of each. The first match counts: earlier frameworks are built on later ones. */
const FRAMEWORKS: readonly (readonly [pack: string, name: FrameworkName])[] = [
  ['next', 'Next.js'],
  ['@nestjs/core', 'NestJS'],
  ['fastify', 'Fastify'],
  ['koa', 'Koa'],
  ['hono', 'Hono'],
  ['express', 'Express'],
]

const LOCKFILES: readonly (readonly [file: string, manager: PackageManager])[] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
  ['package-lock.json', 'npm'],
]

/** @throws Exit `configuration` if the folder has no valid package.json */
export function projectIn(folder: string): Project {
  const { type, dependencies, devDependencies } = manifestOf(folder)
  const packages = new Set([dependencies, devDependencies].flatMap((each) => Object.keys(Object(each))))
  return {
    folder,
    framework: FRAMEWORKS.find(([name]) => packages.has(name))?.[1] ?? 'Node.js',
    typescript: packages.has('typescript') || existsSync(join(folder, 'tsconfig.json')),
    esm: type === 'module',
    manager: managerOf(folder),
    packages,
  }
}

interface Manifest {
  readonly type?: unknown
  readonly dependencies?: unknown
  readonly devDependencies?: unknown
}

function manifestOf(folder: string): Manifest {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) {
    const message = `There is no package.json in ${folder}. Go to the folder of your project, or begin one: npm init -y.`
    throw new Exit('configuration', message)
  }
  try {
    return Object(JSON.parse(readFileSync(file, 'utf8')))
  } catch (cause) {
    throw new Exit('configuration', `${file} is not JSON: ${messageOf(cause)}`, cause)
  }
}

/** Packages of a workspace have their lockfile above them. */
function managerOf(folder: string): PackageManager {
  const found = LOCKFILES.find(([file]) => existsSync(join(folder, file)))
  if (found !== undefined) return found[1]
  const above = dirname(folder)
  return above === folder ? 'npm' : managerOf(above)
}
