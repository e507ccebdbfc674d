import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { json } from 'node:stream/consumers'
import { build, type Format } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import webpack from 'webpack'
import { entries, fromRoot } from '../../scripts/entries.mjs'
import { WAIT_MS } from '../support/patience.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { namedBlocks } from './markdown.ts'

/** A mail as Postmark's API takes it. */
interface Mail {
  readonly Subject: string
  readonly HtmlBody: string
}

let bare: Consumer
/** Where a bundle is deployed: there is no `node_modules`. */
let deployed: string
let api: Server
let postmarkUrl: string
let mails: Mail[]
const running = new Set<ChildProcess>()

beforeAll(async () => {
  vi.stubEnv('NEXT_TELEMETRY_DISABLED', '1')
  vi.stubEnv('NEXT_MANUAL_SIG_HANDLE', 'true')
  bare = await createConsumer()
  for (const file of ['service.mjs', 'main.mjs'])
    await copyFile(fromRoot(`test/package/bundled/${file}`), join(bare.directory, file))
  deployed = await mkdtemp(join(tmpdir(), 'carillon-deployed-'))
  mails = []
  api = createServer(async (request, response) => {
    mails.push((await json(request)) as Mail)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ErrorCode: 0, Message: 'OK', MessageID: crypto.randomUUID() }))
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  postmarkUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
})

afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
  mails = []
})

afterAll(async () => {
  vi.unstubAllEnvs()
  await bare?.remove()
  await rm(deployed, { recursive: true, force: true })
  api?.closeAllConnections()
  api?.close()
})

describe('the whole service in a bundle, without node_modules and without configuration of the bundler', () => {
  test.each<[Format, string]>([
    ['esm', 'esbuild.mjs'],
    ['cjs', 'esbuild.cjs'],
  ])('esbuild, %s', async (format, name) => {
    const outfile = join(deployed, name)
    const { warnings } = await build({
      entryPoints: [join(bare.directory, 'main.mjs')],
      outfile,
      format,
      bundle: true,
      platform: 'node',
      logLevel: 'silent',
    })
    expect(warnings).toEqual([])
    await useProgram(outfile)
  })

  test('webpack', async () => {
    const stats = await pack({
      entry: join(bare.directory, 'main.mjs'),
      output: { path: deployed, filename: 'webpack.cjs' },
    })
    expect(stats.warnings).toEqual([])
    await useProgram(join(deployed, 'webpack.cjs'))
  })

  test('next build, with the App Router, where the program of the guide ends after its deliveries', {
    timeout: 12 * WAIT_MS,
  }, async () => {
    const project = await createConsumer(['next', 'react', 'react-dom'], 'files')
    try {
      await project.write('package.json', '{ "private": true }\n')
      await copyFile(join(bare.directory, 'service.mjs'), join(project.directory, 'service.mjs'))
      await project.write('app/layout.js', LAYOUT)
      await project.write('app/[...path]/route.js', ROUTE)
      await project.write('jsconfig.json', '{ "compilerOptions": { "paths": { "@/*": ["./*"] } } }')
      const quick = /async send[\s\S]*?return { kind: 'accepted' }\s*},/
      await project.write('carillon.config.js', (await guide('carillon.config.ts')).replace(quick, SLOW))
      await project.write('notifier.js', await guide('notifier.ts'))
      await project.write('instrumentation.js', await guide('instrumentation.ts'))
      await project.write('app/welcome/route.js', await guide('app/welcome/route.ts'))
      expect(await project.node('node_modules/next/dist/bin/next', 'build')).not.toMatch(/warning/i)
      const started = start(['node_modules/next/dist/bin/next', 'start', '-p', '0'], project.directory)
      const printed: string[] = []
      for await (const line of started.lines) {
        printed.push(line)
        const url = /http:\/\/localhost:\d+/.exec(line)?.[0]
        if (url !== undefined) {
          await useService(url)
          const welcome = async (to: string) =>
            (await fetch(`${url}/welcome?to=${to}`, { method: 'POST' })).status
          expect([await welcome('ada'), await welcome('ada@example.com')]).toEqual([422, 200])
        }
        if (line === 'sending') started.child.kill()
      }
      expect(printed).toContain('sent')
      expect(await started.exited).toEqual([0, null])
    } finally {
      await project.remove()
    }
  })
})

/** A file of the page for Next.js, as JavaScript. */
async function guide(file: string): Promise<string> {
  const found = (await namedBlocks('docs/start/nextjs.md')).find(({ name }) => name === file)
  if (found === undefined) throw new Error(`docs/start/nextjs.md has no ${file}`)
  return stripTypeScriptTypes(found.code)
}

/** Takes long enough for a signal to arrive meanwhile. */
const SLOW = `
async send() {
  console.log('sending')
  await new Promise((resolve) => setTimeout(resolve, 1000))
  console.log('sent')
  return { kind: 'accepted' }
}`
const LAYOUT = `export default ({ children }) => <html><body>{children}</body></html>`
const ROUTE = `
import { answer } from '../../service.mjs'
export const GET = answer
export const POST = answer
`

