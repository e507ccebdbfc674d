import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { transformSync } from 'esbuild'
import { defineConfig } from 'tsup'
import { buildDashboard } from './scripts/build-dashboard.mjs'
import { entries, fromRoot } from './scripts/entries.mjs'

for (const { specifier, source } of entries()) {
  if (!existsSync(fromRoot(source))) {
    throw new Error(`"${specifier}" of package.json is built from ${source}, which does not exist`)
  }
}

await buildDashboard()

const published = Object.fromEntries(entries().map(({ name, source }) => [name, source]))

/** Checks the types and writes a declaration for each source. tsup bundles them in a fifth of the time it needs for sources. */
function declarations(): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-declarations-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const tsc = fromRoot('node_modules/typescript7/bin/tsc')
  const emit = ['--noEmit', 'false', '--emitDeclarationOnly', '--rootDir', fromRoot('.'), '--outDir', folder]
  const { status } = spawnSync(process.execPath, [tsc, '-p', fromRoot('tsconfig.lib.json'), ...emit], {
    stdio: 'inherit',
  })
  if (status !== 0) throw new Error('The types of the package have errors')
  return Object.fromEntries(
    entries().map(({ name, source }) => [name, join(folder, source.replace(/\.ts$/, '.d.ts'))]),
  )
}

/** Without the lines that are comments. Most are paths of sources, and texts that the declarations have too. */
function withoutComments(code: string): string {
  const short = code.replace(/^ *(?:\/\/[^\n]*|\/\*\*.*?\*\/)\n/gms, '')
  const [one, other] = [code, short].map((each) => transformSync(each, { minify: true }).code)
  if (one !== other) throw new Error('A line that is no comment looks like one, such as one of a template')
  return short
}

export default defineConfig(({ dts }) => ({
  // With createNotifier in an entry of its own, index.js only exports: a bundle of NotifierError alone stays small.
  entry: { ...published, 'create-notifier': 'src/create-notifier.ts' },
  tsconfig: 'tsconfig.lib.json',
  format: ['esm'],
  target: 'node22',
  platform: 'node',
  splitting: true,
  clean: true,
  // Importing its 90 modules takes five times as long as their code. The metadata, which changes often, stays outside.
  noExternal: ['libphonenumber-js/core'],
  // Without it tsup writes "sqlite" for "node:sqlite", which exists only under its full name.
  removeNodeProtocol: false,
  // Shorter code with all names: the package has at most 4 MB.
  esbuildOptions(options) {
    options.charset = 'utf8'
    options.minifySyntax = true
  },
  plugins: [{ name: 'without-comments', renderChunk: (code) => ({ code: withoutComments(code) }) }],
  // tsup 8.5.1 always passes `baseUrl` to the declaration build; TypeScript 6 rejects it without this.
  dts: dts !== false && {
    entry: declarations(),
    compilerOptions: { ignoreDeprecations: '6.0' },
    // For `Symbol.asyncDispose`, which the default library of TypeScript 7 lacks.
    banner: '/// <reference lib="esnext.disposable" />',
  },
}))
