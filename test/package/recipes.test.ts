import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { freePort } from '../../examples/servers/free-port.ts'
import { startPostgres } from '../../examples/servers/postgres.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { describeWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import type { Consumer } from './consumer.ts'
import { createReader, folderOf } from './documentation.ts'
import { codeBlocks } from './markdown.ts'

const run = promisify(execFile)

/** Ends what is left in the background, also when a command fails. A file, because a subshell knows no jobs. */
const CLEAN_UP = "trap 'jobs -p > jobs.txt; kill $(cat jobs.txt) 2> /dev/null || :' EXIT\n"

let consumer: Consumer
beforeAll(async () => {
  consumer = await createReader()
})
afterAll(() => consumer?.remove())

/** The commands of a page that are followed by what they print. */
async function transcripts(page: string): Promise<{ readonly commands: string; readonly output: string }[]> {
  const text = await readFile(fromRoot(page), 'utf8')
  const found = text.matchAll(/^```sh\n([\s\S]*?)^```\n+```text\n([\s\S]*?)^```$/gm)
  return [...found].map(([, commands = '', output = '']) => ({ commands, output }))
}

/** Runs commands in the folder of a page, which has its programs. The ports 3000 and 3001 become free ones. */
async function shell(page: string, commands: string, settings: Record<string, string> = {}): Promise<string> {
  // On SIGTERM npx ends, and what it started goes on.
  expect(commands).not.toMatch(/^npx .*&/m)
  const [api, other] = [String(await freePort()), String(await freePort())]
  const cli = join(consumer.directory, 'node_modules/carillon/dist/cli/bin.js')
  const written = commands
    .replaceAll(/npx carillon|node_modules\/.bin\/carillon/g, `node "${cli}"`)
    .replaceAll('3000', api)
    .replaceAll('3001', other)
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  const { stdout } = await run('sh', ['-e', '-c', CLEAN_UP + written], {
    cwd: join(consumer.directory, folderOf(page)),
    env: { ...process.env, PATH, PORT: api, CUSTOMER_PORT: other, ...settings },
  })
  return stdout
}

const RECIPES = [
  'alerts',
  'chat-alerts',
  'customer-webhooks',
  'devices',
  'privacy',
  'production-email',
  'proxies',
  'sms-consent',
  'tenants',
]

async function isTrue(page: string, settings: Record<string, string> = {}): Promise<void> {
  const shown = await transcripts(page)
  expect(shown).not.toEqual([])
  for (const { commands, output } of shown) expect(await shell(page, commands, settings)).toBe(output)
}

test.each(RECIPES)('the commands of %s print what the page says', (name) => isTrue(`docs/tasks/${name}.md`))

describeWith(whyNoPostgres(true), 'on PostgreSQL', () => {
  test.each(['deployment', 'transactions'])('the commands of %s print what the page says', async (name) => {
    const server = await startPostgres()
    onTestFinished(() => server.remove())
    await isTrue(`docs/tasks/${name}.md`, { DATABASE_URL: server.url })
  })
})

test('the rules of the alerts are YAML, and name metrics that a process serves', async () => {
  const page = 'docs/tasks/alerts.md'
  const [, rules] = await codeBlocks(page, 'yaml')
  const { groups } = parse(rules?.code ?? '')
  const names = new Set<string>()
  for (const { alert, expr, annotations, labels } of groups[0].rules) {
    expect({ alert, expr, annotations, labels }).toEqual({
      alert: expect.stringMatching(/^Notification[A-Za-z]+$/),
      expr: expect.any(String),
      annotations: { summary: expect.any(String) },
      labels: { severity: expect.stringMatching(/^(page|ticket)$/) },
    })
    for (const [name] of expr.matchAll(/carillon_\w+/g)) names.add(name)
  }
  expect(names.size).toBeGreaterThan(5)
  const [served] = await transcripts(page)
  await shell(page, served?.commands ?? '')
  const metrics = await readFile(join(consumer.directory, folderOf(page), 'metrics.txt'), 'utf8')
  for (const name of names) expect(metrics).toContain(`# HELP ${name} `)
})
