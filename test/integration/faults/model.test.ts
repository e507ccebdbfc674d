import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { servedNotifier } from '../../../src/served-notifier.ts'
import { type FakeClock, settled } from '../../../src/testing/fake-clock.ts'
import { mapStorage } from '../../map-storage/index.ts'
import { createState } from '../../map-storage/state.ts'
import { eventually } from '../../support/eventually.ts'
import {
  type Act,
  accept,
  cancel,
  cutShort,
  KEY_MS,
  type Model,
  type ModelNotification,
  newModel,
  pass,
  type Report,
  report,
  reschedule,
  retry,
  statusOf,
} from '../../support/faults/model.ts'
import { type ModelWorld, modelWorld } from '../../support/faults/model-world.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

type Command = fc.AsyncCommand<Model, ModelWorld>

/** A step of both: the model predicts, then everything that can be seen is compared. */
function command(
  name: string,
  run: (model: Model, world: ModelWorld) => Promise<unknown>,
  check: (model: Model) => boolean = () => true,
): Command {
  return {
    check,
    async run(model, world) {
      await run(model, world)
      pass(model, world.clock.now())
      await world.compare(model)
    },
    toString: () => name,
  }
}

interface SendShape {
  readonly to: string
  readonly acts: readonly Act[]
  readonly key: string | null
  readonly high: boolean
  readonly laterMs: number | null
  readonly lifeMs: number | null
}

function inputOf({ to, acts, high, laterMs, lifeMs }: SendShape, now: number) {
  const sendAt = laterMs === null ? null : now + laterMs
  const expiresAt = lifeMs === null ? null : (sendAt ?? now) + lifeMs
  const message = {
    channel: 'email' as const,
    to,
    body: JSON.stringify({ acts }),
    priority: high ? ('high' as const) : ('normal' as const),
    ...(sendAt === null ? {} : { sendAt: new Date(sendAt) }),
    ...(expiresAt === null ? {} : { expiresAt: new Date(expiresAt) }),
  }
  return { message, about: { to, acts, sendAt, expiresAt } }
}

/** Sends with a key carry no times, so that they can be equal. */
const timeless = (shape: SendShape): SendShape => ({ ...shape, laterMs: null, lifeMs: null })

function send(given: SendShape): Command {
  const shape = given.key === null ? given : timeless(given)
  return command(`send ${JSON.stringify(shape)}`, async (model, { notifier, ids, clock }) => {
    const { message, about } = inputOf(shape, clock.now())
    const idempotencyKey = shape.key ?? undefined
    const sending = notifier.send(message, { idempotencyKey })
    const body = JSON.stringify(message)
    const known = shape.key === null ? undefined : model.keys.get(shape.key)
    if (known !== undefined && known.until > model.now) {
      const one = model.notifications[known.index]
      if (known.body === body && one !== undefined) {
        const now = { id: ids[known.index], status: statusOf(one), replayed: true }
        await expect(sending).resolves.toMatchObject(now)
      } else await expect(sending).rejects.toMatchObject({ code: 'idempotency_key_reused' })
      return
    }
    if (model.suppressed.has(shape.to)) {
      await expect(sending).rejects.toMatchObject({ code: 'blocked_recipient' })
      return
    }
    const { id } = await sending
    accept(model, about)
    ids.push(id)
    if (shape.key !== null) {
      model.keys.set(shape.key, { body, index: ids.length - 1, until: model.now + KEY_MS })
    }
  })
}

type Death = 'after:accept' | 'provider' | 'before:settle' | 'after:settle'

/** Sends, and dies over it; the same is sent again with its key. */
function sendAndDie(given: SendShape, death: Death): Command {
  const shape = timeless(given)
  return command(
    `die ${death} over ${JSON.stringify(shape)}`,
    async (model, world) => {
      const { message, about } = inputOf(shape, world.clock.now())
      const idempotencyKey = `death-${world.ids.length}`
      const cut = death === 'provider' ? world.hangOnce() : (await world.dieAt(death)).over
      const sending = world.notifier.send(message, { idempotencyKey })
      sending.catch(() => {})
      await ended(cut)
      world.die()
      const one = accept(model, about)
      if (death === 'provider' || death === 'before:settle') cutShort(model, one)
      await world.rise()
      const again = await world.notifier.send(message, { idempotencyKey })
      expect(again.replayed).toBe(true)
      world.ids.push(again.id)
      expect(world.handOvers(again.id)).toBe(1)
    },
    (model) => !model.suppressed.has(shape.to),
  )
}

