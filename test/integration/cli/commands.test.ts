import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { notifierHandler } from '../../../adapters/http/node.ts'
import { COMMANDS } from '../../../src/cli/commands.ts'
import type { Notifier, Provider } from '../../../src/index.ts'
import {
  carillon,
  type Outcome,
  spawnCarillon,
  typeAtTerminal,
  writeConfig,
} from '../../support/command-line.ts'
import { listen } from '../../support/parity/harness.ts'
import { startNotifier } from '../../support/rest-host.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const folder = temporaryDirectory()
const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hello', text: 'Hi' } as const

const mailbox: Provider = {
  name: 'own',
  maxConcurrent: 1,
  async send({ to }) {
    if (to.startsWith('fails')) return { kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }
    return { kind: 'accepted', providerMessageId: 'm' }
  },
}

let notifier: Notifier
let elsewhere: (argv: readonly string[]) => Promise<Outcome>
const here = (argv: readonly string[]) => carillon(argv, { cwd: folder })

beforeAll(async () => {
  const world = await startNotifier({ channel: mailbox })
  notifier = world.notifier
  const { secret } = await notifier.apiKeys.create({
    name: 'cli',
    permission: 'Full Access',
    grants: ['content'],
  })
  const host = await listen(createServer(notifierHandler(notifier, { https: 'off' })))
  elsewhere = (argv) => carillon([...argv, '--url', host.url], { env: { CARILLON_API_KEY: secret } })
  // The notifier of this process, which several calls use.
  Object.assign(globalThis, { carillonOfCommands: { ...notifier, stop: async () => {} } })
  writeFileSync(join(folder, 'carillon.config.mjs'), 'export default globalThis.carillonOfCommands')
  return async () => {
    await host.close()
    await notifier.stop()
  }
})

async function failed(subject: string): Promise<string> {
  const { id } = await notifier.send({ ...mail, to: 'fails@example.com', subject })
  expect((await notifier.waitFor(id)).status).toBe('failed')
  return id
}

const later = async (): Promise<string> =>
  (await notifier.send({ ...mail, sendAt: new Date(Date.now() + 3_600_000) })).id

function lines({ code, out }: Outcome): unknown[] {
  expect(code).toBe(0)
  return out.trim() === ''
    ? []
    : out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
}

describe.for(['here', 'elsewhere'] as const)('%s:', (where) => {
  const run = (...argv: string[]): Promise<Outcome> => (where === 'here' ? here(argv) : elsewhere(argv))

  test('notifications list as the REST API does, or as a table', async () => {
    const id = await failed('list')
    const { items } = await notifier.notifications.list({ status: 'failed', limit: 3 })
    expect(lines(await run('notifications', 'list', '--status', 'failed', '--limit', '3', '--json'))).toEqual(
      items,
    )
    const { out } = await run('notifications', 'list', '--to', 'fails@example.com', '--since', '1h')
    expect(out).toMatch(new RegExp(`^ID +STATUS .*\n${id} +failed +email +fails@example.com`))
    expect((await run('notifications', 'list', '--since', '0s')).out.trim().split('\n')).toHaveLength(1)
  })

  test('notifications show the history and why', async () => {
    const id = await failed('show')
    const [record, explanation] = lines(await run('notifications', 'show', id, '--json'))
    expect(record).toMatchObject({ id, status: 'failed' })
    expect(explanation).toMatchObject({ id, gates: expect.any(Array) })
    const { out } = await run('notifications', 'show', id)
    expect(out).toMatch(/^status +failed$/m)
    expect(out).toMatch(/ failed +own +mailbox_full: /)
    expect(out).toMatch(/^delivery +failed/m)
  })

  test('notifications cancel, retry and resend', async () => {
    const id = await later()
    expect(await run('notifications', 'cancel', id)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--yes'),
    })
    expect((await run('notifications', 'cancel', id, '--yes')).out).toBe(`${id} cancelled\n`)
    // One that fails does not stop the others.
    const other = await later()
    const outcome = await run('notifications', 'cancel', id, 'missing', other, '--yes')
    expect(outcome).toMatchObject({ code: 4, out: `${other} cancelled\n` })
    expect(outcome.err).toMatch(/not_cancellable[\s\S]*missing: notification_not_found/)
    const failure = await failed('retry')
    expect((await run('notifications', 'retry', failure)).out).toBe(`${failure} queued\n`)
    expect((await run('notifications', 'resend', failure)).out).toMatch(/^notif_\w+ queued\n$/)
    expect(await run('notifications', 'retry', 'missing')).toMatchObject({ code: 5 })
  })

  test('failures are counted and retried', async () => {
    await failed('bulk')
    const { groups } = await notifier.deadLetters.groups()
    expect(lines(await run('failures', '--since', '1h', '--json'))).toEqual(groups)
    const dry = await run('failures', 'retry', '--since', '1h', '--dry-run', '--json')
    const [{ retried }] = lines(dry) as [{ retried: number }]
    expect(retried).toBeGreaterThan(0)
    expect(await run('failures', 'retry')).toMatchObject({ code: 2, out: '' })
    const done = await run('failures', 'retry', '--since', '1h', '--yes')
    expect(done).toMatchObject({ code: 0, out: expect.stringMatching(/^Retried \d+ notifications?\.\n$/) })
    expect(done.err).toMatch(/^\d+ of \d+$/m)
    expect(await run('failures', '--since', 'soon')).toMatchObject({ code: 2 })
  })

  test('keys are created, rotated and deleted, and the secret goes to stdout alone', async () => {
    const created = await run(
      'keys',
      'create',
      'Shop',
      '--permission',
      'Read Only',
      '--grant',
      'content',
      '--expires',
      '30d',
    )
    const { id, permission, grants } = await notifier.apiKeys.verify(created.out.trim())
    expect({ permission, grants }).toEqual({ permission: 'Read Only', grants: ['content'] })
    expect(created.err).toContain(id)
    expect(created.err).not.toContain(created.out.trim())
    const rotated = await run('keys', 'rotate', id, '--overlap', '0s')
    const next = await notifier.apiKeys.verify(rotated.out.trim())
    expect((await run('keys', 'list')).out).toMatch(new RegExp(`${next.id} +Read Only +content`))
    expect((await run('keys', 'delete', next.id, '--yes')).out).toBe(`${next.id} deleted\n`)
    expect(await run('keys', 'delete', next.id, '--yes')).toMatchObject({ code: 5 })
    expect(await run('keys', 'create', 'Shop', '--permission', 'Root')).toMatchObject({ code: 4, out: '' })
    const operator = await run('keys', 'create', 'Office', '--operator')
    if (where === 'here') expect(operator.out).toMatch(/^crlop_/)
    else expect(operator).toMatchObject({ code: 2, out: '' })
  })

  test('logs show the newest entries, oldest first', async () => {
    const id = await failed('logs')
    const { items } = await notifier.logs.list({ notificationId: id })
    expect(lines(await run('logs', id, '--json'))).toEqual(items.toReversed())
  })
})

