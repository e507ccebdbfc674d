import { existsSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { defineConfig } from 'tsup'
import { buildDashboard } from './scripts/build-dashboard.mjs'
import { entries, fromRoot } from './scripts/entries.mjs'

// The declarations of all entry points are made in one worker, which takes about 4 GiB: the usual limit.
setFlagsFromString('--max-old-space-size=8192')

for (const { specifier, source } of entries()) {
  if (!existsSync(fromRoot(source))) {
    throw new Error(`"${specifier}" of package.json is built from ${source}, which does not exist`)
  }
}

await buildDashboard()

const published = Object.fromEntries(entries().map(({ name, source }) => [name, source]))

export default defineConfig({
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
  // tsup 8.5.1 always passes `baseUrl` to the declaration build; TypeScript 6 rejects it without this.
  dts: {
    entry: published,
    compilerOptions: { ignoreDeprecations: '6.0' },
    // For `Symbol.asyncDispose`, which the default library of TypeScript 7 lacks.
    banner: '/// <reference lib="esnext.disposable" />',
  },
})
