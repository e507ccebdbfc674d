// Builds the package and runs the example server in this process, which keeps signals and the exit code.
import './preflight.mjs'
import { spawnSync } from 'node:child_process'
import { fromRoot } from './entries.mjs'

const { status } = spawnSync(
  'npm',
  ['run', '--silent', 'build', '--', '--no-dts', '--no-clean', '--silent'],
  {
    cwd: fromRoot('.'),
    stdio: 'inherit',
    shell: process.platform === 'win32',
  },
)
if (status !== 0) process.exit(status ?? 1)

await import(new URL('../examples/server/main.ts', import.meta.url).href)
