import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SendInput } from '../../../../src/core/accept/input.ts'
import { standardMessage } from '../../../../src/core/errors/catalogue.ts'
import { nearestName } from '../../../../src/core/input/nearest-name.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { replayOf } from '../../../support/replay-of.ts'

/** Each call is counted. */
vi.mock('../../../../src/core/input/nearest-name.ts', { spy: true })
beforeEach(() => {
  vi.mocked(nearestName).mockClear()
})

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const SIZE = 10_000

async function start(options: Partial<NotifierOptions> = {}) {
  const notifier = createNotifier({ channels: { email: recordingProvider() }, ...options })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  return notifier
}

describe('a batch of ten thousand refused messages', () => {
  it('is answered with 64 KiB of messages and details, then with codes, and replayed with codes', async () => {
    const notifier = await start()
    const wrong = Array.from({ length: SIZE - 1 }, () => ({ ...mail, to: `${'é'.repeat(300)}@b.co` }))
    const send = () => notifier.sendBatch([mail, ...wrong], { idempotencyKey: 'k' })
    const first = await send()
    expect(first).toMatchObject({ accepted: 1, rejected: SIZE - 1 })
    const errors = first.items.flatMap((item) => ('error' in item ? [item.error] : []))
    const standard = { code: 'invalid_email', message: standardMessage('invalid_email') }
    const whole = errors.findIndex(({ details }) => details === undefined)
    expect(
      Buffer.byteLength(
        errors
          .slice(0, whole)
          .map((error) => JSON.stringify(error))
          .join(''),
      ),
    ).toBeLessThan(65_536)
    expect(whole).toBeGreaterThan(50)
    expect(errors[0]).not.toEqual(standard)
    expect(errors.slice(whole)).toEqual(errors.slice(whole).map(() => standard))
    expect(await send()).toEqual(replayOf(first))
  })

  it('compares the unknown categories of a hundred with the known ones', async () => {
    const names = Array.from({ length: 85 }, (_, nth) => `cat-${nth}-`.padEnd(48, 'x'))
    const notifier = await start({ categories: Object.fromEntries(names.map((name) => [name, { name }])) })
    const messages = Array.from({ length: SIZE }, (_, nth) => ({ ...mail, category: `cat-${nth}` }))
    const { items } = await notifier.sendBatch(messages)
    expect(vi.mocked(nearestName)).toHaveBeenCalledTimes(100)
    expect(items[0]).toMatchObject({ error: { message: expect.stringContaining('Known: ') } })
    expect(items.at(-1)).toMatchObject({
      error: { code: 'unknown_category', message: standardMessage('unknown_category') },
    })
  })

  it('compares each misspelt field once', async () => {
    const notifier = await start()
    const messages = Array.from({ length: SIZE }, () => ({ ...mail, catgory: 'x' }) as SendInput)
    const { rejected } = await notifier.sendBatch(messages, { strict: false })
    expect(rejected).toBe(SIZE)
    expect(vi.mocked(nearestName)).toHaveBeenCalledTimes(SIZE)
  })
})

describe('a misspelt name', () => {
  it('is not compared with names that are longer or shorter by more than two characters', () => {
    let compared = 0
    class Counted extends String {
      override toLowerCase(): string {
        compared += 1
        return super.toLowerCase()
      }
    }
    const near = new Counted('category')
    const known = [...Array.from({ length: 85 }, (_, nth) => new Counted('x'.repeat(11 + nth))), near]
    expect(nearestName('catgory', known as unknown as readonly string[])).toBe(near)
    expect(compared).toBe(1)
  })
})
