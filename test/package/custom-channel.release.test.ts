import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks } from './markdown.ts'

const MOST_LINES = 60

let consumer: Consumer
let source: string

beforeAll(async () => {
  consumer = await createConsumer(['@types/node'])
  const [block] = await codeBlocks('docs/tasks/custom-channel.md', 'ts')
  source = block?.code ?? ''
  await consumer.write('pager.ts', source)
  await consumer.write('world.ts', WORLD)
})

afterAll(() => consumer?.remove())

test(`a kind and its provider take at most ${MOST_LINES} lines`, () => {
  expect(source).toContain('defineChannel(')
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES)
})

test('a message goes out with its parts, and a wrong one is refused as the kind says', async () => {
  const said = await run(`
    const { id } = await notifier.send({ channel: 'pager', to: '555-0123', body: 'Fire', pager: { beeps: 3 } })
    say((await notifier.waitFor(id)).status, pages)
    say((await notifier.notifications.get(id, { rendered: true })).rendered)
    const right = { channel: 'pager', to: '555-0123', body: 'Fire' }
    for (const wrong of [
      { to: 'ada@example.com' },
      { body: 'x'.repeat(241) },
      { pager: { beeps: 10 } },
      { pager: { volume: 3 } },
      { email: { replyTo: 'ada@example.com' } },
      { channel: 'email', to: 'ada@example.com' },
    ]) {
      await notifier.send({ ...right, ...wrong }).then(say, ({ code, message }) => say(code, message))
    }`)
  expect(said).toEqual([
    ['sent', [{ to: '555-0123', body: 'Fire', beeps: 3, key: expect.any(String) }]],
    [{ subject: null, body: 'Fire', format: 'text', pager: { beeps: 3 } }],
    ['invalid_recipient', expect.stringContaining('a pager number of 4 to 10 digits')],
    ['message_too_large', 'A page has at most 240 characters. Shorten it.'],
    ['invalid_parameter', expect.stringContaining('pager.beeps')],
    ['invalid_parameter', expect.stringContaining('volume')],
    ['invalid_parameter', expect.stringContaining('"email" is for the channel email')],
    ['invalid_channel', expect.stringContaining('configured: pager')],
  ])
})

test('values of a template are escaped as the kind says, its own text is not', async () => {
  const said = await run(`
    await notifier.templates.create({ name: 'fire', channel: 'pager', body: '# Fire in {{room}}' })
    const variables = { room: '*1#<b>' }
    say((await notifier.templates.preview('fire', variables)).body)
    const { id } = await notifier.send({ to: '5550123', template: 'fire', variables, pager: { beeps: 2 } })
    await notifier.waitFor(id)
    say(pages[0].body, pages[0].beeps)`)
  expect(said).toEqual([['# Fire in \\*1\\#<b>'], ['# Fire in \\*1\\#<b>', 2]])
})

test('the REST API takes it, and OpenAPI describes it', async () => {
  const said = await run(`
    const sent = await call('POST', '/v1/notify', { channel: 'pager', to: '5550123', body: 'Hi', pager: { beeps: 4 } })
    await notifier.waitFor(sent.body.id)
    say(sent.status, sent.body.channel, pages[0].beeps)
    const wrong = await call('POST', '/v1/notify', { channel: 'pager', to: '5550123', body: 'Hi', pager: { beeps: 0 } })
    say(wrong.status, JSON.stringify(wrong.body))
    say((await call('GET', '/v1/notifications?channel=pager')).body.items.map(({ id }) => id === sent.body.id))
    const { Channel, SendRequest } = (await call('GET', '/openapi.json')).body.components.schemas
    say(Channel.enum.includes('pager'), SendRequest.properties.pager)`)
  expect(said).toEqual([
    [201, 'pager', 4],
    [400, expect.stringContaining('pager.beeps')],
    [[true]],
    [
      true,
      expect.objectContaining({
        type: 'object',
        properties: {
          beeps: {
            type: 'integer',
            minimum: 1,
            maximum: 9,
            description: 'How often the pager beeps. Default 1.',
          },
        },
      }),
    ],
  ])
})

test('a suppressed recipient is found in each of its spellings', async () => {
  const said = await run(`
    await call('POST', '/v1/suppressions', { channel: 'pager', to: '55-501-23' })
    for (const to of ['5550123', '555-0123', '5550124'])
      await notifier.send({ channel: 'pager', to, body: 'Hi' }).then(() => say('accepted'), ({ code }) => say(code))`)
  expect(said).toEqual([['blocked_recipient'], ['blocked_recipient'], ['accepted']])
})

test('receipts move the status, and suppress', async () => {
  const said = await run(`
    const first = await notifier.send({ channel: 'pager', to: '555-0001', body: 'Hi' })
    await notifier.waitFor(first.id)
    const second = await notifier.send({ channel: 'pager', to: '555-0002', body: 'Hi' })
    await notifier.waitFor(second.id)
    say((await report({ id: 'r0', page: 'p1' }, 'another key')).status)
    say((await notifier.notifications.get(first.id)).status)
    say((await report({ id: 'r1', page: 'p1' })).status, (await notifier.notifications.get(first.id)).status)
    say((await report({ id: 'r2', page: 'p2', unassigned: true })).status)
    say((await notifier.notifications.get(second.id)).status)
    await notifier.send({ channel: 'pager', to: '5550002', body: 'Hi' }).catch(({ code }) => say(code))`)
  expect(said).toEqual([[401], ['sent'], [200, 'delivered'], [200], ['failed'], ['blocked_recipient']])
})

