import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { countLosses } from '../../examples/production/losses.ts'
import { redisProgram } from '../../examples/servers/redis.ts'
import { fromRoot } from '../../scripts/entries.mjs'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'

/** All temporary files of the example. */
let folder: string
/** In the environment of every process that it starts. */
let mark: string

beforeAll(() => {
  if (!existsSync(fromRoot('dist')))
    throw new Error('The example uses the built package: npm run build comes first')
  folder = mkdtempSync(join(tmpdir(), 'carillon-production-'))
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o755)
})
beforeEach(() => {
  mark = randomUUID()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function launch(...args: string[]): { readonly child: ChildProcess; printed(): string } {
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    NODE_OPTIONS: '',
    TMPDIR: folder,
    CARILLON_MARK: mark,
  }
  delete environment.POSTGRES_URL
  delete environment.REDIS_URL
  const child = spawn(process.execPath, [fromRoot('examples/production/main.ts'), ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGTERM'))
  let text = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
    })
  }
  return { child, printed: () => text }
}

/** The names of what still runs of the example; nothing where the system does not tell. */
function left(): string[] {
  if (!existsSync('/proc/self/environ')) return []
  return readdirSync('/proc').flatMap((pid) => {
    try {
      // A server may write its title over its environment; it works in its folder.
      const ours =
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark) ||
        readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)
      return ours ? [readFileSync(`/proc/${pid}/comm`, 'utf8').trim()] : []
    } catch {
      return []
    }
  })
}

async function expectNothingLeft(): Promise<void> {
  await eventually(() => left().length === 0)
  expect(readdirSync(folder)).toEqual([])
}

const counts = (printed: string): Record<string, number> =>
  Object.fromEntries(
    [...printed.matchAll(/^([a-z]+) +(\d+) {2}/gm)].map(([, label, count]) => [label, Number(count)]),
  )

const missing = whyNoPostgres(true) ?? (redisProgram === undefined ? 'no redis-server on the PATH' : null)

test('its report tells what is lost, repeated for a reason, repeated without one, and stored twice', async () => {
  const arrivals = { a: 1, b: 3, c: 2, stranger: 1 }
  const marked = async (id: string) => ({ timeline: id === 'b' ? [{ ambiguous: true }] : [] }) as never
  expect(await countLosses({ accepted: new Set(['a', 'b', 'c', 'd']) }, arrivals, marked)).toEqual({
    accepted: 4,
    delivered: 3,
    lost: ['d'],
    ambiguous: 1,
    duplicates: 2,
    unknown: 1,
  })
})

describeWith(missing, 'two API processes and two workers', () => {
  test('lose nothing while they, PostgreSQL and Redis are killed, nor when they are restarted', async () => {
    const { child, printed } = launch('--seconds', '8', '--rate', '50', '--servers')
    expect(await once(child, 'close'), printed()).toEqual([0, null])
    const { accepted, delivered, ...others } = counts(printed())
    expect(accepted).toBeGreaterThan(100)
    expect(delivered).toBe(accepted)
    expect(others).toEqual({
      ambiguous: expect.any(Number),
      duplicates: 0,
      lost: 0,
      unknown: 0,
      refused: 0,
      restarts: 0,
    })
    for (const name of ['api', 'worker', 'PostgreSQL', 'Redis'])
      expect(printed()).toMatch(new RegExp(`killed: .*${name} \\d`))
    await expectNothingLeft()
  }, 300_000)

  test('end at Ctrl-C with a report on what there was, and leave nothing behind', async () => {
    const { child, printed } = launch('--seconds', '600', '--rate', '50')
    await eventually(() => /accepted [1-9]/.test(printed()))
    expect(left().length).toBeGreaterThan(5)
    child.kill('SIGINT')
    expect(await once(child, 'close'), printed()).toEqual([0, null])
    expect(counts(printed())).toMatchObject({ duplicates: 0, lost: 0, unknown: 0, refused: 0 })
    await expectNothingLeft()
  }, 300_000)

  test.each([
    ['while PostgreSQL starts', ['postgres'], /^/],
    ['under load', ['postgres', basename(redisProgram ?? '')], /accepted [1-9]/],
  ])(
    'leave nothing behind when their parent is killed %s',
    async (_, names, said) => {
      const { child, printed } = launch('--seconds', '600', '--rate', '50')
      await eventually(() => said.test(printed()) && names.every((name) => left().includes(name)))
      child.kill('SIGKILL')
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL'])
      await expectNothingLeft()
    },
    120_000,
  )

  test('a mistake in the options is one message that says how it is used', async () => {
    const { child, printed } = launch('--seconds', '3x')
    expect(await once(child, 'close')).toEqual([1, null])
    expect(printed()).toMatch(/--seconds[\s\S]*npm run example:production -- \[options\]/)
  })
})
