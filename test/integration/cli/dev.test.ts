import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Webhook } from 'standardwebhooks'
import { expect, onTestFinished, test } from 'vitest'
import { freePort } from '../../../examples/servers/free-port.ts'
import { fromRoot } from '../../../scripts/entries.mjs'
import { spawnCarillon, writeConfig } from '../../support/command-line.ts'
import { httpReceiver } from '../../support/receivers.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const folder = (): string => temporaryDirectory(onTestFinished)

interface Links {
  readonly dashboard: string
  readonly mailbox: string
  readonly api: string
  readonly apiKey: string
  readonly webhookSecret?: string
}

/** Starts `carillon dev` on a free port, and resolves with the links that it prints. */
async function develop(cwd: string, ...argv: string[]) {
  const { child, outcome } = spawnCarillon(['dev', '--port', '0', '--json', ...argv], { cwd })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const line = createInterface({ input: child.stdout })
  const [text] = await Promise.race([
    once(line, 'line'),
    outcome.then(({ err }) => Promise.reject(new Error(err))),
  ])
  const links: Links = JSON.parse(text)
  const call = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${links.apiKey}`, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(links.api + path, init)
    return { status: response.status, body: JSON.parse(await response.text()) }
  }
  const mails = async (): Promise<{ to: string; subject: string; beginning: string }[]> =>
    JSON.parse(await (await fetch(`${links.mailbox}/api/messages`)).text()).items
  const stop = async () => {
    child.kill('SIGINT')
    return outcome
  }
  return { links, call, mails, stop, said: () => said }
}

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', text: 'Hi' }

test('without a configuration, it serves API, dashboard, mailbox and simulator until Ctrl+C', async () => {
  const cwd = folder()
  const first = await develop(cwd)
  expect((await first.call('/v1/notify', mail)).status).toBe(201)
  await expect.poll(first.mails).toMatchObject([{ to: 'ada@example.com', subject: 'Hello' }])
  expect(await (await fetch(first.links.dashboard)).text()).toContain('<!doctype html>')
  const { origin } = new URL(first.links.api)
  expect((await fetch(origin)).url).toContain('/dashboard')
  expect((await fetch(`${origin}/elsewhere`)).status).toBe(404)

  // The simulated service accepts the mail, and reports later that it bounced.
  const bounced = await first.call('/v1/notify', { ...mail, to: 'bounced@simulator.example' })
  await expect
    .poll(async () => (await first.call(`/v1/notifications/${bounced.body.id}`)).body.status)
    .toBe('failed')
  const ended = await first.stop()
  expect(ended).toMatchObject({ code: 130, err: '' })

  // What it keeps, version control leaves out.
  expect(readFileSync(join(cwd, '.carillon', '.gitignore'), 'utf8')).toBe('*\n!.gitignore\n')
  const again = await develop(cwd)
  expect(again.links.apiKey).toBe(first.links.apiKey)
  expect((await again.call(`/v1/notifications/${bounced.body.id}`)).body.status).toBe('failed')
  await again.stop()
})

test('with a configuration, neither its providers nor its storage are touched', async () => {
  const cwd = folder()
  const [delivered, database] = [join(cwd, 'delivered'), join(cwd, 'notifications.db')]
  const send = `async () => { (await import('node:fs')).writeFileSync(${JSON.stringify(delivered)}, ''); return { kind: 'accepted' } }`
  const telegram = `{ name: 'bot', kind: { name: 'telegram', recipient: 'a chat' }, send: ${send} }`
  writeConfig(cwd, { channels: `{ email: { name: 'own', send: ${send} }, telegram: ${telegram} }` })
  const { call, mails, stop } = await develop(cwd)
  expect((await call('/v1/notify', mail)).status).toBe(201)
  expect((await call('/v1/notify', { channel: 'telegram', to: '42', text: 'Hi' })).status).toBe(201)
  await expect.poll(async () => (await mails()).length).toBe(2)
  await stop()
  expect([existsSync(delivered), existsSync(database)]).toEqual([false, false])
})

test('a configuration that starts its notifier is refused', async () => {
  const cwd = folder()
  writeFileSync(
    join(cwd, 'carillon.config.mjs'),
    `import { createNotifier } from '${fromRoot('src/index.ts')}'
const notifier = createNotifier({ channels: {} })
await notifier.start()
export default notifier`,
  )
  expect(await spawnCarillon(['dev', '--port', '0'], { cwd }).outcome).toMatchObject({
    code: 3,
    out: '',
    err: expect.stringContaining('Leave start()'),
  })
})

test('during the start, it answers 503 and ends by Ctrl+C', async () => {
  const cwd = folder()
  writeFileSync(join(cwd, 'carillon.config.mjs'), 'await new Promise((done) => setTimeout(done, 600_000))')
  const port = await freePort()
  const { child, outcome } = spawnCarillon(['dev', '--port', String(port)], { cwd })
  onTestFinished(() => void child.kill('SIGKILL'))
  const ask = () => fetch(`http://127.0.0.1:${port}/dashboard`).then(({ status }) => status)
  await expect.poll(() => ask().catch(() => 0)).toBe(503)
  child.kill('SIGINT')
  expect(await outcome).toMatchObject({ code: 130, out: '' })
})

