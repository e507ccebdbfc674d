import assert from 'node:assert/strict'
import { isChannelName } from '../domain/channel.ts'
import { isErrorCode } from '../domain/errors/catalogue.ts'
import type { Outcome } from '../domain/outcome.ts'
import { LONGEST_HINT_MS } from '../domain/retry.ts'
import type { Channel, Message, SendContext } from '../ports/channel.ts'
import { recordingLogger } from './recording-logger.ts'
import type { TestApi } from './test-api.ts'

/** A channel before a provider that the harness plays. */
export interface ChannelHarness {
  readonly channel: Channel
  /** A message that the channel can deliver; the contract puts its own text into the body. */
  readonly message: Message
  /** Credentials and the like, which must appear in no outcome and no log line. */
  readonly secrets: readonly string[]
  /** What the provider does from now on. */
  act(how: ProviderAct): void
  /** The same, with what only HTTP can do; for `traits.http`. */
  actHttp?(how: HttpAct): void
  /** Messages that the provider has taken responsibility for, oldest first: the second door. */
  taken(): Promise<readonly TakenMessage[]>
  /** Resolves when the provider, told to hang, has one whole message and stays silent. */
  hanging(): Promise<void>
  /** Most connections that were open to the provider at one time. */
  mostConnections(): number
  /** Resolves when no connection to the provider is open. */
  drained(): Promise<void>
  /** Ends the provider. The contract has closed the channel before. */
  close(): Promise<void>
}

/** `hang`: takes a whole message and never answers. `break`: takes one and ends the connection. */
export type ProviderAct =
  | { readonly kind: 'accept' | 'hang' | 'break' }
  | { readonly kind: 'answer'; readonly row: string }

/**
 * What only HTTP can do, all after a whole message was taken. `hang-in-body`, `truncate`: begins its answer of success
 * and falls silent, or ends the connection. `html`: a page with the status of success. `empty`: that status and nothing.
 * `overloaded`: the provider's answer to too many requests, with this `Retry-After`; null: without one.
 */
export type HttpAct =
  | { readonly kind: 'hang-in-body' | 'truncate' | 'html' | 'empty' }
  | { readonly kind: 'overloaded'; readonly retryAfter: string | null }

/** What a provider does beyond the rest: more is checked. */
export interface ChannelTraits {
  /** It is called over HTTP, and only an answer that can be read counts as its word, see `statusAlone`. Default false. */
  readonly http?: boolean | undefined
  /**
   * With `http`: a status of success is its whole word, whatever stands below it; `'empty'`: where nothing does. Default
   * false.
   */
  readonly statusAlone?: boolean | 'empty' | undefined
  /** Its answers over HTTP may carry `Retry-After`. Default true. */
  readonly retryAfter?: boolean | undefined
}

/** One message as the provider understood it. */
export interface TakenMessage {
  readonly to: string
  readonly body: string
  /** What tells the provider or the recipient that two attempts are one notification; null: nothing does. */
  readonly id: string | null
}

/** One row of the provider's table of errors: the harness plays it, the channel must answer with the outcome. */
export interface OutcomeRow {
  readonly row: string
  readonly outcome: { readonly kind: Outcome['kind'] } & Readonly<Record<string, unknown>>
}

/**
 * So long a channel and its provider may take for one thing: less than runners give a test, so that the contract says what did
 * not come. node:test would wait for ever.
 */
const PATIENCE_MS = 4_000

/** So long each close of a failed check may take: with the above still less than runners give a test. */
const LEAVING_MS = 250

/** Text that survives only where it is encoded well. */
const TEXT = 'Grüße 🎉 an Ada'

/** Bodies of requests that nobody has signed. */
const UNPROVEN = ['', '{}', '[]', 'null', '{"id":', 'id=1', '\u0000']

/**
 * Every channel passes this: see docs/custom-channel.md.
 *
 * @param create makes a fresh channel and provider for one test
 * @param rows the provider's errors
 */
export function channelContract(
  test: TestApi,
  create: () => Promise<ChannelHarness>,
  rows: readonly OutcomeRow[],
  traits: ChannelTraits = {},
): void {
  const check = (name: string, run: (bench: Bench) => Promise<void>): void =>
    test(name, async () => {
      const harness = await create()
      const bench = benchOf(harness)
      try {
        await harness.channel.open?.()
        await run(bench)
      } catch (error) {
        await leave(bench.closeChannel, () => harness.close())
        throw error
      }
      await bench.closeChannel().finally(() => harness.close())
      bench.assertSecretsKept()
    })

  describesItself(check)
  delivers(check)
  failsAsItSays(check, rows)
  endsInTime(check)
  if (traits.http === true) readsHttp(check, traits.statusAlone ?? false)
  if (traits.http === true && traits.retryAfter !== false) waitsAsAsked(check)
}

type Check = (name: string, run: (bench: Bench) => Promise<void>) => void

interface Bench extends ChannelHarness {
  actHttp(how: HttpAct): void
  /** Sends the harness' message and remembers the outcome. */
  send(notification?: string, more?: Partial<Message>, context?: Partial<SendContext>): Promise<Outcome>
  /** Once, however often it is called, as a notifier does. */
  closeChannel(): Promise<void>
  assertSecretsKept(): void
}

