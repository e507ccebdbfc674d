import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sqlite } from '../../../../adapters/storage/sqlite/index.ts'
import { createNotifier, defineChannel } from '../../../../src/index.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { temporaryDirectory } from '../../../support/temporary-directory.ts'

const directory = temporaryDirectory()
const BATCH = 10_000

/** Counts turns of the event loop until it is stopped. */
function countTurns(): () => number {
  let turns = 0
  let next: NodeJS.Immediate
  function turn(): void {
    turns += 1
    next = setImmediate(turn)
  }
  next = setImmediate(turn)
  return () => {
    clearImmediate(next)
    return turns
  }
}

it('lets others have their turn while a large batch is validated, and its recipients are looked up', async () => {
  const notifier = createNotifier({
    // Nothing is awaited of the disk: a turn is one that was let.
    storage: sqlite({ file: join(directory, 'notifier.db'), synchronous: 'normal' }),
    channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
  try {
    await notifier.suppressions.add({ channel: 'email', to: 'nobody@example.com' })
    const messages = Array.from({ length: BATCH }, (_, index) => ({
      channel: 'email' as const,
      to: `customer-${index}@example.com`,
      body: 'Hello',
    }))
    const stop = countTurns()
    const { accepted } = await notifier.sendBatch(messages)
    // Two steps for 500 messages, of which a fast machine takes several in one turn.
    expect(stop()).toBeGreaterThan(BATCH / 500)
    expect(accepted).toBe(BATCH)
  } finally {
    await notifier.stop()
  }
})

it('lets others have their turn while texts that may be too large are rendered', async () => {
  const notifier = createNotifier({ channels: { email: recordingProvider() } })
  await notifier.start({ deliver: false })
  try {
    // Names that go deep take longest.
    const body = `{{#a}}${'{{v.v.v.v.v.v.v.v.v.v.v.v}}'.repeat(1_000)}{{/a}}`
    await notifier.templates.create({ name: 'large', channel: 'email', body })
    const a = Array.from({ length: 20 }, () => 1)
    let v: unknown = 1
    for (let depth = 0; depth < 12; depth += 1) v = { v }
    const message = { to: 'ada@example.com', template: 'large', variables: { a, v, b: [...a, ...a, ...a] } }
    const stop = countTurns()
    const { accepted } = await notifier.sendBatch(Array.from({ length: 40 }, () => message))
    expect(stop()).toBeGreaterThan(5)
    expect(accepted).toBe(40)
  } finally {
    await notifier.stop()
  }
})

it('validates the batches of one organization in one share of a turn together, and those of another in their own', async () => {
  let now = 0
  const judged: string[] = []
  const kind = defineChannel({
    name: 'slow',
    recipient: 'a name',
    // Validating a message takes a millisecond.
    checkRecipient(to) {
      now += 1
      judged.push(to)
      return null
    },
  })
  const notifier = createNotifier({
    clock: { ...fakeClock(), monotonic: () => now },
    channels: { slow: { kind, name: 'none', send: async () => ({ kind: 'accepted' }) } },
  })
  await notifier.start({ deliver: false })
  const { id } = await notifier.organizations.create({ name: 'Other', plan: 'enterprise' })
  const batchOf = (to: string) =>
    Array.from({ length: 40 }, () => ({ channel: 'slow' as const, to, body: 'x' }))
  const inTurns: number[] = []
  let before = 0
  let next = setImmediate(function turn() {
    inTurns.push(judged.length - before)
    before = judged.length
    next = setImmediate(turn)
  })
  try {
    const many = Array.from({ length: 5 }, () => notifier.sendBatch(batchOf('many')))
    const one = notifier.organization(id).sendBatch(batchOf('one'))
    for (const { accepted } of await Promise.all([...many, one])) expect(accepted).toBe(40)
    // Two milliseconds of work, whatever the number of batches.
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(3)
    // It waits for one message of the others before each of its own.
    expect(judged.lastIndexOf('one')).toBeLessThan(100)
  } finally {
    clearImmediate(next)
    await notifier.stop()
  }
})