test('templates are read again when a file changes, and stay while one has a fault', async () => {
  const cwd = folder()
  const texts = join(cwd, 'texts')
  mkdirSync(texts)
  const write = (text: string) => writeFileSync(join(texts, 'welcome.email.txt'), text)
  write('---\nsubject: Welcome\n---\nFirst')
  const { call, mails, stop, said } = await develop(cwd, '--templates', 'texts')
  const newest = async () => {
    await call('/v1/notify', { channel: 'email', to: 'ada@example.com', template: 'welcome' })
    return (await mails())[0]?.beginning
  }
  await expect.poll(newest).toBe('First')
  write('---\nsubject: Welcome\n---\nSecond')
  await expect.poll(newest).toBe('Second')
  write('---\nsubject Welcome\n---\nThird')
  await expect.poll(said).toMatch(/not reloaded.*welcome\.email\.txt/)
  expect(await newest()).toBe('Second')
  write('---\nsubject: Welcome\n---\nFourth')
  await expect.poll(newest).toBe('Fourth')
  await stop()
})

test('events are posted with a secret that stays the same, also to another address', async () => {
  const cwd = folder()
  const secrets: unknown[] = []
  for (const path of ['/one', '/other']) {
    const receiver = await httpReceiver((response) => response.writeHead(204).end())
    onTestFinished(receiver.close)
    const { links, call, stop } = await develop(
      cwd,
      '--forward-to',
      `http://127.0.0.1:${receiver.port}${path}`,
    )
    await call('/v1/notify', mail)
    await expect.poll(() => receiver.requests).toHaveLength(1)
    for (const { path: posted, body, headers } of receiver.requests) {
      expect(posted).toBe(path)
      const event = new Webhook(links.webhookSecret ?? '').verify(body, headers as Record<string, string>)
      expect(event).toMatchObject({ event: expect.stringMatching(/^notification\./) })
    }
    secrets.push(links.webhookSecret)
    await stop()
  }
  expect(secrets[0]).toBe(secrets[1])
  const { links, stop } = await develop(cwd)
  expect(links).not.toHaveProperty('webhookSecret')
  await stop()
})

test.for([
  [[], 403],
  [['--host', '0.0.0.0'], 200],
] as const)('with %j, the mailbox answers other names with %i', async ([argv, status]) => {
  const { links, stop } = await develop(folder(), ...argv)
  const request = get(`${links.mailbox}/api/messages`, { headers: { host: 'box.example' } })
  const [response] = await once(request, 'response')
  expect(response.statusCode).toBe(status)
  response.resume()
  await stop()
})

test('a port that another program has is refused with a remedy', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  expect(await spawnCarillon(['dev', '--port', String(port)], { cwd: folder() }).outcome).toEqual({
    code: 3,
    out: '',
    err: `carillon: Another program has port ${port}. Stop it, or take a free port: carillon dev --port 0.\n`,
  })
})

test('a configuration that does not exist gets no folder beside it', async () => {
  const cwd = folder()
  const ended = await spawnCarillon(['dev', '--port', '0', '--config', 'missing.mjs'], { cwd }).outcome
  expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringContaining('missing.mjs') })
  expect(readdirSync(cwd)).toEqual([])
})

test.for([
  [['--port', '70000'], 2, '--port must be'],
  [['--host', '192.0.2.1'], 3, 'no address 192.0.2.1'],
  [['--templates', 'missing'], 4, 'missing'],
  [['--forward-to', 'nowhere'], 4, 'The URL cannot be parsed'],
] as const)('carillon dev %j ends with %i', async ([argv, code, says]) => {
  const ended = await spawnCarillon(['dev', ...(argv[0] === '--port' ? [] : ['--port', '0']), ...argv], {
    cwd: folder(),
  }).outcome
  expect(ended).toMatchObject({ code, out: '', err: expect.stringContaining(says) })
})

test('people see links, a call to copy, and that nothing is delivered', async () => {
  const { child, outcome } = spawnCarillon(['dev', '--port', '0'], { cwd: folder() })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  await expect.poll(() => said).toContain('Ctrl+C')
  child.kill('SIGTERM')
  const { code, out, err } = await outcome
  expect(code).toBe(0)
  expect(out).toMatch(/^Dashboard +http:\/\/127\.0\.0\.1:\d+\/dashboard\/#sign-in=\S+$/m)
  expect(out).toMatch(/^curl http:\/\/127\.0\.0\.1:\d+\/notifications\/v1\/notify/m)
  expect(err).toContain('Nothing is delivered')
})
