import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { LONGEST_HINT_MS } from '../../core/delivery/retry-delay.ts'
import { type Check, endsBySignal } from './bench.ts'
import { type ReceivedRequest, receive, startReceiver } from './receiver.ts'

const HOUR_MS = 3_600_000
/** More than an hour, at most a day: the longest wait for a provider. */
const ABSURD: Range = [HOUR_MS, LONGEST_HINT_MS]

/** Values of `Retry-After` with the valid range of the hint; null: none. */
const RETRY_AFTER: readonly (readonly [what: string, header: () => string | null, ms: Range | null])[] = [
  ['seconds', () => '9', [9_000, 9_000]],
  ['a part of a second', () => '0.5', [500, 500]],
  ['a date', () => new Date(Date.now() + 120_000).toUTCString(), [60_000, 120_000]],
  ['an absurd number', () => '99999999999', ABSURD],
  ['more digits than a number holds', () => '9'.repeat(400), ABSURD],
  ['a date far away', () => 'Fri, 31 Dec 9999 23:59:59 GMT', ABSURD],
  ['a date that has passed', () => new Date(Date.now() - 120_000).toUTCString(), null],
  ['a date that does not exist', () => 'Mon, 99 Foo 2026 99:99:99 GMT', null],
  ['nothing to wait for', () => '0', null],
  ['a negative number', () => '-5', null],
  ['a number with a unit', () => '9s', null],
  ['an exponent', () => '1e3', null],
  ['NaN', () => 'NaN', null],
  ['Infinity', () => 'Infinity', null],
  ['nonsense', () => 'soon', null],
  ['an empty text', () => '', null],
  ['nothing', () => null, null],
]
type Range = readonly [least: number, most: number]

export function waitsAsAsked(check: Check): void {
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

export function readsHttp(check: Check, statusAlone: boolean | 'empty'): void {
  for (const kind of ['truncate', 'html', 'empty'] as const) {
    const suffices = statusAlone === true || (statusAlone === 'empty' && kind !== 'html')
    const meaning = suffices ? 'is one' : 'leaves an unknown result'
    check(`a success that cannot be read ${meaning}: ${kind}`, async ({ act, actHttp, send }) => {
      actHttp({ kind })
      assert.equal((await send('1')).kind, suffices ? 'accepted' : 'ambiguous')
      act({ kind: 'accept' })
      assert.equal((await send('2')).kind, 'accepted')
    })
  }

  for (const coding of ['gzip', 'deflate', 'br'] as const) {
    check(
      `an answer that is encoded without a request for it is read: ${coding}`,
      async ({ actHttp, send, taken }) => {
        actHttp({ kind: 'encoded', coding })
        const outcome = await send('1')
        assert.equal(outcome.kind, 'accepted', JSON.stringify(outcome))
        assert.equal((await taken()).length, 1)
      },
    )
  }

  check('an answer that never ends is not read to its end', async ({ act, actHttp, send }) => {
    actHttp({ kind: 'endless' })
    assert.equal((await send('1')).kind, statusAlone === true ? 'accepted' : 'ambiguous')
    act({ kind: 'accept' })
    assert.equal((await send('2')).kind, 'accepted')
  })

  for (const status of [500, 502, 504]) {
    check(`a fault with the status ${status} neither accepts nor refuses a message`, async (bench) => {
      bench.actHttp({ kind: 'fault', status })
      const { kind } = await bench.send()
      assert.ok(kind === 'ambiguous' || kind === 'retry', `the outcome is ${kind}`)
    })
  }

  check('a redirect is not followed: credentials and the message stay with the provider', async (bench) => {
    const requests: ReceivedRequest[] = []
    const listener = receive(requests, (response) => response.end('{}'))
    const stranger = await startReceiver(createServer(listener), requests)
    try {
      bench.actHttp({ kind: 'redirect', to: `http://127.0.0.1:${stranger.port}/` })
      assert.notEqual((await bench.send()).kind, 'accepted')
      assert.deepEqual(requests, [])
    } finally {
      await stranger.close()
    }
  })

  check('a signal ends a call whose answer stops in the middle, with an unknown result', async (bench) => {
    bench.actHttp({ kind: 'hang-in-body' })
    // Where the status suffices, it may have come before the signal.
    await endsBySignal(bench, statusAlone === true ? ['ambiguous', 'accepted'] : ['ambiguous'])
  })
}
