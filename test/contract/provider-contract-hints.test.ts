import { expect, it } from 'vitest'
import { parseRetryAfter } from '../../src/core/channels/http-answer.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { type HttpAct, type ProviderHarness, providerContract } from '../../src/testing/provider-contract.ts'
import { ABSENT } from '../../src/testing/test-api.ts'

/* The contract itself: hints to wait that are misread are found, and optional parts that a provider lacks are skipped. */

type Read = (header: string | undefined) => number | undefined

const right: Read = (header) => parseRetryAfter(header, Date.now())

function harnessOf(read: Read): ProviderHarness {
  let how: HttpAct | { readonly kind: string } = { kind: 'accept' }
  const provider: Provider = {
    name: 'fake',
    async send() {
      const header = 'retryAfter' in how ? (how.retryAfter ?? undefined) : undefined
      return { kind: 'retry', code: 'provider_rate_limited', scope: 'account', retryAfterMs: read(header) }
    },
  }
  const act = (next: typeof how) => {
    how = next
  }
  return {
    provider,
    message: { to: '+14155550123', subject: null, body: '', format: 'text' },
    secrets: [],
    act,
    actHttp: act,
    taken: async () => [],
    hanging: async () => {},
    mostConnections: () => 0,
    drained: async () => {},
    elsewhere: () => null,
    close: async () => {},
  }
}

/** Runs the checks of these names; answers those that failed and those that were skipped, with the reason. */
async function run(read: Read, names: RegExp) {
  const runs: [string, (context: { skip(reason?: string): void }) => Promise<void>][] = []
  providerContract(
    (name, check) => {
      if (names.test(name)) runs.push([name, check])
    },
    async () => harnessOf(read),
    [],
    { http: true },
  )
  const failed: string[] = []
  const skipped: Record<string, string | undefined> = {}
  for (const [name, check] of runs) {
    const skip = (reason?: string) => {
      skipped[name] = reason
    }
    await check({ skip }).catch(() => failed.push(name))
  }
  return { failed, skipped }
}

const HINT = /hint to wait/

it('passes a provider that reads every hint', async () => {
  expect((await run(right, HINT)).failed).toEqual([])
})

it.each<[string, Read, string]>([
  [
    'waits as long as it is told',
    (header) => (/^\d+$/.test(header ?? '') ? Number(header) * 1000 : right(header)),
    'an absurd number',
  ],
  [
    'waits until any date',
    (header) => (header?.includes('9999') ? Date.parse(header) - Date.now() : right(header)),
    'a date far away',
  ],
  [
    'takes a negative number',
    (header) => (header?.startsWith('-') ? Number(header) * 1000 : right(header)),
    'a negative number',
  ],
  ['hands on what is no number', (header) => (header === 'NaN' ? Number.NaN : right(header)), 'NaN'],
  [
    'reads the beginning of a text',
    (header) => (header === '9s' ? 9_000 : right(header)),
    'a number with a unit',
  ],
  ['reads an exponent', (header) => (header === '1e3' ? 1_000_000 : right(header)), 'an exponent'],
  [
    'takes a date that has passed',
    (header) => (header?.endsWith('GMT') ? Math.abs(Date.parse(header) - Date.now()) : right(header)),
    'a date that has passed',
  ],
])('finds a provider that %s', async (_what, read, expected) => {
  expect((await run(read, HINT)).failed).toContain(`a hint to wait is understood: ${expected}`)
})

it('skips the parts that a provider lacks, with the reason', async () => {
  const { failed, skipped } = await run(
    right,
    /reports of strangers|a check sends|its own message|certainly not sent/,
  )
  expect(failed).toEqual([])
  expect(skipped).toEqual({
    'a provider accepts the recipient of its own message': `${ABSENT}The provider accepts every recipient.`,
    'reports of strangers are refused, and not thrown over': `${ABSENT}The provider reads no reports.`,
    'a check sends nothing': `${ABSENT}The provider has no check.`,
    'a message to a host that refuses the connection was certainly not sent, and is tried again': `${ABSENT}The provider reaches no service at 127.0.0.1.`,
    'a message to a host that does not exist was certainly not sent, and is tried again': `${ABSENT}The provider reaches no service at provider.invalid.`,
  })
})