function benchOf(harness: ChannelHarness): Bench {
  const { logger, lines } = recordingLogger()
  const outcomes: Outcome[] = []
  let closing: Promise<void> | undefined
  return {
    ...harness,
    hanging: () => inTime(harness.hanging(), 'the provider, which hangs, got no whole message'),
    drained: () => inTime(harness.drained(), 'a connection to the provider is still open'),
    async closeChannel() {
      closing ??= Promise.resolve(harness.channel.close?.())
      await inTime(closing, 'the channel is not closed')
    },
    actHttp(how) {
      assert.ok(harness.actHttp, 'the harness does not play what only HTTP can do')
      harness.actHttp(how)
    },
    async send(notification = '1', more = {}, change = {}) {
      const message = { ...harness.message, body: TEXT, ...more }
      const context = { ...contextOf(notification, logger), ...change }
      const sending = harness.channel.send(message, context)
      const outcome = await inTime(
        sending,
        'the channel has not answered, or not stopped when the signal aborted',
      )
      outcomes.push(outcome)
      return outcome
    },
    assertSecretsKept() {
      const said = [...lines(), ...outcomes.map((outcome) => JSON.stringify(outcome))].join('\n')
      for (const secret of harness.secrets) {
        assert.ok(!said.includes(secret), 'a secret appears in an outcome or a log line')
      }
    },
  }
}

/** Closes what can be closed: what keeps a send from its end often keeps a close from its own, and the error is about the send. */
async function leave(...closes: (() => Promise<void>)[]): Promise<void> {
  for (const close of closes) {
    await inTime((async () => close())(), 'it is not closed', LEAVING_MS).catch(() => {})
  }
}

/** Rejects where something does not come. */
async function inTime<Value>(
  coming: Promise<Value>,
  otherwise: string,
  patienceMs = PATIENCE_MS,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`After ${patienceMs} ms ${otherwise}.`)), patienceMs)
  })
  try {
    return await Promise.race([coming, late])
  } finally {
    clearTimeout(timer)
  }
}

function contextOf(notification: string, logger: SendContext['logger']): SendContext {
  const id = `notif_${notification.padStart(29, '0')}`
  return {
    notificationId: id,
    organizationId: 'org_default',
    attempt: 1,
    idempotencyKey: id,
    createdAt: Date.UTC(2026, 0, 15, 12),
    signal: new AbortController().signal,
    logger,
  }
}

function describesItself(check: Check): void {
  check('a channel has an instance id and names its channel', async ({ channel }) => {
    assert.match(channel.name, /^[a-z0-9-]{1,64}$/)
    assert.ok(isChannelName(channel.channel))
    assert.ok((channel.maxConcurrent ?? 1) >= 1)
  })

  check('a channel reaches the recipient of its own message', async ({ channel, message }) => {
    assert.notEqual(channel.accepts?.(message.to), false)
  })

  check('reports of strangers are refused, and not thrown over', async ({ channel }) => {
    for (const text of UNPROVEN) {
      const report = {
        method: 'POST',
        url: 'https://app.example/receipts',
        headers: {},
        receivedAt: Date.now(),
      }
      const parsed = await channel.parseReceipts?.({ ...report, body: Buffer.from(text) })
      assert.equal(parsed?.kind ?? 'refused', 'refused', `of a request with the body ${JSON.stringify(text)}`)
    }
  })

  check('a check sends nothing', async ({ channel, taken }) => {
    await channel.check?.()
    assert.deepEqual(await taken(), [])
  })
}

function delivers(check: Check): void {
  check('an accepted message has reached the provider, once, unchanged', async ({ message, send, taken }) => {
    const outcome = await send()
    assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome))
    const [only, ...others] = await taken()
    assert.deepEqual(others, [])
    assert.equal(only?.to, message.to)
    assert.ok(only?.body.includes(TEXT), `the body is ${JSON.stringify(only?.body)}`)
  })

  check('a message without a subject is delivered', async ({ send }) => {
    assert.equal((await send('1', { subject: null })).kind, 'accepted')
  })

  check(
    'attempts of one notification carry one id, those of another one its own',
    async ({ send, taken }) => {
      await send('1')
      await send('1', {}, { attempt: 2 })
      await send('2')
      const [first, again, other] = await taken()
      assert.equal(again?.id, first?.id)
      if (first?.id !== null) assert.notEqual(other?.id, first?.id)
    },
  )

  check('parallel messages open no more connections than announced', async (bench) => {
    const parallel = bench.channel.maxConcurrent ?? 10
    const bodies = Array.from({ length: parallel * 3 }, (_, index) => `${TEXT} number ${index}.`)
    for (const round of [0, 1, 2]) {
      const outcomes = await Promise.all(
        bodies
          .slice(round * parallel, (round + 1) * parallel)
          .map((body, index) => bench.send(`${round * parallel + index + 1}`, { body })),
      )
      assert.ok(outcomes.every(({ kind }) => kind === 'accepted'))
    }
    assert.ok(bench.mostConnections() <= parallel, `${bench.mostConnections()} connections for ${parallel}`)
    const taken = await bench.taken()
    for (const body of bodies) {
      assert.equal(taken.filter((one) => one.body.includes(body)).length, 1, body)
    }
  })

  check('a closed channel leaves no connection open', async ({ closeChannel, send, drained }) => {
    await send()
    await closeChannel()
    await drained()
  })
}

