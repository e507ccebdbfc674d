import assert from 'node:assert/strict'
import { isErrorCode } from '../core/errors/catalogue.ts'
import type { Outcome } from '../core/notification/outcome.ts'
import { benchOf, type Check, endsBySignal, leave, TEXT } from './channel/bench.ts'
import type { OutcomeRow, ProviderHarness, ProviderTraits } from './channel/harness.ts'
import { readsHttp, waitsAsAsked } from './channel/http.ts'
import { mailChecks } from './channel/mails.ts'
import { unreachableChecks } from './channel/unreachable.ts'
import { Absent, skippable, type TestApi } from './test-api.ts'
import { witnessed } from './witness.ts'

export type {
  HttpAct,
  OutcomeRow,
  ProviderAct,
  ProviderHarness,
  ProviderTraits,
  TakenMail,
  TakenMessage,
} from './channel/harness.ts'

/** Bodies without a valid signature. */
const UNPROVEN = ['', '{}', '[]', 'null', '{"id":', 'id=1', '\u0000']

/**
 * The contract of all providers: see docs/tasks/custom-provider.md.
 *
 * @param create makes a new provider and service for one test
 * @param rows the service's error table
 *
 * @example
 * providerContract(test, acmeHarness, [
 *   { row: 'an opt-out', outcome: { kind: 'rejected', code: 'unsubscribed', scope: 'recipient' } },
 * ])
 */
export function providerContract(
  test: TestApi,
  create: () => Promise<ProviderHarness>,
  rows: readonly OutcomeRow[],
  traits: ProviderTraits = {},
): void {
  const check: Check = (name, run) =>
    skippable(test)(name, async () => {
      const harness = await create()
      const bench = benchOf(harness)
      await witnessed(bench, harness.secrets, async (watched) => {
        try {
          await harness.provider.open?.({ proxyFor: () => null })
          await run(watched)
        } catch (error) {
          await leave(bench.closeProvider, () => harness.close())
          throw error
        }
        await bench.closeProvider().finally(() => harness.close())
        bench.assertSecretsKept()
      })
    })

  describesItself(check)
  delivers(check)
  failsAsItSays(check, rows)
  endsInTime(check)
  unreachableChecks(check)
  mailChecks(check)
  if (traits.http === true) readsHttp(check, traits.statusAlone ?? false)
  if (traits.http === true && traits.retryAfter !== false) waitsAsAsked(check)
}

function describesItself(check: Check): void {
  check(
    'a provider has an instance id, and a recipient that its kind takes',
    async ({ provider, message }) => {
      assert.match(provider.name, /^[a-z0-9-]{1,64}$/)
      assert.equal(provider.kind?.checkRecipient?.(message.to) ?? null, null)
      assert.ok((provider.maxConcurrent ?? 1) >= 1)
    },
  )

  check('a provider accepts the recipient of its own message', async ({ provider, message }) => {
    if (provider.accepts === undefined) throw new Absent('The provider accepts every recipient.')
    assert.equal(provider.accepts(message.to), true)
  })

  check('reports of strangers are refused, and not thrown over', async ({ provider }) => {
    if (provider.parseReceipts === undefined) throw new Absent('The provider reads no reports.')
    for (const text of UNPROVEN) {
      const report = {
        method: 'POST',
        url: 'https://app.example/receipts',
        headers: {},
        receivedAt: Date.now(),
      }
      const parsed = await provider.parseReceipts({ ...report, body: Buffer.from(text) })
      assert.equal(parsed.kind, 'refused', `of a request with the body ${JSON.stringify(text)}`)
    }
  })

  check('a check sends nothing', async ({ provider, taken }) => {
    if (provider.check === undefined) throw new Absent('The provider has no check.')
    await provider.check()
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
      if (first?.id === null) throw new Absent('The provider is given no id.')
      assert.notEqual(other?.id, first?.id)
    },
  )

  check('parallel messages open no more connections than announced', async (bench) => {
    const parallel = bench.provider.maxConcurrent ?? 10
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

  check('a closed provider leaves no connection open', async ({ closeProvider, send, drained }) => {
    await send()
    await closeProvider()
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

function endsInTime(check: Check): void {
  check('a signal that has aborted before keeps the message here', async ({ send, taken }) => {
    assert.equal((await send('1', {}, { signal: AbortSignal.abort(new Error('Too late.')) })).kind, 'retry')
    assert.deepEqual(await taken(), [])
  })

  check('a signal ends a call without an answer, with an unknown result', async (bench) => {
    bench.act({ kind: 'hang' })
    await endsBySignal(bench)
  })

  check('a connection that breaks before the answer leaves an unknown result', async (bench) => {
    bench.act({ kind: 'break' })
    assert.equal((await bench.send('1')).kind, 'ambiguous')
    bench.act({ kind: 'accept' })
    assert.equal((await bench.send('2')).kind, 'accepted')
  })
}

function assertIncludes(outcome: Outcome, expected: Readonly<Record<string, unknown>>): void {
  const fields: Readonly<Record<string, unknown>> = { ...outcome }
  const relevant = Object.fromEntries(Object.keys(expected).map((key) => [key, fields[key]]))
  assert.deepEqual(relevant, expected, `the outcome is ${JSON.stringify(outcome)}`)
}
