import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { notifierHandler } from '../../../adapters/http/node.ts'
import { type CallableOperation, type Field, flagsOf, operationsOf } from '../../../src/cli/operations.ts'
import { openApiDocument } from '../../../src/http/openapi/document.ts'
import type { Notifier } from '../../../src/index.ts'
import { ROUTES } from '../../../src/routes.ts'
import { carillon } from '../../support/command-line.ts'
import { listen } from '../../support/parity/harness.ts'
import { startNotifier } from '../../support/rest-host.ts'
import { serve } from '../../support/serve.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const document = openApiDocument(
  ROUTES,
  { channels: ['email', 'sms'], inputs: {} },
  { errorFormat: 'nested', strictBody: false },
)
const operations = operationsOf(document)
const folder = temporaryDirectory()

let notifier: Notifier
let env: Record<string, string>
let url: string

beforeAll(async () => {
  const world = await startNotifier({})
  notifier = world.notifier
  const { secret } = await notifier.operatorKeys.create({
    name: 'cli',
    permission: 'Full Access',
    grants: ['content'],
  })
  env = { CARILLON_API_KEY: secret }
  const host = await listen(createServer(notifierHandler(notifier, { https: 'off' })))
  url = host.url
  // The notifier of this process, which several calls use.
  Object.assign(globalThis, { carillonOfTest: { ...notifier, stop: async () => {} } })
  writeFileSync(join(folder, 'carillon.config.mjs'), 'export default globalThis.carillonOfTest')
  return async () => {
    await host.close()
    await notifier.stop()
  }
})

/** A value of a field, and what a request has of it. */
function sampleOf({
  types,
  values = [],
  place,
  name,
}: Field): readonly [text: string | true, value: unknown] {
  const [first] = values
  if (types.length === 1 && types.includes('boolean')) return [true, true]
  if (types.includes('integer') || types.includes('number')) return ['7', 7]
  if (first !== undefined) return [String(first), first]
  if (types.includes('string')) return [`a ${name}/ä`, `a ${name}/ä`]
  if (types.includes('array')) return place === 'query' ? ['x', 'x'] : ['["x"]', ['x']]
  return ['{"a":"x"}', { a: 'x' }]
}

function argumentsOf({ fields, body }: CallableOperation): readonly string[] {
  const given = fields.flatMap((field) => {
    const [text] = sampleOf(field)
    return text === true ? [`--${field.flag}`] : [`--${field.flag}=${text}`]
  })
  return body === 'bytes' ? [...given, '--data', 'some bytes', '--content-type', 'text/plain'] : given
}

function valuesIn({ fields }: CallableOperation, place: Field['place']): [Field, unknown][] {
  return fields.filter((each) => each.place === place).map((field) => [field, sampleOf(field)[1]])
}

describe('each operation', () => {
  test.for(operations.map((each) => [each.id, each] as const))('%s', async ([id, operation]) => {
    const requests: { line: string; headers: NodeJS.Dict<string | string[]>; body: string }[] = []
    const port = await serve(async (req, res) => {
      const body = (await buffer(req)).toString()
      requests.push({ line: `${req.method} ${req.url}`, headers: req.headers, body })
      res.writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_1' }).end('{"a":1}')
    })
    const argv = [
      'call',
      id,
      ...argumentsOf(operation),
      '--url',
      `http://127.0.0.1:${port}`,
      '--organization',
      'org_x',
    ]
    const outcome = await carillon([...argv, '--json'], { env })
    expect(outcome).toEqual({ code: 0, out: '{"a":1}\n', err: '' })
    const [{ line, headers, body } = { line: '', headers: {}, body: '' }] = requests
    const [method, target = ''] = line.split(' ')
    const { pathname, searchParams } = new URL(target, 'http://x')
    expect(method).toBe(operation.method)
    const inPath = new Map(valuesIn(operation, 'path').map(([{ name }, value]) => [name, value]))
    expect(pathname).toBe(
      operation.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(inPath.get(name)))),
    )
    const query = valuesIn(operation, 'query').map(([{ name }, value]) =>
      typeof value === 'object' ? [`${name}[a]`, 'x'] : [name, String(value)],
    )
    const admin = operation.path.startsWith('/admin/') ? { orgId: 'org_x' } : {}
    expect(Object.fromEntries(searchParams)).toEqual({ ...Object.fromEntries(query), ...admin })
    expect(headers).toMatchObject({
      authorization: `Bearer ${env.CARILLON_API_KEY}`,
      'x-organization-id': 'org_x',
    })
    for (const [{ name }, value] of valuesIn(operation, 'header').filter(
      ([{ name }]) => name !== 'Idempotency-Key',
    ))
      expect(headers[name.toLowerCase()]).toBe(String(value))
    const fields = Object.fromEntries(valuesIn(operation, 'body').map(([{ name }, value]) => [name, value]))
    if (operation.body === 'json') expect(JSON.parse(body)).toEqual(fields)
    if (operation.body === 'bytes')
      expect([body, headers['content-type']]).toEqual(['some bytes', 'text/plain'])
    if (operation.body === null) expect(body).toBe('')
  })

  test('has flags that are apart from each other and from those of every call', () => {
    for (const operation of operations.values()) {
      const names = Object.keys(flagsOf(operation))
      expect(new Set(names).size, operation.id).toBe(operation.fields.length)
      expect(names.filter((name) => /^(?:url|config|organization|json|help|data)$/.test(name))).toEqual([])
    }
  })
})

