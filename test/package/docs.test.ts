import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'
import { type Consumer, createConsumer } from './consumer.ts'
import { codeBlocks, links } from './markdown.ts'

const files = [
  'README.md',
  'CONTRIBUTING.md',
  ...(await readdir(fromRoot('docs'))).map((name) => `docs/${name}`),
]

let consumer: Consumer

beforeAll(async () => {
  const used = ['@types/node', '@types/express', 'express', 'nodemailer', 'standardwebhooks', 'vitest']
  consumer = await createConsumer(used)
})

afterAll(() => consumer?.remove())

test('the tables that come from the code are up to date', () => {
  const script = fromRoot('scripts/generate-docs.mjs')
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
})

test.each(files)('every relative link of %s leads to a file', async (file) => {
  const dead = (await links(file)).filter((target) => !existsSync(fromRoot(join(dirname(file), target))))
  expect(dead).toEqual([])
})

test('every TypeScript block of the documentation compiles against the built package, alone', async () => {
  const blocks = (await Promise.all(files.map((file) => codeBlocks(file, 'ts')))).flat()
  expect(blocks.length).toBeGreaterThan(8)
  const sources = blocks.map(({ at, code }) => ({ name: `${at.replace(/\W+/g, '-')}.ts`, code }))
  for (const { name, code } of sources) await consumer.write(name, code)
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
    noEmit: true,
    types: ['node'],
  }
  await consumer.write(
    'tsconfig.json',
    JSON.stringify({ compilerOptions, files: sources.map(({ name }) => name) }),
  )
  expect(await consumer.node(fromRoot('node_modules/typescript/bin/tsc'), '-p', '.')).toBe('')
})

test('the examples of testing an application pass', async () => {
  const blocks = await codeBlocks('docs/testing.md', 'ts')
  await consumer.write('application.test.ts', blocks[0]?.code ?? '')
  await consumer.write('time.test.ts', blocks[1]?.code ?? '')
  expect(await consumer.node('--test', 'application.test.ts', 'time.test.ts')).toMatch(/pass 2\n/)
})

test('the channel of the guide answers with the outcomes that its contract asks for', async () => {
  const [block] = await codeBlocks('docs/custom-channel.md', 'ts')
  await consumer.write('acme-sms.ts', block?.code ?? '')
  const code = `
    import { createServer } from 'node:http'
    import { acmeSms } from './acme-sms.ts'
    const server = createServer((request, response) => {
      const status = Number(request.url.slice(1))
      if (status === 0) request.socket.destroy()
      else response.writeHead(status).end(JSON.stringify(status === 200 ? { id: '7' } : { error: 'no' }))
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    for (const status of [200, 0, 400, 401, 429, 500]) {
      const channel = acmeSms({ apiKey: 'k', url: 'http://127.0.0.1:' + server.address().port + '/' + status })
      const message = { to: '+14155550123', subject: null, body: 'Hi', format: 'text' }
      const { kind, scope } = await channel.send(message, { idempotencyKey: 'x', signal: AbortSignal.timeout(5000) })
      console.log(status, kind, scope ?? '')
    }
    server.close()
    server.closeAllConnections()`
  expect((await consumer.node('--input-type=module', '-e', code)).trim().split(/\s*\n/)).toEqual([
    '200 accepted',
    '0 ambiguous',
    '400 rejected recipient',
    '401 rejected account',
    '429 retry account',
    '500 retry provider',
  ])
})

test('the receiver of the guide takes a signed event and refuses another', async () => {
  const block = (await codeBlocks('docs/events.md', 'ts')).find(({ code }) => code.includes('receiver'))
  await consumer.write('receiver.ts', block?.code ?? '')
  const code = `
    import express from 'express'
    import { Webhook } from 'standardwebhooks'
    import { receiver } from './receiver.ts'
    const secret = 'whsec_' + Buffer.alloc(32, 7).toString('base64')
    const app = express()
    app.use(receiver(secret, async (id, { event }) => console.log(id, event)))
    const server = app.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const body = JSON.stringify({ event: 'notification.sent', data: {} })
    const now = new Date()
    for (const signed of [body, 'another body']) {
      const headers = {
        'content-type': 'application/json',
        'webhook-id': 'evt_1_2',
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('evt_1_2', now, signed),
      }
      const url = 'http://127.0.0.1:' + server.address().port + '/events'
      console.log((await fetch(url, { method: 'POST', headers, body })).status)
    }
    server.close()
    server.closeAllConnections()`
  expect(await consumer.node('--input-type=module', '-e', code)).toBe('evt_1_2 notification.sent\n200\n401\n')
})
