import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { NotifierError } from '../../../../src/core/errors/notifier-error.ts'
import type { AnyFeature } from '../../../../src/core/feature.ts'
import { type Asked, GO, type Judge, type Verdict } from '../../../../src/core/gate/verdict.ts'
import { suppressionError } from '../../../../src/core/notification/suppression.ts'
import type { Storage } from '../../../../src/core/ports/storage/storage.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const { said } = vi.hoisted(() => ({ said: { of: (_: Asked): Verdict => ({ kind: 'go' }) } }))

/** A feature that judges as the test says. */
vi.mock('../../../../src/features/index.ts', async (original) => {
  const { FEATURES } = await original<{ readonly FEATURES: readonly AnyFeature[] }>()
  const judge: Judge = (asked) => asked.map((one) => said.of(one))
  const quiet: AnyFeature = { name: 'quiet', create: () => ({ api: {}, judge }) }
  return { FEATURES: [...FEATURES, quiet] }
})

const MINUTE = 60_000
const NIGHT = 'It is night there.'
const REFUSE: Verdict = { kind: 'refuse', error: suppressionError('manual') }
const SKIP: Verdict = { kind: 'skip', decidedBy: 'test', message: 'Not wanted.' }

function unknown(): never {
  throw new NotifierError('service_unavailable')
}

async function start() {
  const world = notifierWorld()
  const email = recordingProvider()
  const notifier = await world.start({ channels: { email } })
  said.of = () => GO
  const iso = (time: number) => new Date(time).toISOString()
  return {
    ...world,
    email,
    notifier,
    iso,
    at: (minutes: number) => new Date(world.clock.now() + minutes * MINUTE),
    waitUntil(until: number) {
      said.of = () => ({ kind: 'wait', until, reason: NIGHT })
    },
    get: (id: string) => notifier.notifications.get(id),
  }
}