describe('here and elsewhere give the same as REST:', () => {
  const READS = operations.filter(
    ({ method, path, tag }) =>
      method === 'GET' && !path.includes('{') && tag !== 'Pages' && !path.startsWith('/admin/'),
  )

  test.for(READS.map((each) => [each.id, each] as const))('%s', async ([id, operation]) => {
    await notifier.suppressions.add({ channel: 'email', to: 'no@example.com' })
    const organization =
      operation.fields.length === 0 && operation.tag === 'Service' ? [] : ['--organization', 'org_default']
    const required = operation.fields
      .filter((each) => each.required)
      .flatMap((field) => [`--${field.flag}`, 'x'])
    const person = id === 'getPreferences' ? ['--recipient', 'user:42'] : []
    const argv = ['call', id, ...required, ...person, '--json', ...organization]
    const rest = await fetch(`${url}${operation.path}${person.length > 0 ? '?recipient=user:42' : ''}`, {
      headers: { authorization: `Bearer ${env.CARILLON_API_KEY}`, 'x-organization-id': 'org_default' },
    })
    const expected = steady(await rest.json(), id)
    for (const where of [
      ['--url', url],
      ['--config', join(folder, 'carillon.config.mjs')],
    ]) {
      const { code, out, err } = await carillon([...argv, ...where], { env })
      expect({ code, err }).toEqual({ code: 0, err: '' })
      const answer = steady(JSON.parse(out), id)
      if (id === 'getIdentity')
        expect(answer).toMatchObject({ permission: 'Full Access', organizations: 'all' })
      else expect(answer).toEqual(expected)
    }
  })

  /** Without what changes from call to call. */
  function steady(answer: unknown, id: string): unknown {
    const text = JSON.stringify(answer).replace(
      /"(?:since|now|at|\w*At|\w*Ms|from|until|resetAt)":(?:"[^"]*"|[\d.]+)/g,
      '"":0',
    )
    return id === 'getOperations' ? Object.keys(JSON.parse(text)) : JSON.parse(text)
  }
})

describe('arguments', () => {
  const call = (argv: readonly string[], input = '') => carillon(['call', ...argv], { cwd: folder, input })

  test('come from flags, a text, a file and stdin, and flags win', async () => {
    const mail = { channel: 'email', to: 'ada@example.com', subject: 'A', text: 'Hi' }
    writeFileSync(join(folder, 'mail.json'), JSON.stringify(mail))
    for (const [data, input] of [[JSON.stringify(mail)], ['@mail.json'], ['-', JSON.stringify(mail)]]) {
      const { code, out } = await call(
        ['sendNotification', '--data', data ?? '', '--subject', 'B', '--metadata.order', '5', '--json'],
        input,
      )
      expect(code).toBe(0)
      const { id } = JSON.parse(out)
      const shown = await call(['getNotification', id, '--rendered', '--json'])
      expect(JSON.parse(shown.out)).toMatchObject({ metadata: { order: '5' }, rendered: { subject: 'B' } })
    }
  })

  test('with the name of a flag of every call have their place before it', async () => {
    const argv = ['createWebhook', '--body-url', 'https://example.com/hook', '--events', 'notification.sent']
    const { code, out } = await call([...argv, '--events', 'notification.failed'])
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      url: 'https://example.com/hook',
      events: ['notification.sent', 'notification.failed'],
    })
  })

  test('camel case and kebab case are one', async () => {
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    for (const flag of ['--sendAt', '--send-at']) {
      const argv = [
        'sendNotification',
        '--channel',
        'email',
        '--to',
        'ada@example.com',
        '--text',
        'Hi',
        flag,
        tomorrow,
      ]
      expect(JSON.parse((await call(argv)).out)).toMatchObject({ status: 'scheduled' })
    }
  })

  test.for([
    [['sendNotificaton'], 'Did you mean "sendNotification"?'],
    [['sendNotification', '--chanel', 'email'], 'Did you mean "--channel"?'],
    [['sendNotification', '--key', 'crl_x'], 'CARILLON_API_KEY'],
    [['sendNotification', '--api-key=crl_x'], 'CARILLON_API_KEY'],
    [['sendNotification', '--to'], '--to needs a value'],
    [['sendNotification', '--to', '--channel', 'email'], '--to needs a value'],
    [['sendNotification', '--to', 'a', '--to', 'b'], 'twice'],
    [['sendNotification', 'extra'], 'one argument too many'],
    [['sendNotification', '--data', '{'], 'not JSON'],
    [['sendNotification', '--data', '[]'], 'must be a JSON object'],
    [['sendNotification', '--data', '@missing.json'], 'cannot be read'],
    [['listNotifications', '--limit', 'many'], '--limit must be integer'],
    [['getNotification'], '<id> is missing'],
    [['createWebhook', '--url', 'https://example.com'], '--body-url is missing'],
    [['createApiKey', '--permission', 'Write'], '--name is missing'],
  ] as const)('%j end with 2 and a remedy', async ([argv, remedy]) => {
    const { code, out, err } = await carillon(['call', ...argv], { cwd: folder, env })
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(remedy)
    expect(err).not.toContain('crl_x')
  })
})

