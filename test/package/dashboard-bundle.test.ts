import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { entries, fromRoot } from '../../scripts/entries.mjs'
import { ENTRIES } from '../../src/dashboard/generated/assets.ts'

let folder: string

beforeAll(() => {
  if (!existsSync(fromRoot('dist')))
    throw new Error('Bundles take the built package: npm run build comes first')
  folder = mkdtempSync(join(tmpdir(), 'carillon-bundle-'))
})
afterAll(() => {
  chmodSync(folder, 0o755)
  rmSync(folder, { recursive: true, force: true })
})

const alias = Object.fromEntries(
  entries()
    .toReversed()
    .map(({ specifier, name }) => [specifier, fromRoot(`dist/${name}.js`)]),
)

const PROGRAM = `
import { createServer } from 'node:http'
import { createNotifier } from 'carillon'
import { dashboard } from 'carillon/dashboard'
import { notifierHandler } from 'carillon/node'

const notifier = createNotifier({ channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } } })
await notifier.start()
const handler = notifierHandler(dashboard(notifier), { https: 'allow-loopback' })
const server = createServer(handler).listen(0, '127.0.0.1', async () => {
  const url = \`http://127.0.0.1:\${server.address().port}/\`
  const page = await (await fetch(url + 'start')).text()
  const answers = await Promise.all(
    [/src="([^"]+)"/, /href="([^"]+\\.css)"/].map(async (link) => {
      const response = await fetch(new URL(link.exec(page)[1], url + 'start'))
      return response.status + ' ' + (await response.text()).length
    }),
  )
  console.log(answers.join(', '))
  await notifier.stop()
  server.closeAllConnections()
  server.close()
})
`

test('the dashboard works in one bundled file on a disk that cannot be written', async () => {
  const outfile = join(folder, 'program.mjs')
  await build({
    stdin: { contents: PROGRAM, resolveDir: fromRoot('.') },
    alias,
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['node:*'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)",
    },
    logLevel: 'error',
  })
  chmodSync(folder, 0o555)
  const child = spawn(process.execPath, [outfile], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    printed += chunk
  })
  expect(await once(child, 'close')).toEqual([0, null])
  expect(printed).toMatch(/^200 \d{5,}, 200 \d{4,}\n$/)
})

test.each(
  entries()
    .filter(({ specifier }) => specifier !== 'carillon/dashboard' && specifier !== 'carillon/dev-mailbox')
    .map(({ specifier, name }) => [specifier, name]),
)('%s loads nothing of the dashboard', async (_specifier, name) => {
  const { outputFiles } = await build({
    entryPoints: [fromRoot(`dist/${name}.js`)],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    logLevel: 'error',
  })
  expect(outputFiles[0]?.text).not.toContain(ENTRIES.app.script)
})
