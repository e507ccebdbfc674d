import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../examples/servers/free-port.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks, namedBlocks } from './markdown.ts'

let consumer: Consumer
let blocks: string[]

beforeAll(async () => {
  consumer = await createConsumer(['express', 'nodemailer'])
  blocks = (await codeBlocks('README.md', 'ts')).map(({ code }) => code)
  for (const { name, code } of await namedBlocks('docs/start/next-steps.md')) await consumer.write(name, code)
})

afterAll(() => consumer?.remove())

test('the README is at most 120 lines, and its quick start at most 20 of the first 25', async () => {
  const lines = (await readFile(fromRoot('README.md'), 'utf8')).split('\n')
  expect(lines.length).toBeLessThanOrEqual(121)
  expect(lines.slice(0, 25).filter((line) => line.startsWith('```'))).toEqual(['```ts', '```'])
  expect(blocks[0]?.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
})

test('the quick start prints what its comments say, and ends', async () => {
  const code = blocks[0] ?? ''
  const comments = code.split('\n').filter((line) => line.startsWith('// '))
  await consumer.write('quick-start.mjs', code)
  expect(await consumer.node('quick-start.mjs')).toBe(comments.map((line) => `${line.slice(3)}\n`).join(''))
})

test('the quick start compiles without types of Node.js, as TypeScript 7 compiles it by default', async () => {
  await consumer.write('quick-start.ts', blocks[0] ?? '')
  await consumer.compile(['quick-start.ts'], { types: [] })
})

test('the server of the next steps takes a notification over HTTP and mails it, and ends on SIGTERM', async () => {
  await useServer('production.ts')
})

test('the same server works bundled to ESM by esbuild, without node_modules, as docs/reference/runtimes.md has it', async () => {
  const deployed = await mkdtemp(join(tmpdir(), 'carillon-server-'))
  const [, banner] =
    /--banner:js="([^"]+)"/.exec(await readFile(fromRoot('docs/reference/runtimes.md'), 'utf8')) ?? []
  expect(banner).toBeDefined()
  try {
    const outfile = join(deployed, 'server.mjs')
    await build({
      entryPoints: [join(consumer.directory, 'production.ts')],
      outfile,
      format: 'esm',
      bundle: true,
      platform: 'node',
      logLevel: 'silent',
      banner: { js: banner ?? '' },
    })
    await useServer(outfile)
  } finally {
    await rm(deployed, { recursive: true, force: true })
  }
})

/** Runs the server of the next steps, from its source or a bundle, and ends it. */
async function useServer(file: string): Promise<void> {
  const mails: string[] = []
  const mailServer = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo({ address }, _session, callback) {
      mails.push(address)
      callback()
    },
    onData(stream, _session, callback) {
      stream.resume().on('end', () => callback())
    },
  })
  const mailPort = await freePort()
  await new Promise<void>((resolve) => mailServer.listen(mailPort, '127.0.0.1', resolve))
  const port = await freePort()
  const env = { ...process.env, PORT: String(port), SMTP_HOST: '127.0.0.1', SMTP_PORT: String(mailPort) }
  const server = spawn(process.execPath, [file], { cwd: consumer.directory, env, stdio: 'inherit' })
  const exited = once(server, 'exit')
  try {
    const url = `http://127.0.0.1:${port}/notifications/v1/notify`
    await expect.poll(() => fetch(url, { method: 'POST' }).then(({ status }) => status, String)).toBe(403)
    const key = await createKey()
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        'X-Forwarded-For': '203.0.113.7',
        'X-Forwarded-Proto': 'https',
      },
      body: JSON.stringify({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' }),
    })
    expect([response.status, await response.json()]).toMatchObject([201, { status: 'queued' }])
    await expect.poll(() => mails).toEqual(['ada@example.com'])
    server.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
  } finally {
    server.kill('SIGKILL')
    mailServer.close()
  }
}

test('the tenant of the next steps gets a key that works', async () => {
  const code = `
    import { createNotifier } from 'carillon'
    import { createTenant } from './tenant.ts'
    const notifier = createNotifier({ channels: {} })
    await notifier.start()
    const { organizationId, permission } = await notifier.apiKeys.verify(await createTenant(notifier))
    const { items } = await notifier.organization(organizationId).webhooks.list()
    console.log(permission, items.length)
    await notifier.stop()`
  expect(await consumer.node('--input-type=module', '-e', code)).toBe('Write 1\n')
})

/** Another process on the same file, as an operator's script would be. */
async function createKey(): Promise<string> {
  const code = `
    import { createNotifier } from 'carillon'
    import { sqlite } from 'carillon/sqlite'
    const notifier = createNotifier({ storage: sqlite({ file: 'notifications.db' }), channels: {} })
    await notifier.start({ deliver: false })
    console.log((await notifier.apiKeys.create({ name: 'Test', permission: 'Write' })).secret)
    await notifier.stop()`
  return (await consumer.node('--input-type=module', '-e', code)).trim()
}