test('lists the operations by tag, and as JSON', async () => {
  const { out } = await carillon(['call'])
  for (const { operation, tag } of ROUTES) {
    expect(out).toMatch(new RegExp(`^  ${operation}\\b`, 'm'))
    expect(out).toContain(`${tag.name}\n`)
  }
  const lines = (await carillon(['call', '--json'])).out.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).operation).sort()).toEqual(
    ROUTES.map(({ operation }) => operation).sort(),
  )
})

test('shows the arguments of an operation, with types and an example', async () => {
  const { code, out } = await carillon(['call', 'createApiKey', '--help'])
  expect(code).toBe(0)
  expect(out).toMatch(/--name <string> .*Required\./)
  expect(out).toMatch(/--permission <string> .*One of Read Only, Write, Full Access/)
  expect(out).toMatch(/carillon call createApiKey --data '\{/)
})

test.for([
  [['call', 'getNotification', 'notif_missing'], 5, 'notification_not_found'],
  [
    ['call', 'sendNotification', '--channel', 'sms', '--to', '+14155550123', '--text', 'Hi'],
    4,
    'invalid_channel',
  ],
] as const)('%j ends with %i', async ([argv, code, says]) => {
  for (const where of [
    ['--url', url, '--organization', 'org_default'],
    ['--config', join(folder, 'carillon.config.mjs')],
  ]) {
    const outcome = await carillon([...argv, ...where], { env })
    expect(outcome).toMatchObject({ code, out: '' })
    expect(outcome.err).toContain(says)
    expect(outcome.err).toContain('Request req_')
    expect(outcome.err).toContain(`See node_modules/carillon/docs/reference/errors/${says}.md`)
  }
})

describe('a service elsewhere', () => {
  test.for([
    ['nonsense', 3, 'must be where the REST API is mounted'],
    ['http://user:hunter2@127.0.0.1', 3, 'must have no user'],
    ['http://127.0.0.1:1', 75, 'got no answer'],
  ] as const)('%s ends with %i', async ([given, code, says]) => {
    const outcome = await carillon(['call', 'getIdentity', '--url', given], { env })
    expect(outcome).toMatchObject({ code, out: '' })
    expect(outcome.err).toContain(says)
    expect(outcome.err).not.toContain('hunter2')
  })

  test('that is none of Carillon ends with 3', async () => {
    const port = await serve((_, res) => res.end('<p>Hello</p>'))
    const { code, err } = await carillon(['call', 'getIdentity', '--url', `http://127.0.0.1:${port}`], {
      env,
    })
    expect(code).toBe(3)
    expect(err).toContain('not as Carillon does')
  })

  test('needs a key in the environment, and refuses a wrong one', async () => {
    const argv = ['call', 'getIdentity', '--url', url]
    expect(await carillon(argv)).toMatchObject({ code: 3, err: expect.stringContaining('CARILLON_API_KEY') })
    expect(await carillon(argv, { env: { CARILLON_API_KEY: 'two\nlines' } })).toMatchObject({
      code: 3,
      err: expect.stringMatching(/CARILLON_API_KEY is wrong.*visible ASCII/),
    })
    const wrong = { CARILLON_API_KEY: 'crl_wrong' }
    const { code, err } = await carillon(argv, { env: wrong })
    expect(code).toBe(4)
    expect(err).toContain('invalid_api_key')
    expect(err).not.toContain('crl_wrong')
  })

  test('is asked for operations that are not built in', async () => {
    const port = await serve((req, res) => {
      const added = structuredClone(document) as { paths: Record<string, unknown> }
      added.paths = {
        '/v1/orders': {
          get: { operationId: 'listOrders', summary: 'List', tags: ['Orders'], responses: {} },
        },
      }
      const answer = req.url === '/openapi.json' ? added : { url: req.url }
      res
        .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_1' })
        .end(JSON.stringify(answer))
    })
    const { out } = await carillon(['call', 'listOrders', '--json', '--url', `http://127.0.0.1:${port}`], {
      env,
    })
    expect(JSON.parse(out)).toEqual({ url: '/v1/orders' })
  })
})
