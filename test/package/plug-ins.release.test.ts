import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { describeWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { namedBlocks } from './markdown.ts'

/* plug-ins.test.ts runs the contracts of the provider and the limiter on the plug-ins as they are. */

let consumer: Consumer
beforeAll(async () => {
  consumer = await createConsumer(['pg', 'vitest'])
})
afterAll(() => consumer?.remove())

/** Runs a contract on a plug-in with one part replaced, which must fail. */
async function expectBroken(source: string, contract: string, right: string, wrong: string): Promise<void> {
  expect(source).toContain(right)
  await consumer.write('broken.ts', source.replace(right, wrong))
  await consumer.write('broken.test.ts', contract)
  await expect(consumer.node('--test', 'broken.test.ts')).rejects.toThrow(/fail [1-9]/)
}

describe('the provider of the guide', () => {
  let source: string
  let contract: string
  beforeAll(async () => {
    const blocks = await namedBlocks('docs/tasks/custom-provider.md')
    const codeOf = (file: string) => blocks.find(({ name }) => name === file)?.code ?? ''
    source = codeOf('acme-sms.ts')
    contract = codeOf('acme-sms.test.ts')
  })

  test('keeps its contract, run by vitest', async () => {
    await consumer.write('acme-sms.ts', source)
    await consumer.write('acme-sms.vitest.test.ts', contract.replace("'node:test'", "'vitest'"))
    const run = ['run', '--root', '.', 'acme-sms.vitest.test.ts']
    expect(await consumer.node(fromRoot('node_modules/vitest/vitest.mjs'), ...run)).toMatch(/Tests .*passed/)
  })

  test.each([
    ['accepts whatever the provider says', 'answer.status === 201 && id !== undefined', 'answer.status > 0'],
    ['takes a wrong number for another fault', "'invalid_phone_number'", "'invalid_recipient'"],
    ['drops the code of an error', '{ code, message', '{ message'],
    ['shows its key in an outcome', 'secrets: [apiKey]', 'secrets: []'],
    ['makes a new key for each attempt', ': idempotencyKey }', ': crypto.randomUUID() }'],
    ['keeps its connections', 'close: () => http.close()', 'close: () => {}'],
    ['goes on after its time is over', '          signal,\n', ''],
  ])('breaks it when it %s', async (_, right, wrong) => {
    await expectBroken(source, contract.replace('./acme-sms.ts', './broken.ts'), right, wrong)
  })
})

test.each([
  ['takes nothing back', 'kit.refund(record, units, time)', 'void [record, units, time]'],
  ['forgets what it counts', 'JSON.stringify(record)', 'JSON.stringify(kit.newRecord(subjects[index]))'],
  [
    'counts a peek',
    'kit.peek(recordsOf(checks), checks, now())',
    'change(checks, (records, time) => kit.consume(records, checks, time))',
  ],
])('the limiter of the guide breaks its contract when it %s', async (_, right, wrong) => {
  const blocks = new Map(
    (await namedBlocks('docs/tasks/custom-limiter.md')).map(({ name, code }) => [name, code]),
  )
  const contract = blocks.get('file-limiter.test.ts') ?? ''
  const broken = contract.replace('./file-limiter.ts', './broken.ts')
  await expectBroken(blocks.get('file-limiter.ts') ?? '', broken, right, wrong)
})

describeWith(whyNoPostgres(true), 'the queue of the guide', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    vi.stubEnv('TEST_DATABASE_URL', server.url)
  })
  afterAll(async () => {
    vi.unstubAllEnvs()
    await server?.remove()
  })

  test('keeps its contract', async () => {
    for (const { name, code } of await namedBlocks('docs/tasks/custom-queue.md'))
      await consumer.write(name, code)
    const printed = await consumer.node('--test', '--test-reporter=tap', 'table-queue.test.ts')
    expect(Number(/^# pass (\d+)$/m.exec(printed)?.[1])).toBeGreaterThan(13)
    expect(printed).toMatch(/^# fail 0$/m)
  }, 240_000)
})
