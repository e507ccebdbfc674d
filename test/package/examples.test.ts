import { describe, expect, test } from 'vitest'
import { readManifest } from './consumer.ts'
import {
  copyExample,
  type ExampleFolder,
  exampleFolders,
  manifestOf,
  startExample,
} from './example-folder.ts'
import { links } from './markdown.ts'

test('each declares this version of the package, and the versions of others that are tested here', async () => {
  const { version, dependencies, devDependencies } = await readManifest()
  const tested = { ...devDependencies, ...dependencies, carillon: `^${version}` }
  const folders = await exampleFolders()
  expect(folders.length).toBeGreaterThanOrEqual(9)
  for (const name of folders) {
    const manifest = await manifestOf(name)
    const { '@types/react': _, ...others } = { ...manifest.devDependencies }
    const declared = { ...manifest.dependencies, ...others }
    expect(tested, name).toMatchObject(declared)
    expect(declared, name).toHaveProperty('carillon')
  }
})

test('the index leads to each', async () => {
  expect(await links('examples/README.md')).toEqual(expect.arrayContaining(await exampleFolders()))
})

describe('the commands of the README on a framework: both mails arrive, and Ctrl+C ends the server', () => {
  test.each(['express', 'fastify', 'hono', 'nestjs'])('%s', async (name) => {
    const example = await copyExample(name)
    const terminal = await startExample(example)
    expect(answers(await example.run(example.commands[1] ?? ''))).toMatchObject([
      { status: 'queued', to: 'ada@example.com' },
      { status: 'queued', to: 'bob@example.com' },
    ])
    await arrives(example, 'ada@example.com')
    await arrives(example, 'bob@example.com')

    // What the page of the framework says beside it.
    expect((await example.ask('/notifications/v1/notify', { method: 'POST' }))[0]).toBe(401)
    expect(await example.ask('/dashboard/')).toEqual([200, expect.stringContaining('<!doctype html>')])
    const refused = await example.ask('/welcome?to=mallory', { method: 'POST' })
    expect(refused).toEqual([422, expect.stringMatching(/invalid_email|e-mail address/)])
    if (name === 'nestjs') expect(JSON.parse(refused[1])).toHaveProperty('details.field', 'to')
    expect((await example.ask('/other'))[0]).toBe(404)
    // Nest ends itself by the signal that it got.
    expect(await terminal.interrupt()).toBe(name === 'nestjs' ? 'SIGINT' : 0)
    // Nest itself would log the refusal, and the recipient with it.
    expect(terminal.printed()).not.toMatch(/ERROR|mallory/)
  })
})

test('javascript', async () => {
  const example = await copyExample('javascript')
  expect(await example.run('npm test')).toMatch(/pass 1\n/)
  const terminal = await startExample(example)
  expect(answers(await example.run(example.commands[1] ?? ''))).toMatchObject([
    { status: 'queued', to: 'ada@example.com' },
    { status: 'queued', to: 'bob@example.com' },
  ])
  await arrives(example, 'Welcome, Ada')
  await arrives(example, 'bob@example.com')
  const refused = await example.ask('/sign-up?name=Ada&email=ada', { method: 'POST' })
  expect(refused).toEqual([422, expect.stringContaining('invalid_email')])
  expect((await example.ask('/other'))[0]).toBe(404)
  expect(await terminal.interrupt()).toBe(0)
})

test('saas: another process verifies the events of its customer, who sees nothing of others', async () => {
  const example = await copyExample('saas')
  const [, signUp = '', customer, send = ''] = example.commands
  expect(customer).toBe('WEBHOOK_SECRET=whsec_… npm run customer\n')
  const terminal = await startExample(example)
  const [acme, other] = answers(await example.run(`${signUp}\n${signUp.replace('Acme', 'Bolt')}`))
  const receiver = example.open('customer', { WEBHOOK_SECRET: String(acme?.webhookSecret) })
  await expect.poll(() => example.ask('/events', {}, 4000).catch(() => [])).toEqual([404, expect.anything()])
  expect((await example.ask('/events', { method: 'POST', body: '{}' }, 4000))[0]).toBe(401)

  const [sent] = answers(await example.run(send.replace('crl_…', String(acme?.key))))
  expect(sent).toMatchObject({ status: 'queued', to: 'bob@example.com' })
  await expect.poll(receiver.printed).toMatch(new RegExp(`notification\\.sent .*${sent?.id}`))
  await arrives(example, 'bob@example.com')

  const read = (key: unknown) =>
    example.ask(`/notifications/v1/notifications/${sent?.id}`, {
      headers: { authorization: `Bearer ${key}` },
    })
  expect((await read(acme?.key))[0]).toBe(200)
  expect((await read(other?.key))[0]).toBe(403)
  expect(await receiver.interrupt()).toBe(0)
  expect(await terminal.interrupt()).toBe(0)
})

test('custom-channel: the page is shown, and reported as delivered', async () => {
  const example = await copyExample('custom-channel')
  const terminal = await startExample(example)
  await example.run(example.commands[1] ?? '')
  await expect.poll(terminal.printed).toContain('555-0123: beep beep beep Fire in room 12')
  await expect.poll(() => example.run('npx carillon notifications list')).toContain('delivered')
  expect(await terminal.interrupt()).toBe(0)
})

test('plugin: a reaction stops the next mail', async () => {
  const example = await copyExample('plugin')
  const [, send = '', react = ''] = example.commands
  const terminal = await startExample(example)
  const [sent] = answers(await example.run(`${send}\necho "$KEY" > key`))
  await arrives(example, 'bob@example.com')
  await example.run(`KEY=$(cat key)\n${react.replace('notif_…', String(sent?.id))}`)
  await expect
    .poll(() => example.run('npx carillon notifications list --status skipped'))
    .toMatch(/skipped .*bob@example\.com .*opted_out/)
  expect(await terminal.interrupt()).toBe(0)
})

/** The objects that commands printed one after the other. */
function answers(printed: string): Record<string, unknown>[] {
  return JSON.parse(`[${printed.trim().replaceAll(/\}\s*\{/g, '},{')}]`)
}

async function arrives({ ask }: ExampleFolder, text: string): Promise<void> {
  await expect.poll(async () => (await ask('/mailbox/api/messages'))[1]).toContain(text)
}
