import { availableParallelism } from 'node:os'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { buildDashboard } from './scripts/build-dashboard.mjs'
import { entries, fromRoot } from './scripts/entries.mjs'
import { leftOutReporter } from './test/support/left-out-reporter.ts'
import { PATIENCE, TEST_MS, WAIT_MS } from './test/support/patience.ts'
import { useRunFolder } from './test/support/run-folder.ts'

await buildDashboard()
useRunFolder()

/** They replace modules, take peers away or measure memory. */
const ISOLATED = ['test/**/*.isolated.test.ts']
/** They need a server, or repeat on files what is tested in memory. */
const ON_SERVERS = [
  'test/contract/planted-faults/transactions.test.ts',
  'test/contract/{built-in-queue,bullmq,graphile-worker,postgres,redis}*.test.ts',
  'test/contract/sqlite-storage.test.ts',
]
/** The whole service once, over HTTP and in each framework. */
const SMOKE = ['test/integration/{adapters,express-service}.test.ts']
/** What only a release needs. */
const RELEASE = ['test/**/*.release.test.ts']

/** For waiting for servers, processes, browsers and compilers. */
const LONG_MS = 4 * TEST_MS

interface Part {
  readonly include: string[]
  readonly exclude?: string[]
  readonly isolate?: boolean
  readonly testTimeout?: number
}

const part = (name: string, test: Part): TestProjectInlineConfiguration => ({
  resolve: {
    // Tests may import the package by name and get the sources; test/package/ takes the built package.
    alias: entries().map(({ specifier, source }) => ({
      find: new RegExp(`^${specifier}$`),
      replacement: fromRoot(source),
    })),
  },
  test: {
    name,
    // Loading the modules for each file takes as long as most tests.
    isolate: false,
    restoreMocks: true,
    testTimeout: TEST_MS,
    hookTimeout: 4 * TEST_MS,
    expect: { poll: { timeout: WAIT_MS } },
    // Of the whole run: the tests themselves make the machine busy.
    env: { CARILLON_TEST_PATIENCE: String(PATIENCE) },
    ...test,
  },
})

export default defineConfig({
  test: {
    projects: [
      part('quick', {
        include: ['test/{unit,contract}/**/*.test.ts', ...SMOKE],
        exclude: [...ISOLATED, ...ON_SERVERS, ...RELEASE],
      }),
      part('isolated', { include: ISOLATED, isolate: true, testTimeout: LONG_MS }),
      part('slower', {
        include: ['test/!(unit|contract)/**/*.test.ts', ...ON_SERVERS],
        exclude: [...ISOLATED, ...SMOKE, ...RELEASE],
        testTimeout: LONG_MS,
      }),
      part('release', { include: RELEASE, testTimeout: LONG_MS }),
    ],
    pool: 'forks',
    // Many wait for servers and clocks.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    reporters: ['default', leftOutReporter()],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'adapters/**/*.ts'],
    },
  },
})