describe('a message that must wait', () => {
  it('waits from the accept to the millisecond, and says why', async () => {
    const { notifier, clock, email, waitUntil, iso, get, ended } = await start()
    const until = clock.now() + 10 * MINUTE
    waitUntil(until)
    const { id, status } = await notifier.send(mail)
    expect(status).toBe('queued')
    expect(await get(id)).toMatchObject({
      status: 'queued',
      sendAt: null,
      waiting: { reason: 'delayed', until: iso(until), code: null, message: NIGHT },
      timeline: [{ event: 'queued' }],
    })
    await clock.advance(10 * MINUTE - 1)
    expect(email.calls).toHaveLength(0)
    await clock.advance(1)
    expect(await ended(notifier, id)).toBe('sent')
    expect((await get(id)).waiting).toBeNull()
    expect(email.calls.map(({ context }) => context.attempt)).toEqual([1])
  })

  it('waits before an attempt, which costs none, and the history says why', async () => {
    const { notifier, clock, email, waitUntil, iso, at, get, ended, history } = await start()
    const { id } = await notifier.send({ ...mail, sendAt: at(1) })
    const until = clock.now() + 10 * MINUTE
    waitUntil(until)
    await clock.advance(MINUTE)
    expect(await get(id)).toMatchObject({
      status: 'scheduled',
      waiting: { reason: 'delayed', until: iso(until), message: NIGHT },
      timeline: [{ event: 'scheduled' }, { event: 'delayed', message: NIGHT, error: null, attempt: null }],
    })
    await clock.advance(9 * MINUTE - 1)
    expect(email.calls).toHaveLength(0)
    await clock.advance(1)
    expect(await ended(notifier, id)).toBe('sent')
    expect(email.calls.map(({ context }) => context.attempt)).toEqual([1])
    expect(await history(notifier, id)).toEqual(['scheduled', 'delayed', 'sent'])
  })

  it('waits for the later of its own time and the verdict', async () => {
    const { notifier, clock, waitUntil, iso, at, get } = await start()
    waitUntil(clock.now() + 5 * MINUTE)
    const early = await notifier.send({ ...mail, sendAt: at(2) })
    const late = await notifier.send({ ...mail, sendAt: at(9) })
    expect(early.status).toBe('scheduled')
    const [delayedTo, scheduledFor] = [iso(clock.now() + 5 * MINUTE), at(9).toISOString()]
    expect((await get(early.id)).waiting).toMatchObject({ reason: 'delayed', until: delayedTo })
    expect((await get(late.id)).waiting).toMatchObject({ reason: 'scheduled', until: scheduledFor })
  })

  it('has nothing more in its history where clocks differ by less than a second', async () => {
    const clock = fakeClock()
    const ahead = inMemory({ now: () => clock.now() + 200 })
    const { start, ended, history } = notifierWorld({ clock, storage: ahead })
    const email = recordingProvider()
    const notifier = await start({ channels: { email } })
    const until = clock.now() + 10 * MINUTE
    said.of = () => ({ kind: 'wait', until, reason: NIGHT })
    const { id } = await notifier.send(mail)
    await clock.advance(10 * MINUTE - 1)
    expect(email.calls).toEqual([])
    expect(await ended(notifier, id)).toBe('sent')
    expect(clock.now()).toBe(until)
    expect(await history(notifier, id)).toEqual(['queued', 'sent'])
  })

  it('is judged at most ten times a second, whatever its judge says, and its history does not grow', async () => {
    const { notifier, clock, email, get } = await start()
    let judged = 0
    said.of = () => {
      judged += 1
      return { kind: 'wait', until: clock.now() + 1, reason: NIGHT }
    }
    const { id } = await notifier.send(mail)
    await clock.advance(10_000)
    expect(judged).toBeGreaterThan(50)
    expect(judged).toBeLessThanOrEqual(102)
    expect((await get(id)).timeline).toHaveLength(1)
    expect(email.calls).toEqual([])
  })

  it.each([0, -1, -MINUTE])('goes at once if the time is past: %d ms from now', async (ms) => {
    const { notifier, clock, waitUntil, ended, history } = await start()
    waitUntil(clock.now() + ms)
    const { id } = await notifier.send(mail)
    expect(await ended(notifier, id)).toBe('sent')
    expect(await history(notifier, id)).toEqual(['queued', 'sent'])
  })

  it.each(['at the accept', 'before an attempt'])(
    'ends as expired if it may not wait so long: %s',
    async (when) => {
      const { notifier, clock, email, waitUntil, iso, at, get, ended } = await start()
      const early = when === 'at the accept'
      if (early) waitUntil(clock.now() + 60 * MINUTE)
      const expiresAt = at(10)
      const { id } = await notifier.send({ ...mail, expiresAt, ...(early ? {} : { sendAt: at(1) }) })
      waitUntil(clock.now() + 60 * MINUTE)
      await clock.advance(2 * MINUTE)
      expect((await get(id)).waiting).toMatchObject({ reason: 'delayed', until: iso(expiresAt.getTime()) })
      await clock.advance(8 * MINUTE)
      expect(await ended(notifier, id)).toBe('failed')
      expect((await get(id)).error?.code).toBe('expired')
      expect(email.calls).toEqual([])
    },
  )

  it.each(['at the accept', 'before an attempt'])('can be cancelled, delayed %s', async (when) => {
    const { notifier, clock, email, waitUntil, at } = await start()
    const early = when === 'at the accept'
    if (early) waitUntil(clock.now() + 10 * MINUTE)
    const { id } = await notifier.send(early ? mail : { ...mail, sendAt: at(1) })
    waitUntil(clock.now() + 10 * MINUTE)
    await clock.advance(2 * MINUTE)
    expect(await notifier.notifications.cancel(id)).toMatchObject({ status: 'cancelled', waiting: null })
    said.of = () => GO
    await clock.advance(20 * MINUTE)
    expect(email.calls).toEqual([])
  })

  it.each(['at the accept', 'before an attempt'])('can get another time, delayed %s', async (when) => {
    const { notifier, clock, waitUntil, at, get, ended, iso } = await start()
    const early = when === 'at the accept'
    if (early) waitUntil(clock.now() + 10 * MINUTE)
    const { id } = await notifier.send({ ...mail, sendAt: at(1) })
    waitUntil(clock.now() + 10 * MINUTE)
    await clock.advance(2 * MINUTE)
    const sendAt = at(30)
    await notifier.notifications.reschedule(id, { sendAt })
    expect((await get(id)).waiting).toEqual({
      reason: 'scheduled',
      until: iso(sendAt.getTime()),
      code: null,
      message: null,
    })
    await notifier.notifications.reschedule(id, { sendAt: null })
    await clock.advance(0)
    // The gate decides over an earlier time, too.
    expect((await get(id)).waiting).toMatchObject({ reason: 'delayed' })
    await clock.advance(10 * MINUTE)
    expect(await ended(notifier, id)).toBe('sent')
  })

  it('waits before another attempt, and then goes on where it was', async () => {
    const { notifier, clock, email, waitUntil, get, ended, history } = await start()
    email.behave(() => ({ kind: 'retry', code: 'provider_error', scope: 'message' }))
    const { id } = await notifier.send(mail)
    await clock.advance(0)
    expect(email.calls).toHaveLength(1)
    waitUntil(clock.now() + 60 * MINUTE)
    await clock.advance(30 * MINUTE)
    expect(await get(id)).toMatchObject({
      status: 'queued',
      error: { code: 'provider_error' },
      waiting: { reason: 'delayed', message: NIGHT },
    })
    email.behave(() => ({ kind: 'accepted', providerMessageId: 'm' }))
    expect(await ended(notifier, id)).toBe('sent')
    expect(email.calls.map(({ context }) => context.attempt)).toEqual([1, 2])
    expect(await history(notifier, id)).toEqual([
      'queued',
      'attempt_failed: provider_error',
      'delayed',
      'sent',
    ])
  })

  it.each([
    ['must wait', () => ({ kind: 'wait', until: Date.UTC(2026, 1, 1), reason: NIGHT }) as const, 'delayed'],
    ['is refused', () => REFUSE, 'failed: blocked_recipient'],
    ['is not wanted', () => SKIP, 'skipped: opted_out'],
    ['may go', () => GO, 'sent'],
  ])('is judged anew when it is tried again after it has failed, and %s', async (_what, verdict, then) => {
    const { notifier, clock, email, ended, get, history } = await start()
    email.behave(() => ({ kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }))
    const { id } = await notifier.send(mail)
    expect(await ended(notifier, id)).toBe('failed')
    email.behave(() => ({ kind: 'accepted', providerMessageId: 'm' }))
    said.of = verdict
    await notifier.notifications.retry(id)
    await clock.advance(MINUTE)
    const before = ['queued', 'failed: mailbox_full', 'retried']
    expect(await history(notifier, id)).toEqual([...before, then])
    if (then !== 'delayed') return
    expect(await get(id)).toMatchObject({ status: 'queued', waiting: { reason: 'delayed', message: NIGHT } })
    expect(await ended(notifier, id)).toBe('sent')
  })

  it('is what an idempotent repetition answers, for which no judge is asked', async () => {
    const { notifier, clock, waitUntil, get } = await start()
    waitUntil(clock.now() + 10 * MINUTE)
    const first = await notifier.send(mail, { idempotencyKey: 'k' })
    said.of = () => REFUSE
    const again = await notifier.send(mail, { idempotencyKey: 'k' })
    expect(again).toEqual({ ...first, replayed: true })
    expect((await get(first.id)).waiting?.reason).toBe('delayed')
    expect((await notifier.notifications.list()).items).toHaveLength(1)
  })

  it('is not known to a resend of it, which is judged anew', async () => {
    const { notifier, storage, clock, waitUntil, get, ended } = await start()
    waitUntil(clock.now() + 10 * MINUTE)
    const { id } = await notifier.send(mail)
    said.of = () => GO
    const again = await notifier.notifications.resend(id)
    expect((await storage.notifications.get(again.id))?.content).toEqual({ body: mail.body })
    expect(await ended(notifier, again.id)).toBe('sent')
    waitUntil(clock.now() + 20 * MINUTE)
    const third = await notifier.notifications.resend(id)
    expect((await get(third.id)).waiting).toMatchObject({ reason: 'delayed', message: NIGHT })
    said.of = () => REFUSE
    await expect(notifier.notifications.resend(id)).rejects.toMatchObject({ code: 'blocked_recipient' })
    said.of = () => SKIP
    const fourth = await notifier.notifications.resend(id)
    expect(await ended(notifier, fourth.id)).toBe('skipped')
  })

  it('is valid, as is one that is not wanted; one that is refused is not', async () => {
    const { notifier, clock, waitUntil } = await start()
    const valid = { channel: 'email', to: mail.to, rendered: { body: mail.body } }
    waitUntil(clock.now() + 10 * MINUTE)
    expect(await notifier.validate(mail)).toMatchObject(valid)
    said.of = () => SKIP
    expect(await notifier.validate(mail)).toMatchObject(valid)
    said.of = () => REFUSE
    await expect(notifier.validate(mail)).rejects.toMatchObject({ code: 'blocked_recipient' })
    expect((await notifier.notifications.list()).items).toEqual([])
  })
})