/** Each a module of its own after {@link HEAD}. */
const COMPILES: Readonly<Record<string, string>> = {
  'a channel that is configured': `await paging.send({ channel: 'pager', to, body })`,
  'its parts': `await paging.send({ channel: 'pager', to, body, pager: { beeps: 3 } })`,
  'its parts beside a template': `await paging.send({ to, template: 't', pager: { beeps: 3 } })`,
  'a batch': `await paging.sendBatch([{ channel: 'pager', to, body, pager: { beeps: 3 } }])`,
  'two channels': `const both = createNotifier({ channels: { email: [mail], pager: [acme] } })
    await both.send({ channel: 'pager', to, body, pager: { beeps: 3 } })
    await both.send({ channel: 'email', to, body, email: { replyTo: to } })`,
  'providers of organizations': `
    const own = createNotifier({ channels: { pager: perOrganization(pager, async () => acme, [acme]) } })
    await own.organization('org_a').send({ channel: 'pager', to, body, pager: { beeps: 3 } })`,
}

const DOES_NOT: Readonly<Record<string, string>> = {
  'a channel that is not configured': `await mailing.send({ channel: 'pager', to, body })`,
  'another channel beside it': `await paging.send({ channel: 'email', to, body })`,
  'a part of another type': `await paging.send({ channel: 'pager', to, body, pager: { beeps: 'x' } })`,
  'a part that it lacks': `await paging.send({ channel: 'pager', to, body, pager: { volume: 3 } })`,
  'parts of another channel': `await paging.send({ channel: 'pager', to, body, email: {} })`,
  'its provider under another key': 'createNotifier({ channels: { email: acme } })',
  'a list with it under another key': 'createNotifier({ channels: { email: [mail, acme] } })',
  'another provider under its key': 'createNotifier({ channels: { pager: mail } })',
  'another provider for its organizations':
    'createNotifier({ channels: { pager: perOrganization(pager, () => mail) } })',
  'a part of another type in its provider':
    'export const beeps = (message: Message<typeof pager>): string | undefined => message.pager?.beeps',
}

const HEAD = `
import { createNotifier, perOrganization } from 'carillon'
import type { Message } from 'carillon/provider-kit'
import { smtp } from 'carillon/smtp'
import { acmePager, pager } from './pager.ts'

const acme = acmePager({ url: 'https://acme.example', key: 'k' })
const mail = smtp({ host: 'mail', from: 'a@example.com' })
const paging = createNotifier({ channels: { pager: acme } })
const mailing = createNotifier({ channels: { email: mail } })
const [to, body] = ['5550123', 'Hi']
`

describe('in the types', () => {
  let faults: readonly string[]

  beforeAll(async () => {
    const modules = Object.entries({ ...COMPILES, ...DOES_NOT })
    for (const [name, code] of modules) await consumer.write(fileOf(name), HEAD + code)
    const compiled = consumer.compile(
      modules.map(([name]) => fileOf(name)),
      { skipLibCheck: true },
    )
    faults = await compiled.then(
      () => [],
      ({ message }) => String(message).split('\n'),
    )
  })

  /** What the compiler says against a module: where it begins, and the code. */
  function against(name: string): string[] {
    return faults.flatMap((fault) => {
      const [, file, line, code] = /^([\w.-]+)\((\d+),\d+\): error (TS\d+)/.exec(fault) ?? []
      return file === fileOf(name)
        ? [`${Number(line) >= HEAD.split('\n').length ? 'case' : 'head'} ${code}`]
        : []
    })
  }

  test('the module itself is sound', () => {
    expect(faults.filter((fault) => fault.startsWith('pager.ts'))).toEqual([])
  })

  test.each(Object.keys(COMPILES))('%s: compiles', (name) => {
    expect(against(name)).toEqual([])
  })

  test.each(Object.keys(DOES_NOT))('%s: does not compile', (name) => {
    // Not assignable, no such field, no such overload.
    const faults = against(name)
    expect(faults).not.toEqual([])
    for (const fault of faults) expect(fault).toMatch(/^case TS(?:2322|2345|2353|2379|2769)$/)
  })
})

/** What `say` was called with, in order. */
async function run(code: string): Promise<unknown[][]> {
  const program = `
    import { call, notifier, pages, report, say, server } from './world.ts'
    ${code}
    await notifier.stop()
    server.close()
    server.closeAllConnections()`
  await consumer.write('program.mjs', program)
  const printed = await consumer.node('program.mjs')
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** The service of an application with the channel, and the provider's server. */
const WORLD = `
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { createNotifier } from 'carillon'
import { notifierFetch } from 'carillon/fetch'
import { acmePager } from './pager.ts'

export const say = (...said) => console.log(JSON.stringify(said))
export const pages = []
export const server = createServer(async (req, res) => {
  pages.push(JSON.parse(Buffer.concat(await req.toArray()).toString()))
  res.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'p' + pages.length }))
})
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
const url = 'http://127.0.0.1:' + server.address().port
export const notifier = createNotifier({ channels: { pager: acmePager({ url, key: 'the key' }) } })
await notifier.start()
const { secret } = await notifier.apiKeys.create({ name: 'test', permission: 'Full Access' })
const api = notifierFetch(notifier)
const connection = { remoteAddress: '192.0.2.7', encrypted: true }

async function request(method, path, body, headers) {
  const answer = await api(new Request('https://localhost' + path, { method, headers, body }), connection)
  const text = await answer.text()
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

export const call = (method, path, body) =>
  request(method, path, body === undefined ? undefined : JSON.stringify(body), {
    authorization: 'Bearer ' + secret,
    'content-type': 'application/json',
  })

export const report = (body, key = 'the key') => {
  const text = JSON.stringify(body)
  const signature = createHmac('sha256', key).update(text).digest('hex')
  return request('POST', '/receipts/pager/acme-pager', text, { 'acme-signature': signature })
}
`

function fileOf(name: string): string {
  return `${name.replaceAll(' ', '-')}.ts`
}
