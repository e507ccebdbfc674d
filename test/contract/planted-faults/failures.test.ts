import { AssertionError } from 'node:assert/strict'
import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import { httpProviderHarness } from '../../../src/testing/channel/http-harness.ts'
import { providerContract } from '../../../src/testing/provider-contract.ts'
import { storageContract } from '../../../src/testing/storage-contract.ts'
import type { TestApi } from '../../../src/testing/test-api.ts'
import { mapHarness } from '../../map-storage-contract/harness.ts'
import type { Fault } from './storage-faults.ts'

/* What a failed check tells: the rows that it compares, the cause of an error, and no secret. */

/** The error of the check with this name. */
async function failureOf(declare: (test: TestApi) => void, name: string): Promise<Error> {
  let check: (() => Promise<void>) | undefined
  declare((title, run) => {
    if (title.includes(name)) check ??= run
  })
  const failure = await check?.().catch((error: unknown) => error)
  if (failure instanceof Error) return failure
  throw new Error(`the check "${name}" has not failed`)
}

const ofStorage = (fault: Fault, name: string): Promise<Error> =>
  failureOf((test) => storageContract(test, async () => mapHarness(fault)), name)

it('tells the rows of which a check compares the number', async () => {
  const { message, stack } = await ofStorage(
    (good) => ({ ...good, accept: (requests) => good.accept(requests.map(withoutKey)) }),
    'a repeated key is answered from its record',
  )
  for (const told of [message, stack]) {
    expect(told).toMatch(
      /storage\.accept\(\[ \{ organizationId: 'org_default', notifications: \[ \{ id: 'notif_/,
    )
    expect(told).toMatch(/ -> \[ \{ kind: 'accepted', admitted: 3, createdAt: \d+ \} \]/)
  }
  expect(message).toContain("+   kind: 'accepted'")
})

it('tells the rows that the second door shows', async () => {
  const { message } = await ofStorage(
    (good, state) => ({
      ...good,
      async accept(requests) {
        const answers = await good.accept(requests)
        state.jobs.clear()
        return answers
      },
    }),
    'ten parallel equal requests store once',
  )
  expect(message).toMatch(
    /secondDoor\.notifications\(\) -> \[ \{ id: 'notif_\d+', organizationId: 'org_default'/,
  )
  expect(message).toContain('secondDoor.jobs() -> []')
})

it('tells the cause of an error', async () => {
  const cause = new Error('The disk is full.')
  const { message } = await ofStorage(
    (good) => ({
      ...good,
      quotaUsed: () => Promise.reject(new NotifierError('service_unavailable', { cause })),
    }),
    'the quota admits in order',
  )
  expect(message).toMatch(/quotaUsed\(.*\) failed: NotifierError: .* <- Error: The disk is full\./)
})

it('is bounded, however many rows there are', async () => {
  const { message } = await ofStorage(
    (good) => ({
      ...good,
      notifications: { ...good.notifications, list: () => Promise.reject(new Error('No.')) },
    }),
    'what lies far apart',
  )
  expect(message).toContain('storage.notifications.list(')
  expect(message.length).toBeLessThan(30_000)
})

it('tells what both sides are, beside the words of a check, without a secret', async () => {
  const secret = 'correct-horse'
  const failure = await failureOf(
    (test) => providerContract(test, () => harness(leaky), [], { http: true }),
    'an accepted message has reached the provider',
  )
  expect(failure).toBeInstanceOf(AssertionError)
  expect(failure.message).toContain('a secret appears in an outcome or a log line')
  expect(failure.message).toMatch(/Expected: \[\]\nActual: .*"providerMessageId":"\[secret\]"/)
  expect(failure.message).toMatch(/send\(.*\) -> \{ kind: 'accepted', providerMessageId: '\[secret\]' \}/)
  for (const told of [failure.message, failure.stack, JSON.stringify(failure)])
    expect(told).not.toContain(secret)

  function leaky(url: string): Provider {
    return {
      name: 'leaky',
      async send({ to, body }) {
        const headers = { connection: 'close' }
        await fetch(url, { method: 'POST', headers, body: JSON.stringify({ to, body }) })
        return { kind: 'accepted', providerMessageId: secret }
      },
    }
  }

  function harness(provider: (url: string) => Provider) {
    return httpProviderHarness({
      provider,
      message: { to: '+14155550123', subject: null, body: '', format: 'text' },
      secrets: [secret],
      accept: () => ({ status: 200, body: {} }),
      take: ({ body }) => ({ ...JSON.parse(String(body)), id: null }),
    })
  }
})

it('tells no secret in a cause, which runners print', async () => {
  const secret = 'correct-horse'
  const failure = await failureOf(
    (test) =>
      providerContract(
        test,
        () =>
          httpProviderHarness({
            provider: () => ({
              name: 'closed',
              open: () => Promise.reject(new Error('closed', { cause: new Error(`Bearer ${secret}`) })),
              send: async () => ({ kind: 'accepted' }),
            }),
            message: { to: '+14155550123', subject: null, body: '', format: 'text' },
            secrets: [secret],
            accept: () => ({ status: 200 }),
            take: () => ({ to: '', body: '', id: null }),
          }),
        [],
      ),
    'an accepted message has reached the provider',
  )
  expect(inspect(failure)).toContain('Bearer [secret]')
  expect(inspect(failure)).not.toContain(secret)
})

it('tells what has not answered', async () => {
  const { message } = await failureOf(
    (test) =>
      providerContract(
        test,
        () =>
          httpProviderHarness({
            provider: () => ({ name: 'silent', send: () => new Promise(() => {}) }),
            message: { to: '+14155550123', subject: null, body: '', format: 'text' },
            secrets: [],
            accept: () => ({ status: 200 }),
            take: () => ({ to: '', body: '', id: null }),
          }),
        [],
      ),
    'a signal ends a call',
  )
  expect(message).toMatch(/After 4000 ms/)
  expect(message).toMatch(/hanging\(\) (failed: Error: After 4000 ms|has not answered)/)
})

function withoutKey<Request extends { readonly idempotency?: unknown }>({
  idempotency: _,
  ...rest
}: Request) {
  return rest
}
