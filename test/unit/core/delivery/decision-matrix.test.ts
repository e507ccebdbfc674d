import { describe, expect, it } from 'vitest'
import type { FaultScope, Outcome } from '../../../../src/core/notification/outcome.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

/** The longest delay before the second attempt. */
const BACKOFF_MS = 1_000
/** What the provider asks for: longer than the backoff. */
const HINT_MS = 9_000
/** How long a provider rests after it refused us, if it does not say. */
const REFUSED_MS = 30_000
/** Who has met a fault of the provider lets another be the first after its rest. */
const BEHIND_MS = 1

const SCOPES: readonly FaultScope[] = ['recipient', 'message', 'account', 'provider']
const PROVIDERS = [1, 2, 3] as const
/** Whether the attempt is the last that the policy allows. */
const ATTEMPTS = ['first', 'last'] as const

const rejected = (scope: FaultScope): Outcome => ({ kind: 'rejected', code: 'provider_auth_failed', scope })
const retry = (scope: FaultScope, retryAfterMs?: number): Outcome => ({
  kind: 'retry',
  code: 'provider_rate_limited',
  scope,
  retryAfterMs,
})
const ambiguous: Outcome = { kind: 'ambiguous', reason: 'The connection broke.' }

/** What follows: who is asked, when the second time, how it ends, and how long the first provider rests. */
interface Follows {
  readonly asked: 'a' | 'a a' | 'a b'
  /** Of the second hand-over after the first; null: there is none. */
  readonly atMs: number | 'backoff' | null
  readonly history: readonly string[]
  readonly restsMs: number | null
}

const ended = (history: readonly string[], restsMs: number | null = null): Follows => ({
  asked: 'a',
  atMs: null,
  history,
  restsMs,
})
const again = (history: string, atMs: number | 'backoff', restsMs: number | null = null): Follows => ({
  asked: 'a a',
  atMs,
  history: [history, 'sent'],
  restsMs,
})
const failsOver = (history: string, restsMs: number | null): Follows => ({
  asked: 'a b',
  atMs: 0,
  history: [history, 'sent'],
  restsMs,
})

type Row = readonly [name: string, outcome: Outcome, providers: 1 | 2 | 3, attempt: 'first' | 'last', Follows]

const REFUSED = 'attempt_failed: provider_auth_failed'
const LIMITED = 'attempt_failed: provider_rate_limited'
const GAVE_UP = 'failed: attempts_exhausted'

/** One line for each combination of whose fault it is and what the provider answers. */
function expected(outcome: Outcome, providers: number, attempt: 'first' | 'last'): Follows {
  const last = attempt === 'last'
  if (outcome.kind === 'accepted') return ended(['sent'])
  if (outcome.kind === 'ambiguous') {
    // Never another provider, which could not tell that it is the same.
    return last
      ? ended(['attempt_ambiguous: delivery_unknown', 'failed: delivery_unknown'])
      : again('attempt_ambiguous: delivery_unknown', 'backoff')
  }
  const theirs = outcome.scope === 'recipient' || outcome.scope === 'message'
  if (outcome.kind === 'rejected') {
    if (theirs) return ended(['failed: provider_auth_failed'])
    if (last) return ended([REFUSED, GAVE_UP], REFUSED_MS)
    return providers > 1 ? failsOver(REFUSED, REFUSED_MS) : again(REFUSED, REFUSED_MS + BEHIND_MS, REFUSED_MS)
  }
  const hinted = outcome.retryAfterMs !== undefined
  const restsMs = theirs || !hinted ? null : HINT_MS
  if (last) return ended([LIMITED, GAVE_UP], restsMs)
  if (!theirs && providers > 1) return failsOver(LIMITED, restsMs)
  return again(LIMITED, hinted ? HINT_MS + (theirs ? 0 : BEHIND_MS) : 'backoff', restsMs)
}

const OUTCOMES: readonly (readonly [string, Outcome])[] = [
  ['accepted', { kind: 'accepted' }],
  ...SCOPES.flatMap((scope): [string, Outcome][] => [
    [`rejected, fault of the ${scope}`, rejected(scope)],
    [`retry, fault of the ${scope}`, retry(scope)],
    [`retry with a hint, fault of the ${scope}`, retry(scope, HINT_MS)],
  ]),
  ['ambiguous', ambiguous],
]