async function ended(cut: Promise<unknown>): Promise<void> {
  let over = false
  void cut.then(() => {
    over = true
  })
  await eventually(async () => {
    await settled()
    return over
  })
}

/** Picks one of those that there are. */
function about(
  name: string,
  index: number,
  run: (model: Model, world: ModelWorld, one: ModelNotification, id: string) => Promise<unknown>,
  check: (one: ModelNotification) => boolean = () => true,
): Command {
  const place = (model: Model): number => index % model.notifications.length
  return command(
    `${name} of ${index}`,
    async (model, world) => {
      const one = model.notifications[place(model)]
      const id = world.ids[place(model)]
      if (one !== undefined && id !== undefined) await run(model, world, one, id)
    },
    (model) => {
      const one = model.notifications[place(model)]
      return one !== undefined && check(one)
    },
  )
}

const cancelOne = (index: number): Command =>
  about('cancel', index, async (_model, { notifier }, one, id) => {
    const cancelling = notifier.notifications.cancel(id)
    if (cancel(one)) await cancelling
    else await expect(cancelling).rejects.toMatchObject({ code: 'not_cancellable' })
  })

const rescheduleOne = (index: number, inMs: number | null): Command =>
  about(`reschedule by ${inMs}`, index, async (model, { notifier, clock }, one, id) => {
    const sendAt = inMs === null ? null : clock.now() + inMs
    const given = sendAt === null ? null : new Date(sendAt)
    const rescheduling = notifier.notifications.reschedule(id, { sendAt: given })
    const code = reschedule(model, one, sendAt)
    if (code === null) await rescheduling
    else await expect(rescheduling).rejects.toMatchObject({ code })
  })

/** A report that came early is kept for a day only: not to be waited for. */
const noneWaits = (one: ModelNotification): boolean =>
  one.early.every(({ message }) => Number(message) <= one.attempts)

const retryOne = (index: number): Command =>
  about(
    'retry',
    index,
    async (model, { notifier }, one, id) => {
      const retrying = notifier.notifications.retry(id)
      if (retry(model, one)) await retrying
      else await expect(retrying).rejects.toMatchObject({ code: 'not_retryable' })
    },
    noneWaits,
  )

const retryAll = command(
  'retry all',
  async (model, { notifier }) => {
    const count = model.notifications.filter((one) => retry(model, one)).length
    expect((await notifier.deadLetters.retry({ filter: {} })).retried).toBe(count)
  },
  ({ notifications }) => notifications.every(noneWaits),
)

interface ReportShape {
  readonly index: number
  readonly type: Report
  readonly later: number
  readonly named: boolean
  readonly times: number
}

/** Reports about one of its messages, `later` than the last one: so also about one that is still to be sent. */
function reportOne({ index, type, later, named, times }: ReportShape): Command {
  return about(
    `${times} × ${type} ${named ? 'named' : 'unnamed'} ${later}`,
    index,
    async (model, { notifier }, one, id) => {
      const number = Math.max(1, one.attempts + later)
      const early = number > one.attempts && one.dueAt === null
      const message = String(early ? Math.max(1, one.attempts) : number)
      // What matched nothing is forgotten after a day, with its key: not to be named then.
      const key = `${id} ${message} ${type} ${named}`
      const fact = { type, providerMessageId: `${id}.${message}` }
      const receipt = { dedupeKey: key, fact, ...(named ? { notificationId: id } : {}) }
      const body = new TextEncoder().encode(JSON.stringify(Array.from({ length: times }, () => receipt)))
      const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body }
      report(model, one, { type, message, key, named })
      await servedNotifier(notifier).receipts.take({ channel: 'email', provider: 'recorder' }, arrival)
    },
    (one) => one.attempts > 0 || one.dueAt !== null,
  )
}

const advance = (ms: number): Command =>
  command(`advance ${ms}`, async (model, { clock }) => {
    pass(model, clock.now() + ms)
    await clock.advance(ms)
  })

