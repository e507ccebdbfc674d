import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Plugin, transformSync } from 'esbuild'
import { defineConfig } from 'tsup'
import ts from 'typescript'
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
  for (const file of globSync(join(folder, '**/*.d.ts'))) {
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace(/^(?: {4})+/gm, (spaces) => tabs(spaces, 4)),
    )
  }
  return Object.fromEntries(
    entries().map(({ name, source }) => [name, join(folder, source.replace(/\.ts$/, '.d.ts'))]),
  )
}

/**
 * Without the lines that are comments, and with tabs. Those of templates stay. Most comments are
 * paths of sources, and texts that the declarations have too.
 */
function shortened(code: string): string {
  const written = linesOfTemplates(code)
  const bare = code.replace(/^ *(?:\/\/[^\n]*|\/\*\*.*?\*\/)\n/gms, (comment, at: number) =>
    written.has(code.slice(0, at).split('\n').length - 1) ? comment : '',
  )
  const inTemplates = linesOfTemplates(bare)
  const lines = bare
    .split('\n')
    .map((line, at) => (inTemplates.has(at) ? line : line.replace(/^(?: {2})+/, (spaces) => tabs(spaces, 2))))
  const short = lines.join('\n')
  const [one, other] = [code, short].map((each) => transformSync(each, { minify: true }).code)
  if (one !== other) throw new Error('A line of a template was taken for a line of code')
  return short
}

/** Spaces are up to 200 KB of the package. */
const tabs = (spaces: string, width: number): string => '\t'.repeat(spaces.length / width)

/** The numbers of the lines that begin inside of a template. */
function linesOfTemplates(code: string): Set<number> {
  const file = ts.createSourceFile('chunk.js', code, ts.ScriptTarget.Latest)
  const lineAt = (position: number): number => file.getLineAndCharacterOfPosition(position).line
  const found = new Set<number>()
  const visit = (node: ts.Node): void => {
    if (node.kind >= ts.SyntaxKind.FirstTemplateToken && node.kind <= ts.SyntaxKind.LastTemplateToken) {
      for (let line = lineAt(node.getStart(file)) + 1; line <= lineAt(node.end); line += 1) found.add(line)
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** The table of operations as data: computing it takes 150 ms. */
const operationsAsData: Plugin = {
  name: 'operations as data',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]src[\\/]cli[\\/]built-in\.ts$/ }, async ({ path }) => {
      const { OPERATIONS } = await import(pathToFileURL(path).href)
      return { contents: `export const OPERATIONS = ${JSON.stringify(OPERATIONS)}`, loader: 'js' }
    })
  },
}

export default defineConfig(({ dts }) => ({
  // With createNotifier in an entry of its own, index.js only exports: a bundle of NotifierError alone stays small.
  entry: {
    ...published,
    'create-notifier': 'src/create-notifier.ts',
    'cli/bin': 'src/cli/bin.ts',
    'cli/built-in': 'src/cli/built-in.ts',
  },
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
  // Shorter code with all names: the package has at most 4.75 MB.
  esbuildOptions(options) {
    options.charset = 'utf8'
    options.minifySyntax = true
  },
  esbuildPlugins: [operationsAsData],
  plugins: [{ name: 'shortened', renderChunk: (code) => ({ code: shortened(code) }) }],
  // tsup 8.5.1 always passes `baseUrl` to the declaration build; TypeScript 6 rejects it without this.
  dts: dts !== false && {
    entry: declarations(),
    compilerOptions: { ignoreDeprecations: '6.0' },
    // For `Symbol.asyncDispose`, which the default library of TypeScript 7 lacks.
    banner: '/// <reference lib="esnext.disposable" />',
  },
}))