it.each<[what: string, of: () => Verdict]>([
  ['must wait', () => ({ kind: 'wait', until: Number.MAX_SAFE_INTEGER, reason: NIGHT })],
  ['is unknown', () => unknown()],
])('a message that may have been sent ends at once if it may not be sent again: it %s', async (_what, of) => {
  const { start, storage, clock, history } = notifierWorld()
  said.of = () => GO
  const never = () => new Promise<never>(() => {})
  // It hands the message over, and is never heard of again.
  const dying: Storage = { ...storage, settle: never, renew: never }
  const email = recordingProvider({ onAmbiguous: 'fail' })
  const { send } = await start({ channels: { email }, storage: dying })
  const { id } = await send(mail)
  await clock.advance(0)
  expect(email.calls).toHaveLength(1)
  dying.claim = never
  said.of = of
  const next = await start({ channels: { email }, delivery: { pollMs: 1_000 } })
  await clock.advance(5 * MINUTE)
  expect(await history(next, id)).toEqual([
    'queued',
    'attempt_ambiguous: delivery_unknown',
    'failed: delivery_unknown',
  ])
})

describe('a copy', () => {
  const withCopies = { ...mail, email: { cc: ['cc@example.com', 'bob@example.com'] } } as const

  it.each([
    [
      'a refused one is left out, and the history says so',
      REFUSE,
      ['bob@example.com'],
      ['blocked_recipient'],
    ],
    ['one that is not wanted is left out, and the history says so', SKIP, ['bob@example.com'], ['opted_out']],
    [
      'one that must wait goes, because the message does',
      { kind: 'wait', until: Number.MAX_SAFE_INTEGER, reason: NIGHT } as const,
      ['cc@example.com', 'bob@example.com'],
      [],
    ],
  ])('%s', async (_what, verdict, cc, reported) => {
    const { notifier, email, get, ended } = await start()
    said.of = ({ to, copy }) => (copy && to === 'cc@example.com' ? verdict : GO)
    const { id } = await notifier.send(withCopies)
    expect(await ended(notifier, id)).toBe('sent')
    const parts = email.messages[0]?.email as { readonly cc?: readonly { readonly address: string }[] }
    expect(parts.cc?.map(({ address }) => address)).toEqual(cc)
    const { timeline } = await get(id)
    const about = timeline.filter(({ event }) => event === 'reported')
    expect(about.map(({ error }) => error?.code)).toEqual(reported)
  })

  it('of a message that waits, waits with it', async () => {
    const { notifier, clock, email, ended } = await start()
    const until = clock.now() + 10 * MINUTE
    said.of = ({ copy }) => (copy ? GO : { kind: 'wait', until, reason: NIGHT })
    const { id } = await notifier.send(withCopies)
    await clock.advance(MINUTE)
    expect(email.calls).toEqual([])
    expect(await ended(notifier, id)).toBe('sent')
  })
})