function failsAsItSays(check: Check, rows: readonly OutcomeRow[]): void {
  for (const { row, outcome: expected } of rows) {
    check(`an answer is understood: ${row}`, async ({ act, send, taken }) => {
      act({ kind: 'answer', row })
      const outcome = await send()
      assertIncludes(outcome, expected)
      if (outcome.kind === 'accepted') return
      assert.deepEqual(await taken(), [])
      if (outcome.kind !== 'ambiguous') assert.ok(isErrorCode(outcome.code))
    })
  }

  check('a failure does not spoil the next message', async ({ act, send, taken }) => {
    for (const { row } of rows) {
      act({ kind: 'answer', row })
      await send('1')
      act({ kind: 'accept' })
      assert.equal((await send('2')).kind, 'accepted', `after ${row}`)
    }
    assert.ok((await taken()).length >= rows.length)
  })
}

/** Of a provider that hangs. */
async function endsBySignal(bench: Bench): Promise<void> {
  const abort = new AbortController()
  const sending = bench.send('1', {}, { signal: abort.signal })
  // A send that fails before says itself why.
  await Promise.race([bench.hanging(), sending])
  abort.abort(new Error('The time is over.'))
  assert.equal((await sending).kind, 'ambiguous')
  bench.act({ kind: 'accept' })
  assert.equal((await bench.send('2')).kind, 'accepted')
}

function endsInTime(check: Check): void {
  check('a signal that has aborted before keeps the message here', async ({ send, taken }) => {
    assert.equal((await send('1', {}, { signal: AbortSignal.abort(new Error('Too late.')) })).kind, 'retry')
    assert.deepEqual(await taken(), [])
  })

  check('a signal ends a call whose answer does not come, and nobody knows', async (bench) => {
    bench.act({ kind: 'hang' })
    await endsBySignal(bench)
  })

  check('a connection that breaks before the answer leaves nobody knowing', async (bench) => {
    bench.act({ kind: 'break' })
    assert.equal((await bench.send('1')).kind, 'ambiguous')
    bench.act({ kind: 'accept' })
    assert.equal((await bench.send('2')).kind, 'accepted')
  })
}

/** What `Retry-After` may hold, and the range in which the hint must lie; null: there is none. */
const RETRY_AFTER: readonly (readonly [what: string, header: () => string | null, ms: Range | null])[] = [
  ['seconds', () => '9', [9_000, 9_000]],
  ['a part of a second', () => '0.5', [500, 500]],
  ['a date', () => new Date(Date.now() + 120_000).toUTCString(), [60_000, 120_000]],
  ['an absurd number', () => '99999999999', [LONGEST_HINT_MS, LONGEST_HINT_MS]],
  ['a date that has passed', () => new Date(Date.now() - 120_000).toUTCString(), null],
  ['nonsense', () => 'soon', null],
  ['nothing', () => null, null],
]
type Range = readonly [least: number, most: number]

function waitsAsAsked(check: Check): void {
  for (const [what, header, range] of RETRY_AFTER) {
    check(`a hint to wait is understood: ${what}`, async ({ actHttp, send }) => {
      actHttp({ kind: 'overloaded', retryAfter: header() })
      const outcome = await send()
      assert.ok(outcome.kind === 'retry', JSON.stringify(outcome))
      const { retryAfterMs: hint } = outcome
      if (range === null) assert.equal(hint, undefined)
      else assert.ok(hint !== undefined && hint >= range[0] && hint <= range[1], `the hint is ${hint}`)
    })
  }
}

function readsHttp(check: Check, statusAlone: boolean | 'empty'): void {
  for (const kind of ['truncate', 'html', 'empty'] as const) {
    const suffices = statusAlone === true || statusAlone === kind
    const meaning = suffices ? 'is one' : 'leaves nobody knowing'
    check(`a success that cannot be read ${meaning}: ${kind}`, async ({ act, actHttp, send }) => {
      actHttp({ kind })
      assert.equal((await send('1')).kind, suffices ? 'accepted' : 'ambiguous')
      act({ kind: 'accept' })
      assert.equal((await send('2')).kind, 'accepted')
    })
  }

  check('a signal ends a call whose answer stops in the middle, and nobody knows', async (bench) => {
    bench.actHttp({ kind: 'hang-in-body' })
    await endsBySignal(bench)
  })
}

function assertIncludes(outcome: Outcome, expected: Readonly<Record<string, unknown>>): void {
  const fields: Readonly<Record<string, unknown>> = { ...outcome }
  const relevant = Object.fromEntries(Object.keys(expected).map((key) => [key, fields[key]]))
  assert.deepEqual(relevant, expected, `the outcome is ${JSON.stringify(outcome)}`)
}