const rows: Row[] = OUTCOMES.flatMap(([name, outcome]) =>
  PROVIDERS.flatMap((providers) =>
    ATTEMPTS.map(
      (attempt): Row => [name, outcome, providers, attempt, expected(outcome, providers, attempt)],
    ),
  ),
)

/** Lets the first of some providers answer one message so, then accept; the others accept. */
async function run(
  outcome: Outcome,
  providers: number,
  attempt: 'first' | 'last',
  onAmbiguous: 'retry' | 'fail' = 'retry',
) {
  const world = notifierWorld()
  const { clock } = world
  const asked: string[] = []
  const times: number[] = []
  const maxAttempts = attempt === 'last' ? 1 : 3
  const channels = ['a', 'b', 'c'].slice(0, providers).map((name) =>
    recordingProvider({
      name,
      onAmbiguous,
      retry: { kind: 'exponential', maxAttempts, baseMs: BACKOFF_MS, capMs: BACKOFF_MS },
      send: async () => {
        asked.push(name)
        times.push(clock.monotonic())
        return asked.length === 1 ? outcome : { kind: 'accepted' }
      },
    }),
  )
  const notifier = await world.start({ channels: { email: channels } })
  const rests: number[] = []
  notifier.on('provider.paused', ({ data }) => {
    expect(data.provider).toBe('a')
    rests.push(data.forMs)
  })
  const { id } = await notifier.send(mail)
  await world.ended(notifier, id)
  return {
    asked: asked.join(' '),
    atMs: times[1] ?? null,
    history: (await world.history(notifier, id)).slice(1),
    restsMs: rests[0] ?? null,
    timeline: (await notifier.notifications.get(id)).timeline,
  }
}

describe('what follows from an attempt, through the engine', () => {
  it.each(rows)('%s; %o, %i provider(s), %s attempt', async (_name, outcome, providers, attempt, follows) => {
    const { timeline, atMs, ...seen } = await run(outcome, providers, attempt)
    const when = atMs !== null && follows.atMs === 'backoff' && atMs <= BACKOFF_MS ? 'backoff' : atMs
    expect({ ...seen, atMs: when }).toEqual(follows)
    const marked = timeline.filter((entry) => entry.ambiguous)
    expect(marked.length > 0).toBe(outcome.kind === 'ambiguous')
  })

  it('a refused sender pauses the provider, unless the message named it', async () => {
    const world = notifierWorld()
    const refused = { kind: 'rejected', code: 'invalid_sender', scope: 'account' } as const
    const provider = recordingProvider({ send: async () => refused })
    const notifier = await world.start({ channels: { email: provider } })
    const paused: string[] = []
    notifier.on('provider.paused', ({ data }) => void paused.push(data.code))
    const attempted = async ({ id }: { readonly id: string }) => {
      await world.clock.advance(100)
      expect(await world.history(notifier, id)).toContain('attempt_failed: invalid_sender')
    }
    await attempted(await notifier.send({ ...mail, email: { from: 'shop@example.com' } }))
    expect(paused).toEqual([])
    await attempted(await notifier.send(mail))
    expect(paused).toEqual(['invalid_sender'])
  })

  it.each(PROVIDERS)(
    'an ambiguous outcome ends where the channel wants that; %i provider(s)',
    async (providers) => {
      const { timeline, ...seen } = await run(ambiguous, providers, 'first', 'fail')
      expect(seen).toEqual({ ...ended(['failed: delivery_unknown']) })
      expect(timeline.at(-1)?.ambiguous).toBe(true)
    },
  )

  it('covers every scope, answer, number of providers and attempt', () => {
    expect(rows).toHaveLength((1 + 4 * 3 + 1) * 3 * 2)
  })

  it('asks every provider once before any of them a second time', async () => {
    const world = notifierWorld()
    const asked: string[] = []
    const channels = ['a', 'b', 'c'].map((name) =>
      recordingProvider({
        name,
        send: async () => {
          asked.push(name)
          return asked.length <= 3 ? rejected('account') : { kind: 'accepted' }
        },
      }),
    )
    const notifier = await world.start({ channels: { email: channels } })
    const { id } = await notifier.send(mail)
    await world.clock.advance(0)
    expect(asked).toEqual(['a', 'b', 'c'])
    expect((await notifier.health()).providers.map(({ state }) => state)).toEqual([
      'paused',
      'paused',
      'paused',
    ])
    expect(await world.ended(notifier, id)).toBe('sent')
    expect(world.clock.monotonic()).toBe(REFUSED_MS + BEHIND_MS)
  })
})