/** What the judge says from a minute on, until the next. */
interface Rule {
  readonly from: number
  readonly verdict: 'go' | 'refuse' | 'skip' | number
}

/** A message with what is said about it over time; in minutes. */
interface Case {
  readonly sendAt: number | null
  readonly lastsFor: number | null
  readonly rules: readonly Rule[]
}

const LONGEST = 40

function verdictAt(rules: readonly Rule[], minute: number): Rule['verdict'] {
  return rules.findLast(({ from }) => from <= minute)?.verdict ?? 'go'
}

/** How it ends, and in which minute. */
function expected({ sendAt, lastsFor, rules }: Case): readonly [ending: string, minute: number] {
  const expires = lastsFor === null ? Number.POSITIVE_INFINITY : (sendAt ?? 0) + lastsFor
  const first = verdictAt(rules, 0)
  if (first === 'refuse') return ['refused', 0]
  let now = Math.max(sendAt ?? 0, typeof first === 'number' ? Math.min(first, expires) : 0)
  for (;;) {
    // Decided for good by the accept, as it was not counted.
    if (first === 'skip') return ['skipped', now]
    if (now >= expires) return ['expired', now]
    const verdict = verdictAt(rules, now)
    if (verdict === 'refuse') return ['blocked_recipient', now]
    if (verdict === 'skip') return ['skipped', now]
    if (verdict === 'go' || verdict <= now) return ['sent', now]
    now = Math.min(verdict, expires)
  }
}