describe('a peer that is not installed', () => {
  const all = entries().map(({ specifier }) => specifier)

  test.each<Format>(['esm', 'cjs'])('esbuild bundles every entry point without it, %s', async (format) => {
    const { warnings } = await build({
      stdin: {
        contents: all.map((each, at) => `export * as entry${at} from '${each}'`).join('\n'),
        resolveDir: bare.directory,
      },
      format,
      bundle: true,
      write: false,
      platform: 'node',
      logLevel: 'silent',
    })
    expect(warnings).toEqual([])
  })

  test('webpack bundles every entry point without it', async () => {
    await bare.write('all.mjs', all.map((each, at) => `export * as entry${at} from '${each}'`).join('\n'))
    const { warnings = [] } = await pack({
      entry: join(bare.directory, 'all.mjs'),
      output: { path: deployed, filename: 'all.cjs' },
    })
    for (const { message } of warnings) expect(message).toMatch(/^Module not found/)
  })
})

describe('a peer that is installed', () => {
  let withPeers: Consumer
  beforeAll(async () => {
    withPeers = await createConsumer(['react', 'react-dom', '@react-email/render', 'mjml'])
    await withPeers.write('program.mjs', MARKUP)
  })
  afterAll(() => withPeers?.remove())

  test('React Email is part of the bundle, and MJML is loaded where it runs', async () => {
    const bundle = join(withPeers.directory, 'bundle.cjs')
    await build({
      entryPoints: [join(withPeers.directory, 'program.mjs')],
      outfile: bundle,
      format: 'cjs',
      bundle: true,
      platform: 'node',
      logLevel: 'error',
    })
    const react = /<p>Hi Ada<\/p>.*\n/
    expect(await withPeers.node(bundle)).toMatch(new RegExp(`${react.source}[^]*<html[^]*Mjml for Ada`))
    await copyFile(bundle, join(deployed, basename(bundle)))
    expect(await bare.node(join(deployed, basename(bundle)))).toMatch(
      new RegExp(`${react.source}missing_peer: The package "mjml" is not installed`),
    )
  })
})

const MARKUP = `
import { createNotifier, defineTemplates } from 'carillon'
import { createElement } from 'react'

async function show(template) {
  const channels = { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } }
  const notifier = createNotifier({ channels, templates: defineTemplates({ [template.name]: template.is }) })
  try {
    await notifier.start()
    const message = { channel: 'email', to: 'ada@example.com', template: template.name, variables: { name: 'Ada' } }
    console.log((await notifier.validate(message)).rendered.body)
  } catch (error) {
    console.log(error.code + ': ' + error.message)
  }
  await notifier.stop()
}

async function main() {
  const html = ({ variables }) => createElement('p', null, 'Hi ' + variables.name)
  await show({ name: 'react', is: { channel: 'email', subject: 'Hi', html } })
  const mjml = '<mjml><mj-body><mj-section><mj-column><mj-text>Mjml for {{name}}</mj-text></mj-column></mj-section></mj-body></mjml>'
  await show({ name: 'mjml', is: { channel: 'email', subject: 'Hi', mjml } })
}
main()
`

/** Runs webpack for Node.js, without minifying, which takes long. */
async function pack(options: webpack.Configuration): Promise<webpack.StatsCompilation> {
  const compiler = webpack({
    mode: 'production',
    target: 'node',
    optimization: { minimize: false },
    ...options,
  })
  const stats = await new Promise<webpack.StatsCompilation>((resolve, reject) => {
    compiler?.run((error, done) =>
      done === undefined ? reject(error) : resolve(done.toJson({ errors: true, warnings: true })),
    )
  })
  expect(stats.errors).toEqual([])
  return stats
}

interface Started {
  readonly child: ChildProcess
  readonly lines: AsyncIterable<string>
  /** Exit code and signal. */
  readonly exited: Promise<unknown[]>
}

function start(args: readonly string[], cwd: string): Started {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production', POSTMARK_URL: postmarkUrl },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  running.add(child)
  const exited = once(child, 'exit').finally(() => running.delete(child))
  return { child, lines: createInterface({ input: child.stdout as NodeJS.ReadableStream }), exited }
}

/** Runs a bundle of `main.mjs`, uses its service, and ends it. */
async function useProgram(file: string): Promise<void> {
  const { child, lines, exited } = start([file], deployed)
  for await (const line of lines) {
    await useService(`http://127.0.0.1:${JSON.parse(line).port}`)
    break
  }
  child.stdin?.end()
  expect(await exited).toEqual([0, null])
}

async function useService(url: string): Promise<void> {
  const key = await (await fetch(`${url}/key`)).text()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

  async function send(message: object): Promise<string> {
    const response = await fetch(`${url}/api/v1/notify`, {
      method: 'POST',
      headers,
      body: JSON.stringify(message),
    })
    const record = (await response.json()) as { id: string }
    expect(response.status, JSON.stringify(record)).toBe(201)
    return record.id
  }
  async function statusOf(id: string): Promise<string> {
    const response = await fetch(`${url}/api/v1/notifications/${id}`, { headers })
    return ((await response.json()) as { status: string }).status
  }

  const mail = await send({
    channel: 'email',
    to: 'ada@example.com',
    template: 'welcome',
    variables: { name: 'Ada' },
  })
  await expect.poll(() => statusOf(mail)).toBe('sent')
  expect(mails).toMatchObject([{ Subject: 'Welcome', HtmlBody: '<p>Hello <b>Ada</b></p>' }])

  const page = await send({ channel: 'pager', to: '4711', body: 'Wake up' })
  await expect.poll(() => statusOf(page)).toBe('sent')
  expect(await (await fetch(`${url}/pages`)).json()).toEqual(['4711: Wake up'])

  const shell = await fetch(`${url}/dashboard/start`)
  const [, script] = /src="([^"]+)"/.exec(await shell.text()) ?? []
  const { status } = await fetch(new URL(script ?? '', shell.url))
  expect([shell.status, status]).toEqual([200, 200])
}
