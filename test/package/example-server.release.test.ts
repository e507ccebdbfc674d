import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'
import { WAIT_MS } from '../support/patience.ts'

/** The example as `npm start` runs it, after its build. */
interface Example {
  readonly child: ChildProcess
  /** Everything it has printed so far, errors included. */
  printed(): string
  /** Resolves when it has printed something that matches. */
  prints(pattern: RegExp): Promise<RegExpExecArray>
  /** `[code, signal]` */
  readonly exited: Promise<unknown[]>
}

interface Running extends Example {
  readonly url: string
  readonly key: string
}

const PATIENCE_MS = 3 * WAIT_MS

const running = new Set<ChildProcess>()
let folder: string

beforeAll(async () => {
  if (!existsSync(fromRoot('dist')))
    throw new Error('The example uses the built package: npm run build comes first')
  folder = await mkdtemp(join(tmpdir(), 'carillon-example-'))
})

afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})

afterAll(() => rm(folder, { recursive: true, force: true }))

function launch(environment: Record<string, string>): Example {
  const child = spawn(process.execPath, [fromRoot('examples/server/main.ts')], {
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  let text = ''
  const add = (chunk: string): void => {
    text += chunk
  }
  child.stdout?.setEncoding('utf8').on('data', add)
  child.stderr?.setEncoding('utf8').on('data', add)
  const exited = once(child, 'close').finally(() => running.delete(child))
  return {
    child,
    exited,
    printed: () => text,
    async prints(pattern) {
      for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline; await sleep(20)) {
        const match = pattern.exec(text)
        if (match !== null) return match
        if (child.exitCode !== null) break
      }
      throw new Error(`${pattern} is not in what the example has printed:\n${text}`)
    },
  }
}

async function start(name: string): Promise<Running> {
  const example = launch({ PORT: '0', DATA_DIR: join(folder, name) })
  const [, url = '', key = ''] = await example.prints(
    /curl -i (\S+)\/v1\/notify -H 'Authorization: Bearer (\S+)'/,
  )
  return { ...example, url, key }
}

async function stop(example: Example): Promise<void> {
  example.child.kill('SIGTERM')
  expect(await example.exited, example.printed()).toEqual([0, null])
}

function call(
  { url, key }: Running,
  path: string,
  { body, headers = {}, method = body === undefined ? 'GET' : 'POST' }: CallOptions = {},
): Promise<Response> {
  return fetch(url + path, {
    method,
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

interface CallOptions {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly method?: string
}

test('a templated e-mail goes over HTTP, SQLite and SMTP, and its signed event comes back', async () => {
  const example = await start('first')
  const lines = example.printed().split('\n')
  const steps = [
    'Started',
    'Organization',
    'API key',
    'Webhook',
    'Template',
    'Accepted',
    'Delivered',
    'Verified',
  ]
  const labels = lines.map((line) => line.slice(0, 12).trim()).filter((label) => steps.includes(label))
  expect(labels.slice(0, steps.length)).toEqual(steps)
  const [, id] = await example.prints(/^Accepted +(notif_\d+) /m)
  expect(example.printed()).toMatch(/^Delivered +over SMTP to "ada@example.com", subject "Welcome, Ada"$/m)
  expect(example.printed()).toMatch(new RegExp(`^Verified +the event notification.sent of ${id}$`, 'm'))

  const response = await call(example, `/v1/notifications/${id}`)
  expect(await response.json()).toMatchObject({ id, status: 'sent', to: 'ada@example.com' })
  await stop(example)
})

describe('while it runs', () => {
  let example: Running

  beforeAll(async () => {
    example = await start('used')
    running.delete(example.child)
  })

  afterAll(() => stop(example))

  test('the printed curl line sends another message', async () => {
    const [, body = ''] = /-d '(.+)'$/m.exec(example.printed()) ?? []
    const response = await call(example, '/v1/notify', { body })
    expect(response.status).toBe(201)
    const { id } = (await response.json()) as { id: string }
    await example.prints(/^Delivered .*"Welcome, Grace"$/m)
    await example.prints(new RegExp(`^Verified +the event notification.sent of ${id}$`, 'm'))
  })

  test('a recipient that the mail server refuses ends as failed, and its event says so', async () => {
    const message = { channel: 'email', to: 'bounce@example.com', subject: 'Hi', body: 'Hello' }
    const response = await call(example, '/v1/notify', { body: message })
    const { id } = (await response.json()) as { id: string }
    await example.prints(
      new RegExp(`^Verified +the event notification.failed of ${id} \\(invalid_recipient\\)$`, 'm'),
    )
  })

  const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' }
  const { to: _, ...withoutRecipient } = mail

  test.each<[name: string, status: number, code: string, options: CallOptions]>([
    ['no key', 401, 'invalid_api_key', { body: mail, headers: { Authorization: 'Bearer nonsense' } }],
    ['broken JSON', 400, 'invalid_json', { body: '{"channel":' }],
    ['a list', 400, 'invalid_parameter', { body: [] }],
    ['no recipient', 422, 'missing_required_field', { body: withoutRecipient }],
    ['a recipient of a wrong type', 400, 'invalid_parameter', { body: { ...mail, to: 7 } }],
    ['a bad address', 422, 'invalid_email', { body: { ...mail, to: 'ada@' } }],
    ['two addresses', 422, 'invalid_email', { body: { ...mail, to: 'ada@example.com, eve@example.com' } }],
    ['an unknown channel', 422, 'invalid_channel', { body: { ...mail, channel: 'fax' } }],
    ['a channel without a provider', 422, 'invalid_channel', { body: { ...mail, channel: 'slack' } }],
    ['an unknown template', 422, 'template_not_found', { body: { ...mail, template: 'nope' } }],
    ['a missing variable', 422, 'invalid_template_variable', { body: { ...mail, template: 'welcome' } }],
    [
      "another's organization",
      403,
      'organization_mismatch',
      { body: mail, headers: { 'X-Organization-ID': 'org_default' } },
    ],
  ])('%s is answered with %i %s', async (_name, status, code, options) => {
    const response = await call(example, '/v1/notify', options)
    const { error } = (await response.json()) as { error: { code: string; request_id: string } }
    expect([response.status, error.code]).toEqual([status, code])
    expect(error.request_id).toMatch(/^req_/)
  })

  test('nothing of what was refused is stored', async () => {
    const { items } = (await (await call(example, '/v1/notifications')).json()) as { items: { to: string }[] }
    expect(items.map(({ to }) => to).sort()).toEqual([
      'ada@example.com',
      'bounce-1@example.com',
      'bounce-2@example.com',
      'bounce@example.com',
      'full@example.com',
      'grace@example.com',
      'spam@example.com',
    ])
  })
})

test('a second start finds organization, template, endpoint and key', async () => {
  const first = await start('again')
  const id = (/^Accepted +(notif_\d+) /m.exec(first.printed()) ?? [])[1]
  await stop(first)
  expect((await stat(join(folder, 'again/credentials.json'))).mode & 0o077).toBe(0)
  expect((await readFile(join(folder, 'again/carillon.db'))).includes(first.key)).toBe(false)

  const second = await start('again')
  expect(second.key).toBe(first.key)
  expect(second.printed()).toMatch(/^Organization +org_example \(plan pro\), here since /m)
  expect(second.printed()).toMatch(/^Template .* here already$/m)
  expect(second.printed()).toMatch(/^Webhook .* registered by an earlier start$/m)
  expect(await (await call(second, `/v1/notifications/${id}`)).json()).toMatchObject({ id, status: 'sent' })
  await stop(second)
})

test('what was accepted before a kill -9 is delivered after the next start, and every event arrives', async () => {
  const first = await start('killed')
  const notifications = Array.from({ length: 200 }, (_, at) => ({
    channel: 'email',
    to: `user-${at}@example.com`,
    template: 'welcome',
    variables: { name: `User ${at}` },
  }))
  const response = await call(first, '/v1/notifications/batch', { body: { notifications } })
  const { items } = (await response.json()) as { items: { id: string }[] }
  first.child.kill('SIGKILL')
  await first.exited

  const second = await start('killed')
  const missing = (): string[] => {
    const verified = first.printed() + second.printed()
    return items.map(({ id }) => id).filter((id) => !verified.includes(`notification.sent of ${id}\n`))
  }
  await expect.poll(missing).toEqual([])
  await stop(second)
})

test('an endpoint whose port is taken is replaced', async () => {
  const first = await start('moved')
  await stop(first)
  const file = join(folder, 'moved/credentials.json')
  const { webhook } = JSON.parse(await readFile(file, 'utf8')) as { webhook: { url: string } }
  const squatter = createServer().listen(Number(new URL(webhook.url).port), '127.0.0.1')
  await once(squatter, 'listening')
  try {
    const second = await start('moved')
    expect(second.printed()).toMatch(/^Webhook .* registered in place of an earlier one$/m)
    expect(second.printed()).toMatch(/^Verified /m)
    await stop(second)
  } finally {
    squatter.close()
  }
})

test('damaged credentials are replaced by new ones', async () => {
  await stop(await start('damaged'))
  await writeFile(join(folder, 'damaged/credentials.json'), '{')
  const second = await start('damaged')
  expect(second.printed()).toMatch(/^API key +crl_\w+ \(Full Access\)$/m)
  expect(second.printed()).toMatch(/^Verified /m)
  await stop(second)
})

describe('a mistake at the start is one clear message and exit code 1', () => {
  test.each(['70000', '-1', '3000x', '1.5'])('PORT=%s', async (port) => {
    const example = launch({ PORT: port, DATA_DIR: join(folder, 'unused') })
    expect(await example.exited).toEqual([1, null])
    expect(example.printed()).toBe(`PORT must be a whole number from 0 to 65535; it is "${port}".\n`)
  })

  test('a port that is taken', async () => {
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    const { port } = squatter.address() as { port: number }
    const example = launch({ PORT: String(port), DATA_DIR: join(folder, 'unused') })
    expect(await example.exited).toEqual([1, null])
    expect(example.printed()).toBe(
      `Port ${port} is in use. Set PORT to another port, or to 0 for any free one.\n`,
    )
    squatter.close()
  })

  test('a data folder that is a file', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    const example = launch({ PORT: '0', DATA_DIR: file })
    expect(await example.exited).toEqual([1, null])
    expect(example.printed()).toBe(`DATA_DIR must be a writable folder: ${file} (EEXIST).\n`)
  })

  test('a database that is none', async () => {
    const example = launch({ PORT: '0', DATA_DIR: join(folder, 'broken') })
    await example.prints(/curl/)
    await stop(example)
    await writeFile(join(folder, 'broken/carillon.db'), 'This is not a database. '.repeat(400))
    const second = launch({ PORT: '0', DATA_DIR: join(folder, 'broken') })
    expect(await second.exited).toEqual([1, null])
    expect(second.printed()).toMatch(/database/i)
    expect(second.printed().trim().split('\n')).toHaveLength(1)
  })
})

test('a stop in the middle of the start ends it, too', async () => {
  const example = launch({ PORT: '0', DATA_DIR: join(folder, 'early') })
  await example.prints(/^Started/m)
  example.child.kill('SIGINT')
  expect(await example.exited, example.printed()).toEqual([0, null])
})

test('the printed links open the dashboard once: to the organization, and as an operator', async () => {
  const example = await start('dashboard')
  const links = [...example.printed().matchAll(/^(http\S+\/dashboard\/)#sign-in=(\S+)$/gm)]
  const [mount = '', invitation, ofOperator] = [links[0]?.[1], links[0]?.[2], links[1]?.[2]]
  const signIn = () => signInWith(mount, invitation)
  const sessionOf = async (response: Response) => {
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? ''
    return (await fetch(`${mount}session`, { headers: { cookie } })).json()
  }
  expect(await sessionOf(await signIn())).toMatchObject({
    name: 'Example server',
    organizations: ['org_example'],
  })
  expect((await signIn()).status).toBe(401)
  expect(await sessionOf(await signInWith(mount, ofOperator))).toMatchObject({ organizations: 'all' })
  await stop(example)
})

function signInWith(mount: string, invitation = ''): Promise<Response> {
  return fetch(`${mount}session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' },
    body: JSON.stringify({ invitation }),
  })
}

test('the first start has failures to look at, and the mailbox shows what was sent', async () => {
  const example = await start('failures')
  const failures = async () => {
    const { items } = (await (await call(example, '/v1/dead-letters')).json()) as {
      items: { to: string; error: { code: string } }[]
    }
    return items.map(({ to, error: { code } }) => `${to} ${code}`).sort()
  }
  await expect
    .poll(failures)
    .toEqual([
      'bounce-1@example.com invalid_recipient',
      'bounce-2@example.com invalid_recipient',
      'spam@example.com spam_detected',
    ])
  const url = /^(http\S+\/mailbox)$/m.exec(example.printed())?.[1]
  const sms = { channel: 'sms', to: '+436601234567', text: 'Code 1' }
  expect((await call(example, '/v1/notify', { body: sms })).status).toBe(201)
  const caught = async () => {
    const { items } = (await (await fetch(`${url}/api/messages`)).json()) as { items: { to: string }[] }
    return items.map(({ to }) => to).sort()
  }
  await expect.poll(caught).toEqual(['+436601234567', 'ada@example.com'])
  await stop(example)
})
