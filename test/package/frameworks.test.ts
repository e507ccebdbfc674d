import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../examples/servers/free-port.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks, namedBlocks } from './markdown.ts'

const run = promisify(execFile)
let consumer: Consumer
beforeAll(async () => {
  consumer = await createConsumer(['@types/express', '@types/node', 'express', 'koa', 'vitest'])
})
afterAll(() => consumer?.remove())

/** Writes the files of a page of Start into a folder of their own, for a free port. */
async function write(page: string): Promise<{ readonly port: number }> {
  const port = await freePort()
  for (const { name, code } of await namedBlocks(`docs/start/${page}.md`))
    await consumer.write(`${page}/${name}`, code.replace('3000', String(port)))
  return { port }
}

/** Starts a server of the guide on a free port. It gets a database of its own. */
async function start(folder: string, file: string, port: number) {
  const child = spawn(process.execPath, [file], {
    cwd: `${consumer.directory}/${folder}`,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'close').then(([code, signal]) => code ?? signal)
  onTestFinished(() => void child.kill('SIGKILL'))
  const ask = async (path: string, method = 'GET') => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { connection: 'close' },
    })
    return [response.status, await response.text()] as const
  }
  await expect.poll(() => ask('/notifications/health').catch(() => [])).toEqual([200, '{"status":"ok"}'])
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  return { ask, stop }
}

async function isWhole({ ask, stop }: Awaited<ReturnType<typeof start>>): Promise<void> {
  expect((await ask('/notifications/v1/notify', 'POST'))[0]).toBe(401)
  expect(await ask('/dashboard/')).toEqual([200, expect.stringContaining('<!doctype html>')])
  const [status, text] = await ask('/welcome?to=ada@example.com', 'POST')
  expect([status, text]).toEqual([expect.toBeOneOf([200, 201]), expect.stringContaining('"status":"queued"')])
  await expect.poll(async () => (await ask('/mailbox/api/messages'))[1]).toContain('ada@example.com')
  const [refused, reason] = await ask('/welcome?to=ada', 'POST')
  expect([refused, reason]).toEqual([422, expect.stringMatching(/invalid_email|e-mail address/)])
  expect((await ask('/other'))[0]).toBe(404)
  expect(await stop()).toBe(0)
}

describe('the program of the page serves, sends, answers a wrong address with 422, and ends on SIGTERM', () => {
  test.each(['koa', 'node'])('%s', async (page) => {
    const { port } = await write(page)
    await isWhole(await start(page, 'server.ts', port))
  })

  test('express, compiled with the settings of `tsc --init` and the one of the reference', async () => {
    const { port } = await write('express')
    const [setting] = await codeBlocks('docs/reference/runtimes.md', 'json')
    await consumer.compile(['server.ts'], {
      folder: 'express',
      target: 'esnext',
      types: [],
      allowImportingTsExtensions: false,
      ...JSON.parse(setting?.code ?? ''),
      skipLibCheck: true,
      noEmit: false,
      outDir: 'dist',
    })
    await isWhole(await start('express', 'dist/server.js', port))
  })
})

test('the commands of the next steps make a key that sends, and show the notification', async () => {
  const { port } = await write('express')
  const { ask, stop } = await start('express', 'server.ts', port)
  const blocks = (await codeBlocks('docs/start/next-steps.md', 'sh')).map(({ code }) => code)
  const cli = `${consumer.directory}/node_modules/carillon/dist/cli/bin.js`
  const cwd = `${consumer.directory}/express`
  const shell = async (code: string) => {
    const command = code
      .replaceAll('npx carillon', `"${process.execPath}" "${cli}"`)
      .replaceAll('3000', String(port))
    return (await run('sh', ['-c', command], { cwd })).stdout
  }
  const [createKey = '', send = '', show = ''] = blocks
  const first = JSON.parse(await shell(createKey + send))
  expect(first).toMatchObject({ status: 'queued', to: 'ada@example.com' })
  expect(JSON.parse(await shell(createKey + send)).id).toBe(first.id)
  await expect.poll(async () => (await ask('/mailbox/api/messages'))[1]).toContain('Shipped')
  expect(await shell(show.replace(/notif_\w+/, first.id))).toContain(first.id)
  await stop()
})

test('the handlers of the guide answer under Next.js as it passes requests, start once, and again after a failure', async () => {
  for (const { name, code } of await namedBlocks('docs/start/nextjs.md')) {
    const imports = { '@/notifier': './notifier.ts', '@/carillon.config': './carillon.config.ts' }
    const here = Object.entries(imports).reduce((text, [alias, file]) => text.replace(alias, file), code)
    // Flat, because Node.js knows no alias, and a query would follow the brackets of a path.
    await consumer.write(`nextjs/${name.replace(/^app\/(\w+)\/.*/, '$1.ts')}`, here)
    if (!name.startsWith('app/notifications/')) continue
    const pages = here
      .replace('notifierFetch(notifier,', 'notifierFetch(dashboard(notifier),')
      .replaceAll('/notifications', '/dashboard')
    await consumer.write('nextjs/dashboard.ts', `import { dashboard } from 'carillon/dashboard'\n${pages}`)
  }
  const code = `
    import { mkdirSync, rmdirSync } from 'node:fs'
    import { runningNotifier } from './nextjs/notifier.ts'
    import { GET as SHOW } from './nextjs/dashboard.ts'
    import { GET, POST } from './nextjs/notifications.ts'
    const headers = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https' }
    const ask = (handle, path, method = 'GET') =>
      handle(new Request('http://localhost:3000' + path, { method, headers })).then(({ status }) => status)
    mkdirSync('notifications.db')
    console.log(await ask(GET, '/notifications/health').catch(() => 'failed'))
    rmdirSync('notifications.db')
    console.log(await ask(GET, '/notifications/health'))
    console.log(await ask(POST, '/notifications/v1/notify', 'POST'))
    console.log(await ask(GET, '/other'))
    console.log(await ask(SHOW, '/dashboard'))
    const { runningNotifier: again } = await import('./nextjs/notifier.ts?again')
    console.log(await again() === await runningNotifier())
    await (await again()).stop()`
  expect(await consumer.node('--input-type=module', '-e', code)).toBe('failed\n200\n401\n404\n200\ntrue\n')
})

describe('the CommonJS page', () => {
  beforeAll(async () => {
    for (const { name, code } of await namedBlocks('docs/start/commonjs.md', 'js'))
      await consumer.write(`commonjs/${name}`, code)
    await consumer.write('commonjs/package.json', '{ "type": "commonjs" }')
  })

  test('has a program that prints what the page says', async () => {
    expect(await consumer.node('commonjs/main.js')).toBe('queued\nada@example.com: Welcome\n')
  })

  test('has a test that passes, run by Vitest, which has the globals of Jest', async () => {
    const run = ['run', '--root', 'commonjs', '--globals']
    expect(await consumer.node(fromRoot('node_modules/vitest/vitest.mjs'), ...run)).toMatch(
      /Tests .*1 passed/,
    )
  })
})