const restart = command('restart', (_model, world) => world.restart())

const crash = command('crash', async (_model, world) => {
  world.die()
  await world.rise()
})

const suppress = (to: string, on: boolean): Command =>
  command(
    `${on ? 'suppress' : 'allow'} ${to}`,
    async ({ suppressed }, { notifier }) => {
      if (on) {
        suppressed.add(to)
        await notifier.suppressions.add({ channel: 'email', to, reason: 'manual' } as never)
      } else {
        suppressed.delete(to)
        await notifier.suppressions.remove({ channel: 'email', to })
      }
    },
    ({ suppressed }) => suppressed.has(to) !== on,
  )

const to = fc.constantFrom('ada@example.com', 'bob@example.com', 'eve@example.com')
const act = fc.constantFrom<Act>('accept', 'accept', 'deliver', 'reject', 'retry', 'ambiguous')
const shape: fc.Arbitrary<SendShape> = fc.record({
  to,
  acts: fc.array(act, { minLength: 1, maxLength: 4 }),
  key: fc.constantFrom(null, null, 'k1', 'k2'),
  high: fc.boolean(),
  laterMs: fc.constantFrom(null, null, 500, 30_000, 7_200_000),
  lifeMs: fc.constantFrom(null, null, 700, 40_000),
})
const index = fc.nat({ max: 30 })
const newTime = fc.constantFrom(null, -60_000, 400, 45_000, 3_600_000)
const reportShape: fc.Arbitrary<ReportShape> = fc.record({
  index,
  type: fc.constantFrom<Report>('delivered', 'bounced', 'opened', 'clicked', 'deferred', 'complained'),
  later: fc.constantFrom(-1, 0, 0, 0, 1),
  named: fc.boolean(),
  times: fc.constantFrom(1, 1, 3),
})
const deaths = fc.constantFrom<Death>('after:accept', 'provider', 'before:settle', 'after:settle')

const commands = fc.commands(
  [
    shape.map(send),
    shape.map(send),
    shape.map(send),
    fc.tuple(shape, deaths).map(([one, death]) => sendAndDie(one, death)),
    index.map(cancelOne),
    fc.tuple(index, newTime).map(([one, inMs]) => rescheduleOne(one, inMs)),
    fc.tuple(index, newTime).map(([one, inMs]) => rescheduleOne(one, inMs)),
    index.map(retryOne),
    fc.constant(retryAll),
    reportShape.map(reportOne),
    reportShape.map(reportOne),
    fc.constantFrom(1_000, 61_000, 7_201_003, 90_000_001).map(advance),
    fc.constantFrom(1_000, 61_000).map(advance),
    fc.constant(restart),
    fc.constant(crash),
    fc.tuple(to, fc.boolean()).map(([address, on]) => suppress(address, on)),
  ],
  { maxCommands: 30 },
)

const directory = temporaryDirectory()
let databases = 0

/** Each opens the same place as often as it is asked. */
const STORAGES: readonly (readonly [string, number, () => (clock: FakeClock) => Storage])[] = [
  [
    'the reference',
    80,
    () => {
      let only: Storage | undefined
      return (clock) => {
        only ??= mapStorage(createState(clock))
        return only
      }
    },
  ],
  [
    'SQLite',
    20,
    () => {
      databases += 1
      const file = join(directory, `${databases}.db`)
      return (clock) => sqlite({ file, synchronous: 'normal', clock })
    },
  ],
]

it.each(STORAGES)(
  'the service on %s does what the model says, whatever happens in whatever order',
  async (_name, numRuns, create) => {
    await fc.assert(
      fc.asyncProperty(commands, async (steps) => {
        const world = await modelWorld(create())
        try {
          const model = newModel(world.clock.now())
          await fc.asyncModelRun(() => ({ model, real: world }), steps)
          // Whatever still waits comes to its end.
          pass(model, world.clock.now() + 8_000_000)
          await world.clock.advance(8_000_000)
          await world.compare(model)
          for (const one of model.notifications) expect(statusOf(one)).not.toMatch(/queued|scheduled/)
        } finally {
          await world.close()
        }
      }),
      { numRuns: Number(process.env.CARILLON_MODEL_RUNS ?? numRuns), endOnFailure: false },
    )
  },
  240_000,
)
