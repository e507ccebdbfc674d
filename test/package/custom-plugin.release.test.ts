import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks } from './markdown.ts'

/* The plug-in of the guide, written with the package alone. */

const MOST_LINES = 100
const COMPILERS = ['typescript5.7', 'typescript5.9', 'typescript', 'typescript7']

let consumer: Consumer
let source: string

beforeAll(async () => {
  consumer = await createConsumer(['@types/node'])
  const [block] = await codeBlocks('docs/tasks/custom-plugin.md', 'ts')
  source = block?.code ?? ''
  await consumer.write('reactions.ts', source)
  await consumer.write('world.ts', WORLD)
})

afterAll(() => consumer?.remove())

test(`it takes at most ${MOST_LINES} lines`, () => {
  expect(source).toContain('definePlugin(')
  expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(MOST_LINES)
})

test('its methods, its errors and its judge work for each organization', async () => {
  const said = await run(`
    const id = await sent('ada@example.com')
    say(Object.keys(await notifier.reactions.add(id, '👎')))
    await notifier.reactions.add(id, '👎').catch(({ code, status, message }) => say(code, status, message))
    await notifier.reactions.remove('none').catch(({ code, status }) => say(code, status))
    await notifier.reactions.add('notif_1', '👎').catch(({ code }) => say(code))
    const { status, error } = await notifier.waitFor((await send('ADA@Example.com')).id)
    say(status, error)
    say((await notifier.waitFor((await send('bob@example.com')).id)).status)
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    say((await notifier.organization('org_a').reactions.list()).length, (await notifier.reactions.list()).length)`)
  expect(said).toEqual([
    [['id', 'notificationId', 'emoji', 'until']],
    ['reactions.already_exists', 409, 'The recipient has reacted before. Remove the earlier reaction first.'],
    ['reactions.not_found', 404],
    ['notification_not_found'],
    ['skipped', { code: 'opted_out', message: 'The recipient wants a pause.', decidedBy: 'reactions.muted' }],
    ['sent'],
    [0, 1],
  ])
})

test('the REST API serves it by permission, and OpenAPI describes it', async () => {
  const said = await run(`
    const id = await sent('carl@example.com')
    say((await call('POST', '/v1/reactions', { notificationId: id, emoji: '👎' }, 'Read Only')).status)
    const added = await call('POST', '/v1/reactions', { notificationId: id, emoji: '👎' }, 'Write')
    say(added.status, Object.keys(added.body))
    const again = await call('POST', '/v1/reactions', { notificationId: id, emoji: '👎' })
    say(again.status, again.body.error.code)
    const wrong = await call('POST', '/v1/reactions', { notificationId: id, emoji: 5 })
    say(wrong.status, wrong.body.error.details.field)
    say((await call('GET', '/v1/reactions')).body.items.length)
    say((await call('DELETE', '/v1/reactions/' + added.body.id, undefined, 'Write')).status)
    say((await call('DELETE', '/v1/reactions/' + added.body.id)).body)
    say((await call('DELETE', '/v1/reactions/' + added.body.id)).status)
    const { paths, tags } = (await call('GET', '/openapi.json')).body
    say(Object.keys(paths).filter((path) => path.includes('reactions')), tags.some(({ name }) => name === 'reactions'))
    say(paths['/v1/reactions'].post.requestBody.content['application/json'].schema.required)`)
  expect(said).toEqual([
    [403],
    [201, ['id', 'notificationId', 'emoji', 'until']],
    [409, 'reactions.already_exists'],
    [400, 'emoji'],
    [1],
    [403],
    [{}],
    [404],
    [['/v1/reactions', '/v1/reactions/{id}'], true],
    [['notificationId', 'emoji']],
  ])
})

test('its timer survives a kill, and is cancelled by the removal of its record', async () => {
  const killed = run(
    `
    const [ada, bob] = [await sent('ada@example.com'), await sent('bob@example.com')]
    await notifier.reactions.add(ada, '👎')
    const { id } = await notifier.reactions.add(bob, '👎')
    await notifier.reactions.remove(id)
    say((await notifier.reactions.list()).length)
    process.kill(process.pid, 'SIGKILL')`,
    'timers.db',
  )
  await expect(killed).rejects.toThrow()
  const said = await run(
    `
    say((await notifier.reactions.list()).length)
    for (let step = 0; step < 20 && (await notifier.reactions.list()).length > 0; step += 1) {
      await clock.advance(600_000)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    say((await notifier.reactions.list()).length)
    say((await notifier.waitFor((await send('ada@example.com')).id)).status)`,
    'timers.db',
  )
  expect(said).toEqual([[1], [0], ['sent']])
})

