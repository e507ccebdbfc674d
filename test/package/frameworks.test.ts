import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../examples/servers/free-port.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks } from './markdown.ts'

const nest = ['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}`)
let consumer: Consumer
beforeAll(async () => {
  consumer = await createConsumer([
    '@types/express',
    '@types/node',
    'express',
    'fastify',
    'koa',
    ...nest,
    'reflect-metadata',
  ])
})
afterAll(() => consumer?.remove())

/** The program of the guide that contains a text. */
async function program(text: string, language = 'ts'): Promise<string> {
  const blocks = await codeBlocks('docs/start/frameworks.md', language)
  const code = blocks.find((block) => block.code.includes(text))?.code
  if (code === undefined) throw new Error(`docs/start/frameworks.md has no program with ${text}`)
  return code
}

/** Starts a server of the guide on a free port. It gets a database of its own. */
async function start(folder: string, file: string, port: number) {
  const child = spawn(process.execPath, [file], {
    cwd: `${consumer.directory}/${folder}`,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => printed.push(text))
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
  return { ask, stop, printed: () => printed.join('') }
}

async function isWhole({ ask, stop }: Awaited<ReturnType<typeof start>>, ownRoute: boolean): Promise<void> {
  expect((await ask('/notifications/v1/notify', 'POST'))[0]).toBe(401)
  expect(await ask('/dashboard/')).toEqual([200, expect.stringContaining('<!doctype html>')])
  if (ownRoute) {
    const [status, text] = await ask('/welcome?to=ada@example.com', 'POST')
    expect([status, text]).toEqual([expect.toBeOneOf([200, 201]), expect.stringContaining('queued')])
    expect((await ask('/welcome?to=nobody', 'POST'))[0]).toBe(422)
  }
  // Nest ends itself by the signal that it got.
  expect(await stop()).toBeOneOf([0, 'SIGTERM'])
}

describe('the program of the guide serves, sends, answers a wrong address with 422, and ends on SIGTERM', () => {
  test.each([
    ['Express', "from 'express'", true],
    ['Fastify', "from 'fastify'", true],
    ['Koa', "from 'koa'", true],
    ['node:http', 'createServer(', false],
  ])('%s', async (name, text, ownRoute) => {
    const folder = name.replace(':', '-')
    const port = await freePort()
    await consumer.write(`${folder}/notifier.ts`, await program('// notifier.ts'))
    await consumer.write(`${folder}/server.ts`, (await program(text)).replace('3000', String(port)))
    await isWhole(await start(folder, 'server.ts', port), ownRoute)
  })

  test('Express, compiled with the settings of `tsc --init` and the one of the guide', async () => {
    const port = await freePort()
    const folder = 'built'
    await consumer.write(`${folder}/notifier.ts`, await program('// notifier.ts'))
    const server = await program("from 'express'")
    await consumer.write(`${folder}/server.ts`, server.replace('3000', String(port)))
    await consumer.compile(['server.ts'], {
      folder,
      target: 'esnext',
      types: [],
      allowImportingTsExtensions: false,
      ...JSON.parse(await program('ImportExtensions', 'json')),
      skipLibCheck: true,
      noEmit: false,
      outDir: 'dist',
    })
    await isWhole(await start(folder, 'dist/server.js', port), true)
  })

  test('NestJS, compiled to CommonJS', async () => {
    const port = await freePort()
    await consumer.write('nest/package.json', '{ "type": "commonjs" }')
    await consumer.write('nest/main.ts', (await program('NestFactory')).replace('3000', String(port)))
    await consumer.compile(['main.ts'], {
      folder: 'nest',
      module: 'commonjs',
      verbatimModuleSyntax: false,
      allowImportingTsExtensions: false,
      noEmit: false,
      esModuleInterop: true,
      skipLibCheck: true,
      experimentalDecorators: true,
      emitDecoratorMetadata: true,
    })
    const app = await start('nest', 'main.js', port)
    const [status, body] = await app.ask('/welcome?to=nobody', 'POST')
    expect([status, JSON.parse(body)]).toEqual([
      422,
      {
        code: 'invalid_email',
        message: expect.any(String),
        details: expect.objectContaining({ field: 'to' }),
      },
    ])
    await isWhole(app, true)
    // Nest itself would log the refusal, and the recipient with it.
    expect(app.printed()).not.toMatch(/ERROR|nobody/)
  })
})

test('the handlers of the guide answer under Next.js as it passes requests, start once, and again after a failure', async () => {
  await consumer.write('next/notifier.ts', await program('runningNotifier()'))
  const route = (await program('let api: NotifierFetch')).replace('@/notifier', './notifier.ts')
  await consumer.write('next/route.ts', route)
  const pages = route
    .replace('notifierFetch(notifier,', 'notifierFetch(dashboard(notifier),')
    .replace('/notifications', '/dashboard')
  await consumer.write('next/pages.ts', `import { dashboard } from 'carillon/dashboard'\n${pages}`)
  const code = `
    import { mkdirSync, rmdirSync } from 'node:fs'
    import { runningNotifier } from './next/notifier.ts'
    import { GET as SHOW } from './next/pages.ts'
    import { GET, POST } from './next/route.ts'
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
    const { runningNotifier: again } = await import('./next/notifier.ts?again')
    console.log(await again() === await runningNotifier())
    await (await again()).stop()`
  expect(await consumer.node('--input-type=module', '-e', code)).toBe('failed\n200\n401\n404\n200\ntrue\n')
})

test('the CommonJS program of the guide prints what its comment says', async () => {
  const code = await program("require('carillon')", 'js')
  await consumer.write('main.cjs', code)
  expect(await consumer.node('main.cjs')).toBe(`${/\/\/ (.*)/.exec(code)?.[1]}\n`)
})
