import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Consumer, createConsumer } from './consumer.ts'

let consumer: Consumer

beforeAll(async () => {
  consumer = await createConsumer(['@types/node', 'nodemailer'])
  await consumer.write('package.json', '{ "name": "consumer", "private": true }\n')
  await consumer.write('main.ts', program)
})
afterAll(() => consumer?.remove())

/** One entry point of each kind: the root, a folder, an adapter, a provider. */
const program = `
import { createServer } from 'node:http'
import { createNotifier, isNotifierError, type Notifier } from 'carillon'
import { notifierRouter } from 'carillon/express'
import { smtp } from 'carillon/smtp'
import { recordingProvider } from 'carillon/testing'

async function main(): Promise<void> {
  const channels = { email: smtp({ host: 'localhost', from: 'a@example.com' }), sms: recordingProvider() }
  const notifier: Notifier = createNotifier({ channels })
  await notifier.start()
  try {
    await notifier.send({ channel: 'email', to: 'nobody', body: 'Hi' })
  } catch (error) {
    if (isNotifierError(error)) console.log(typeof require, error.code)
  }
  const router = notifierRouter(notifier)
  createServer((req, res) => router(req, res, () => res.end())).close()
  await notifier.stop()
}

void main()
`

// The default of TypeScript 5 for "commonjs" is the resolution node10, which reads no "exports".
test.each([
  ['typescript5.7', 'commonjs'],
  ['typescript5.9', 'nodenext'],
  ['typescript', 'commonjs'],
  ['typescript7', 'nodenext'],
])('a CommonJS program that %s compiles with module: %s runs', async (compiler, module) => {
  const outDir = `${compiler}-${module}`
  await consumer.compile(['main.ts'], {
    compiler,
    module,
    outDir,
    noEmit: false,
    esModuleInterop: true,
    allowImportingTsExtensions: false,
    verbatimModuleSyntax: false,
    // compilers.release.test.ts checks it.
    skipLibCheck: true,
  })
  expect(await consumer.node(`${outDir}/main.js`)).toBe('function invalid_email\n')
})
