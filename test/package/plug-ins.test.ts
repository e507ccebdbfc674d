import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../examples/servers/postgres.ts'
import { describeWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { type Consumer, createConsumer } from './consumer.ts'
import { namedBlocks } from './markdown.ts'

/* The plug-ins of the guides, written with the package alone, keep their contracts. docs.test.ts compiles them. */

let consumer: Consumer
const sources = new Map<string, string>()

beforeAll(async () => {
  consumer = await createConsumer(['pg'])
  for (const guide of ['docs/custom-limiter.md', 'docs/custom-queue.md']) {
    for (const { name, code } of await namedBlocks(guide)) sources.set(name, code)
  }
  for (const [name, code] of sources) await consumer.write(name, code)
})

afterAll(() => consumer?.remove())

/** Runs a contract with node:test, and returns how many checks passed. */
async function passed(file: string): Promise<number> {
  const printed = await consumer.node('--test', '--test-reporter=tap', file)
  expect(printed).toMatch(/^# fail 0$/m)
  return Number(/^# pass (\d+)$/m.exec(printed)?.[1])
}

describe('the limiter of the guide', () => {
  test('keeps its contract with 65 lines', async () => {
    expect((sources.get('file-limiter.ts') ?? '').trimEnd().split('\n').length).toBeLessThanOrEqual(65)
    expect(await passed('file-limiter.test.ts')).toBeGreaterThan(30)
  })

  test.each([
    ['takes nothing back', 'kit.refund(record, units, time)', 'void [record, units, time]'],
    ['forgets what it counts', 'JSON.stringify(record)', 'JSON.stringify(kit.newRecord(subjects[index]))'],
    ['counts a peek', 'kit.peek(', 'kit.consume('],
  ])('breaks it when it %s', async (_, right, wrong) => {
    const source = sources.get('file-limiter.ts') ?? ''
    expect(source).toContain(right)
    await consumer.write('broken.ts', source.replace(right, wrong))
    const contract = sources.get('file-limiter.test.ts') ?? ''
    await consumer.write('broken.test.ts', contract.replace('./file-limiter.ts', './broken.ts'))
    await expect(passed('broken.test.ts')).rejects.toThrow(/^# fail [1-9]/m)
  })
})

describeWith(whyNoPostgres(true), 'the queue of the guide', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
    process.env.TEST_DATABASE_URL = server.url
  })
  afterAll(async () => {
    delete process.env.TEST_DATABASE_URL
    await server?.remove()
  })

  test('keeps its contract', async () => {
    expect(await passed('table-queue.test.ts')).toBeGreaterThan(13)
  }, 240_000)
})