test('texts of others steer no terminal', async () => {
  await notifier.send({ ...mail, to: 'steer@example.com', subject: 'a\u001b[31mb\u202ec' })
  expect((await here(['notifications', 'list', '--to', 'steer@example.com'])).out).toContain('a [31mb c')
})

test.for(COMMANDS.map((command) => [command.name, command] as const))(
  '%s --help',
  async ([name, { about, examples }]) => {
    if (name === 'call') return
    const { code, out } = await carillon([...name.split(' '), '--help'])
    expect(code).toBe(0)
    expect(out).toContain(about)
    expect(out).toContain(examples[0])
  },
)

test.for([
  [['notification', 'list'], 'Did you mean'],
  [['notifications', 'lst'], 'Did you mean "notifications list"?'],
  [['notifications'], 'list, show, cancel, resend, retry'],
  [['notifications', 'show'], '<id> is missing'],
  [['failures', '--snice', '1h'], 'Did you mean "--since"?'],
  [['keys', 'list', '--key', 'crl_x'], 'CARILLON_API_KEY'],
  [['migrate', '--url', 'http://127.0.0.1'], 'There is no flag "--url" here'],
] as const)('%j ends with 2', async ([argv, says]) => {
  const { code, err } = await here(argv)
  expect(code).toBe(2)
  expect(err).toContain(says)
})

describe('in a process of its own', () => {
  const EMAIL = "{ email: { name: 'own', maxConcurrent: 1, send } }"
  const sent = async (cwd: string): Promise<string> => {
    const argv = ['call', 'sendNotification', '--data', JSON.stringify(mail), '--json']
    return JSON.parse((await spawnCarillon(argv, { cwd }).outcome).out).id
  }

  test('a worker delivers and ends with SIGTERM; logs --follow show it and end with SIGINT', async () => {
    const cwd = temporaryDirectory(onTestFinished)
    writeConfig(cwd, { channels: EMAIL })
    const id = await sent(cwd)
    const logs = spawnCarillon(['logs', '--follow', '--json'], { cwd })
    let said = ''
    logs.child.stdout.on('data', (chunk) => {
      said += chunk
    })
    await expect.poll(() => said).toContain('"queued"')
    const worker = spawnCarillon(['worker'], { cwd })
    await expect.poll(() => said).toContain('"sent"')
    worker.child.kill('SIGTERM')
    expect(await worker.outcome).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringContaining('email/own'),
    })
    logs.child.kill('SIGINT')
    const { code, out, err } = await logs.outcome
    expect({ code, err }).toEqual({ code: 130, err: '' })
    const entries = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(new Set(entries.map((entry) => entry.id)).size).toBe(entries.length)
    expect(entries.every(({ notificationId }) => notificationId === id)).toBe(true)
  })

  test.for([
    ['y\r', 0, 'cancelled', 'cancelled'],
    ['\r', 130, 'Nothing was changed', 'queued'],
    ['\u0003', 130, 'Cancel 1 notification?', 'queued'],
  ] as const)('%j answers on a terminal, with colours', async ([input, code, says, status]) => {
    const cwd = temporaryDirectory(onTestFinished)
    writeConfig(cwd, { channels: EMAIL })
    const id = await sent(cwd)
    const outcome = await typeAtTerminal(['notifications', 'cancel', id], { cwd, input })
    expect(outcome.code).toBe(code)
    expect(outcome.out).toContain('Cancel 1 notification? [y/N]')
    expect(outcome.out).toContain(says)
    const shown = await spawnCarillon(['call', 'getNotification', id, '--json'], { cwd }).outcome
    expect(JSON.parse(shown.out).status).toBe(status)
  })

  test('ten processes migrate at once', async () => {
    const cwd = temporaryDirectory(onTestFinished)
    writeConfig(cwd)
    const all = await Promise.all(
      Array.from({ length: 10 }, () => spawnCarillon(['migrate'], { cwd }).outcome),
    )
    expect(all).toEqual(all.map(() => ({ code: 0, out: 'The schema of sqlite is up to date.\n', err: '' })))
  })
})
