import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import openapiTS, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'
import type { ErrorFormat } from '../../src/http/errors.ts'
import { type ExpressHost, startExpressHost } from '../support/express-host.ts'
import { startHost } from '../support/rest-host.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const require = createRequire(import.meta.url)
const directory = temporaryDirectory()

function node(args: string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: directory,
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  return { status, output: stdout + stderr }
}

describe.each<ErrorFormat>(['nested', 'flat'])('the document with %s errors', (errorFormat) => {
  it('passes Redocly without an error or a warning', async () => {
    const host = await startHost({ http: { errorFormat } })
    try {
      const { text } = await host.call({ path: '/openapi.json' })
      writeFileSync(`${directory}/${errorFormat}.json`, text)
      const linted = node(
        [
          require.resolve('@redocly/cli/bin/cli.js'),
          'lint',
          '--extends=recommended',
          '--format=json',
          // A link of a mail only leads on (302); that the others have a success is held by the test of the document.
          '--skip-rule=operation-2xx-response',
          `${errorFormat}.json`,
        ],
        { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      )
      expect(linted).toMatchObject({ status: 0 })
      const report = JSON.parse(
        linted.output.slice(linted.output.indexOf('{'), linted.output.lastIndexOf('}') + 1),
      )
      expect(report).toMatchObject({ totals: { errors: 0, warnings: 0 }, problems: [] })
    } finally {
      await host.close()
    }
  })
})

/** What a user of the generated client writes; a wrong name, field or status does not compile. */
const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './carillon.d.ts'

const [baseUrl = '', key = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { Authorization: \`Bearer \${key}\` } })

function must<Value>(value: Value | undefined, what: string): Value {
  if (value === undefined) throw new Error(what)
  return value
}

const created = await client.POST('/v1/templates', {
  body: { name: 'welcome', channel: 'email', subject: 'Hi {{name}}', body: 'Hello {{name}}' },
})
const template: components['schemas']['Template'] = must(created.data, 'no template')
const again = await client.POST('/admin/templates', {
  params: { query: { orgId: 'org_default' } },
  body: { name: 'welcome', channel: 'email', body: 'x' },
})
if (again.error === undefined || again.response.status !== 409) throw new Error('two templates of one name')
const conflict = again.error.error.code

const sent = await client.POST('/v1/notifications', {
  params: { header: { 'Idempotency-Key': 'one' } },
  body: { to: 'ada@example.com', template: template.id, variables: { name: 'Ada' } },
})
const first = must(sent.data, 'not sent')
if (!('id' in first)) throw new Error('a validation')
const got = await client.GET('/v1/notifications/{id}', { params: { path: { id: first.id } } })
const notification: components['schemas']['Notification'] = must(got.data, 'no notification')

const tested = await client.POST('/v1/notify', {
  params: { header: { 'X-Test-Mode': 'true' } },
  body: { to: 'ada@example.com', template: 'welcome', variables: { name: 'Ada' } },
})
const validated = must(tested.data, 'not validated')

const batch = await client.POST('/v1/notifications/batch', {
  body: { notifications: [{ channel: 'email', to: 'ada@example.com', body: 'Hi' }, { to: 'x', body: 'Hi', channel: 'email' }] },
})
const items = must(batch.data, 'no batch').items.map((item) => ('error' in item ? item.error.code : item.status))

const page = await client.GET('/v1/templates', { params: { query: { limit: 1 } } })
const logs = await client.GET('/v1/logs', { params: { query: { limit: 2, channel: 'email', status: 'queued' } } })
const entries: components['schemas']['LogEntry'][] = must(logs.data, 'no logs').items

// @ts-expect-error: there is no such channel
const wrong = await client.POST('/v1/notify', { body: { channel: 'pigeon', to: 'x', body: 'x' } })
// @ts-expect-error: the administrative path needs the organization
await client.GET('/admin/logs')

console.log(
  JSON.stringify({
    template: template.name,
    conflict,
    notification: [notification.to, notification.template, notification.timeline[0]?.event],
    rendered: 'rendered' in validated ? validated.rendered.body : null,
    items,
    templates: must(page.data, 'no page').items.map(({ name }) => name),
    logs: entries.length,
    refused: wrong.error?.error.code,
    remaining: sent.response.headers.get('X-Request-Id') !== null,
  }),
)
`

describe('a client that openapi-typescript generates', () => {
  let host: ExpressHost
  beforeAll(async () => {
    host = await startExpressHost({ mount: '/prefix' })
    // What a project that uses the client has installed, and nothing more.
    mkdirSync(`${directory}/node_modules/@types`, { recursive: true })
    for (const file of [require.resolve('openapi-fetch'), require.resolve('@types/node/package.json')]) {
      const [, folder = '', name = ''] = /^(.*node_modules[\\/]((?:@[\w-]+[\\/])?[\w-]+))/.exec(file) ?? []
      symlinkSync(folder, `${directory}/node_modules/${name}`, 'junction')
    }
    writeFileSync(`${directory}/package.json`, '{ "type": "module" }')
    writeFileSync(`${directory}/program.ts`, program)
    const { text } = await host.call({ path: '/prefix/openapi.json' })
    writeFileSync(`${directory}/carillon.d.ts`, astToString(await openapiTS(text)))
    writeFileSync(
      `${directory}/tsconfig.json`,
      JSON.stringify({
        compilerOptions: {
          target: 'es2023',
          lib: ['es2023', 'dom'],
          module: 'nodenext',
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          allowImportingTsExtensions: true,
          noEmit: true,
          skipLibCheck: false,
          types: ['node'],
        },
        files: ['program.ts'],
      }),
    )
  })
  afterAll(() => host.close())

  it('compiles', () => {
    expect(node([fromRoot('node_modules/typescript7/bin/tsc'), '-p', '.'])).toEqual({ status: 0, output: '' })
  })

  it('drives sends, batches, templates and logs', async () => {
    const { authorization } = await host.key()
    const child = spawn(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        'program.ts',
        `http://127.0.0.1:${host.port}/prefix`,
        authorization.slice(7),
      ],
      { cwd: directory },
    )
    let output = ''
    child.stdout.on('data', (text) => {
      output += text
    })
    child.stderr.on('data', (text) => {
      output += text
    })
    await new Promise((resolve) => child.on('close', resolve))
    expect(output).toMatch(/^\{/)
    expect(JSON.parse(output)).toEqual({
      template: 'welcome',
      conflict: 'template_already_exists',
      notification: ['ada@example.com', 'welcome', 'queued'],
      rendered: 'Hello Ada',
      items: ['queued', 'invalid_email'],
      templates: ['welcome'],
      logs: 2,
      refused: 'invalid_channel',
      remaining: true,
    })
  })
})