it('every message ends as the verdicts over time say, at that time', async () => {
  const minute = fc.integer({ min: 0, max: LONGEST })
  const rule = fc.record<Rule>({
    from: minute,
    verdict: fc.oneof({ weight: 3, arbitrary: minute }, fc.constantFrom('go', 'refuse', 'skip')),
  })
  const anyCase = fc.record<Case>({
    sendAt: fc.option(fc.integer({ min: 1, max: LONGEST })),
    lastsFor: fc.option(fc.integer({ min: 1, max: LONGEST })),
    rules: fc
      .uniqueArray(rule, { maxLength: 4, selector: ({ from }) => from })
      .map((some) => some.toSorted((one, other) => one.from - other.from)),
  })
  const { notifier, clock, at } = await start()
  await fc.assert(
    fc.asyncProperty(fc.array(anyCase, { minLength: 30, maxLength: 100 }), async (cases) => {
      const began = clock.now()
      const minuteOf = (time: number) => (time - began) / MINUTE
      said.of = ({ metadata }) => {
        const { rules = [] } = cases[Number(metadata?.case)] ?? {}
        const verdict = verdictAt(rules, minuteOf(clock.now()))
        if (typeof verdict === 'number')
          return { kind: 'wait', until: began + verdict * MINUTE, reason: NIGHT }
        return verdict === 'refuse' ? REFUSE : verdict === 'skip' ? SKIP : GO
      }
      const { items } = await notifier.sendBatch(
        cases.map(({ sendAt, lastsFor }, index) => ({
          ...mail,
          metadata: { case: `${index}` },
          ...(sendAt === null ? {} : { sendAt: at(sendAt) }),
          ...(lastsFor === null ? {} : { expiresAt: at((sendAt ?? 0) + lastsFor) }),
        })),
      )
      await clock.advance(2 * LONGEST * MINUTE + 1)
      const endings = await Promise.all(
        items.map(async (item) => {
          if (!('id' in item)) return ['refused', 0]
          const { status, error, timeline } = await notifier.notifications.get(item.id)
          const last = timeline.at(-1)
          const ending = status === 'failed' ? error?.code : status
          return [ending, minuteOf(Date.parse(last?.timestamp ?? ''))]
        }),
      )
      expect(endings).toEqual(cases.map(expected))
    }),
    { numRuns: 20 },
  )
})
