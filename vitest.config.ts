import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { buildDashboard } from './scripts/build-dashboard.mjs'
import { entries, fromRoot } from './scripts/entries.mjs'
import { leftOutReporter } from './test/support/left-out-reporter.ts'
import { PATIENCE, TEST_MS, WAIT_MS } from './test/support/patience.ts'

await buildDashboard()

const ALL = ['test/**/*.test.ts']
/** They replace modules, take peers away or measure memory. */
const ISOLATED = ['test/**/*.isolated.test.ts']
/** They wait for processes, browsers and compilers. */
const LONG = [
  'test/integration/faults/**/*.test.ts',
  'test/dashboard/**/*.test.ts',
  'test/package/**/*.test.ts',
]
/** They need a server, or repeat on files what is tested in memory. */
const SLOWER = [
  'test/contract/planted-faults/transactions.test.ts',
  'test/contract/{built-in-queue,bullmq,graphile-worker,postgres,redis}*.test.ts',
  'test/contract/sqlite-storage{,-better-sqlite3}.test.ts',
]
/** The whole service once, over HTTP and in each framework. */
const SMOKE = ['test/integration/{adapters,express-service}.test.ts']
const QUICK = ['test/unit/**/*.test.ts', 'test/contract/**/*.test.ts', ...SMOKE]

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
      part('quick', { include: QUICK, exclude: [...ISOLATED, ...SLOWER] }),
      part('isolated', { include: ISOLATED, isolate: true }),
      part('long', { include: LONG, exclude: ISOLATED, testTimeout: 4 * TEST_MS }),
      part('other', { include: ALL, exclude: [...ISOLATED, ...LONG, ...QUICK] }),
      part('slower', { include: SLOWER, exclude: ISOLATED }),
    ],
    pool: 'forks',
    maxWorkers: '100%',
    reporters: ['default', leftOutReporter()],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'adapters/**/*.ts'],
    },
  },
})
