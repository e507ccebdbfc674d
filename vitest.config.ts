import { defineConfig } from 'vitest/config'
import { entries, fromRoot } from './scripts/entries.mjs'

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
    testTimeout: 30_000,
    hookTimeout: 60_000,
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'adapters/**/*.ts'],
    },
  },
})
