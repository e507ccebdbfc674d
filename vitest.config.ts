import { defineConfig } from 'vitest/config'
import { buildDashboard } from './scripts/build-dashboard.mjs'
import { entries, fromRoot } from './scripts/entries.mjs'
import { leftOutReporter } from './test/support/left-out-reporter.ts'

await buildDashboard()

export default defineConfig({
  resolve: {
    // Tests may import the package by name and get the sources; test/package/ takes the built package.
    alias: entries().map(({ specifier, source }) => ({
      find: new RegExp(`^${specifier}$`),
      replacement: fromRoot(source),
    })),
  },
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    reporters: ['default', leftOutReporter()],
    // For machines that are busy: no test waits so long where things work.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 45_000 } },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'adapters/**/*.ts'],
    },
  },
})