test('it can be taken away with its line, and comes back to its records', async () => {
  const skipped = `
    const id = await sent('ada@example.com')
    await notifier.reactions.add(id, '👎')
    say((await notifier.waitFor((await send('ada@example.com')).id)).error.decidedBy)`
  expect(await run(skipped, 'taken.db')).toEqual([['reactions.muted']])
  await consumer.write('without.ts', WORLD.replace('plugins: [reacting()],', ''))
  const without = `
    say('reactions' in notifier)
    const { items } = await notifier.notifications.list({ status: 'skipped' })
    say(items.map(({ error }) => error))
    say((await notifier.waitFor((await send('ada@example.com')).id)).status)
    say((await call('GET', '/v1/reactions')).status)
    await clock.advance(7_200_000)
    await notifier.organizations.create({ id: 'org_a', name: 'A' })
    await notifier.organizations.delete('org_a')`
  expect(await run(without, 'taken.db', 'without.ts')).toEqual([
    [false],
    [[{ code: 'opted_out', message: 'The recipient wants a pause.', decidedBy: 'reactions.muted' }]],
    ['sent'],
    [404],
  ])
  const back = 'say((await notifier.reactions.list()).length)'
  expect(await run(back, 'taken.db')).toEqual([[1]])
})

const HEAD = `
import { createNotifier } from 'carillon'
import { smtp } from 'carillon/smtp'
import { reacting } from './reactions.ts'

const email = smtp({ host: 'mail', from: 'a@example.com' })
const notifier = createNotifier({ channels: { email }, plugins: [reacting()] })
const tenants = createNotifier({ organizations: 'required', channels: { email }, plugins: [reacting()] })
`

const COMPILES = `
const { id, until }: { id: string; until: number } = await notifier.reactions.add('notif_1', '👍')
const none: void = await tenants.organization('org_a').reactions.remove(id)
const all: readonly string[] = (await notifier.organization('org_a').reactions.list()).map(({ emoji }) => emoji)
console.log(until, none, all)
await notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello', email: { replyTo: 'b@example.com' } })
export {}
`

const DOES_NOT: Readonly<Record<string, string>> = {
  'a wrong argument': "await notifier.reactions.add('notif_1', 5)",
  'an unknown method': 'await notifier.reactions.clear()',
  'an organization too many': "await notifier.reactions.remove('org_a', 'id')",
  'a notifier without organization': "await tenants.reactions.remove('id')",
  'a plug-in that is none': "createNotifier({ channels: { email }, plugins: [{ name: 'x' }] })",
}

describe.each(COMPILERS)('with %s', (compiler) => {
  test('its methods are typed', async () => {
    await consumer.write('uses.ts', HEAD + COMPILES)
    await consumer.compile(['uses.ts'], { compiler, skipLibCheck: true })
  })
})

test.each(Object.entries(DOES_NOT))('%s does not compile', async (name, code) => {
  const file = `${name.replaceAll(' ', '-')}.ts`
  await consumer.write(file, `${HEAD}${code}\nexport {}\n`)
  await expect(consumer.compile([file], { skipLibCheck: true })).rejects.toThrow(
    /TS(2345|2339|2554|2353|2769|2741|2322)/,
  )
})

/** What `say` was called with, in order. */
async function run(code: string, file = ':memory:', world = 'world.ts'): Promise<unknown[][]> {
  const program = `
    import { open } from './${world}'
    const { call, clock, notifier, say, send, sent } = await open(${JSON.stringify(file)})
    ${code}
    await notifier.stop()`
  await consumer.write('program.mjs', program)
  const printed = await consumer.node('program.mjs')
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const WORLD = `
import { createNotifier } from 'carillon'
import { notifierFetch } from 'carillon/fetch'
import { sqlite } from 'carillon/sqlite'
import { fakeClock, recordingProvider } from 'carillon/testing'
import { reacting } from './reactions.ts'

export async function open(file) {
  const clock = fakeClock()
  const notifier = createNotifier({
    clock,
    storage: sqlite({ file, clock }),
    channels: { email: recordingProvider() },
    plugins: [reacting()],
  })
  await notifier.start()
  const send = (to) => notifier.send({ channel: 'email', to, subject: 'Hi', body: 'Hello' })
  const handle = notifierFetch(notifier)
  const keys = new Map()
  async function keyOf(permission) {
    const { secret } = keys.get(permission) ?? (await notifier.apiKeys.create({ name: permission, permission }))
    keys.set(permission, { secret })
    return secret
  }
  return {
    clock,
    notifier,
    send,
    say: (...said) => console.log(JSON.stringify(said)),
    async sent(to) {
      const { id } = await send(to)
      await notifier.waitFor(id)
      return id
    },
    async call(method, path, body, permission = 'Full Access') {
      const request = new Request('https://localhost' + path, {
        method,
        headers: { authorization: 'Bearer ' + (await keyOf(permission)), 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const response = await handle(request, { remoteAddress: '203.0.113.1', encrypted: true })
      return { status: response.status, body: await response.json() }
    },
  }
}
`
