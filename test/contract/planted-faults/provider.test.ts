import { describe, expect, it, vi } from 'vitest'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Message, Provider, SendContext } from '../../../src/core/ports/provider.ts'
import {
  type ProviderAct,
  type ProviderHarness,
  providerContract,
} from '../../../src/testing/provider-contract.ts'

/* The contract itself: a provider that keeps it passes, and every violation is found. */

interface FakeApi {
  act: ProviderAct
  readonly taken: { to: string; body: string; id: string | null }[]
  open: number
  most: number
  /** Nothing is at its address. */
  readonly nowhere: boolean
  hangs(): void
  readonly hanging: Promise<void>
}

type Send = (provider: FakeApi, message: Message, context: SendContext) => Promise<Outcome>

const pause = () => new Promise<void>((resolve) => setImmediate(resolve))
const refused: Outcome = { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient', message: 'No.' }

const good: Send = async (provider, { to, body }, { idempotencyKey, signal }) => {
  if (signal.aborted || provider.nowhere)
    return { kind: 'retry', code: 'provider_unavailable', scope: 'provider' }
  provider.open += 1
  provider.most = Math.max(provider.most, provider.open)
  try {
    await pause()
    switch (provider.act.kind) {
      case 'answer':
        return refused
      case 'break':
        return { kind: 'ambiguous', reason: 'It broke.' }
      case 'hang':
        provider.hangs()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        return { kind: 'ambiguous', reason: 'No answer.' }
      case 'accept':
        provider.taken.push({ to, body, id: idempotencyKey })
        return { kind: 'accepted' }
    }
  } finally {
    provider.open -= 1
  }
}

/** The names of the checks that a provider fails. */
async function failuresOf(send: Send, more: Partial<Provider> = {}): Promise<string[]> {
  const checks: [string, () => Promise<void>][] = []
  providerContract(
    (name, run) => checks.push([name, run]),
    async () => harnessOf(send, more),
    [{ row: 'no', outcome: { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient' } }],
  )
  const failures: string[] = []
  for (const [name, run] of checks) await run().catch(() => failures.push(name))
  return failures
}

/** What the check says of a provider that hangs, in a runner that gives it five seconds of its own clock. */
async function saysOfHanging(
  send: Send,
  more: Partial<Provider> & { end?: () => Promise<void> },
): Promise<unknown> {
  const runs: (() => Promise<void>)[] = []
  const { end, ...options } = more
  providerContract(
    (name, run) => name.includes('ends a call without an answer') && runs.push(run),
    async () => ({ ...harnessOf(send, options), ...(end === undefined ? {} : { close: end }) }),
    [],
  )
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const said = Promise.race([
      runs[0]?.().catch((error: Error) => error.message),
      new Promise((resolve) => setTimeout(() => resolve('The runner was tired of it.'), 5_000)),
    ])
    for (let ms = 0; ms < 5_000; ms += 50) {
      await pause()
      await vi.advanceTimersByTimeAsync(50)
    }
    return await said
  } finally {
    vi.useRealTimers()
  }
}

function harnessOf(send: Send, more: Partial<Provider>): ProviderHarness {
  let hangs = () => {}
  const hanging = new Promise<void>((resolve) => {
    hangs = resolve
  })
  const api: FakeApi = {
    act: { kind: 'accept' },
    taken: [],
    open: 0,
    most: 0,
    nowhere: false,
    hangs,
    hanging,
  }
  const providerTo = (at: FakeApi): Provider => ({
    name: 'fake',
    maxConcurrent: 3,
    send: (message, context) => send(at, message, context),
    ...more,
  })
  const message = { to: '+14155550123', subject: null, body: '', format: 'text' } as const
  return {
    provider: providerTo(api),
    message,
    secrets: ['correct horse'],
    act(how) {
      api.act = how
    },
    taken: async () => api.taken,
    hanging: () => api.hanging,
    mostConnections: () => api.most,
    elsewhere: () => ({ provider: providerTo({ ...api, nowhere: true }), message }),
    drained: async () => {
      if (api.open > 0) throw new Error('still open')
    },
    close: async () => {},
  }
}

describe('providerContract', () => {
  it('is kept by a good provider', async () => {
    expect(await failuresOf(good)).toEqual([])
  })

  it('is kept by a provider that is opened first, and closed once', async () => {
    let open = 0
    const openedFirst: Send = (...args) => {
      if (open === 0) throw new Error('It is not open.')
      return good(...args)
    }
    const more: Partial<Provider> = {
      async open() {
        open += 1
      },
      async close() {
        if (open === 0) throw new Error('It is not open.')
        open -= 1
      },
    }
    expect(await failuresOf(openedFirst, more)).toEqual([])
  })

  it('reports a provider that ignores its signal, even if its close or its API waits for the end', async () => {
    const forever = new Promise<never>(() => {})
    const deaf: Send = (provider, message, { idempotencyKey }) =>
      good(provider, message, { idempotencyKey, signal: new AbortController().signal } as SendContext)
    const expected = expect.stringContaining('the provider has not answered, or not stopped')
    expect(await saysOfHanging(deaf, { close: () => forever })).toEqual(expected)
    expect(await saysOfHanging(deaf, { end: () => forever })).toEqual(expected)
  })

  it('reports how the send of a provider failed', async () => {
    const broken = () => Promise.reject(new Error('It has no socket.'))
    expect(await saysOfHanging(broken, {})).toMatch(/^It has no socket\.$/m)
  })

  it.each<[string, Send, Partial<Provider>, RegExp]>([
    ['has no usable name', good, { name: 'My SMS' }, /instance id/],
    ['does not accept its own message', good, { accepts: () => false }, /accepts the recipient/],
    [
      'believes reports of anybody',
      good,
      { parseReceipts: async () => ({ kind: 'receipts', receipts: [] }) },
      /reports of strangers/,
    ],
    [
      'throws over a report that it cannot read',
      good,
      {
        async parseReceipts({ body }) {
          JSON.parse(Buffer.from(body).toString())
          return { kind: 'refused', why: 'signature', message: 'No.' }
        },
      },
      /reports of strangers/,
    ],
    [
      'throws for an error',
      async (provider, message, context) => {
        if (provider.act.kind === 'answer') throw new Error('no')
        return good(provider, message, context)
      },
      {},
      /an answer is understood: no/,
    ],
    [
      'takes a refusal for success',
      async (provider, message, context) => {
        const outcome = await good(provider, message, context)
        return provider.act.kind === 'answer' ? { kind: 'accepted' } : outcome
      },
      {},
      /an answer is understood: no/,
    ],
    [
      'repeats a refusal until it succeeds',
      async (provider, message, context) => {
        const outcome = await good(provider, message, context)
        if (outcome.kind === 'rejected') provider.taken.push({ to: message.to, body: message.body, id: null })
        return outcome
      },
      {},
      /an answer is understood: no/,
    ],
    [
      'sends to another recipient',
      (provider, message, context) => good(provider, { ...message, to: `${message.to}1` }, context),
      {},
      /reached the provider/,
    ],
    [
      'sends twice',
      async (provider, message, context) => {
        await good(provider, message, context)
        return good(provider, message, context)
      },
      {},
      /reached the provider, once/,
    ],
    [
      'loses characters',
      (provider, message, context) =>
        good(provider, { ...message, body: Buffer.from(message.body, 'latin1').toString('latin1') }, context),
      {},
      /unchanged/,
    ],
    [
      'makes a new id for every attempt',
      (provider, message, context) =>
        good(provider, message, { ...context, idempotencyKey: String(Math.random()) }),
      {},
      /carry one id/,
    ],
    [
      'counts attempts into the id',
      (provider, message, context) =>
        good(provider, message, {
          ...context,
          idempotencyKey: `${context.idempotencyKey}-${context.attempt}`,
        }),
      {},
      /carry one id/,
    ],
    [
      'uses one id for all',
      (provider, message, context) => good(provider, message, { ...context, idempotencyKey: 'same' }),
      {},
      /carry one id/,
    ],
    [
      'announces fewer connections than it opens',
      async (provider, message, context) => {
        provider.most = 99
        return good(provider, message, context)
      },
      {},
      /no more connections/,
    ],
    [
      'keeps connections open',
      async (provider, message, context) => {
        provider.open += 1
        return good(provider, message, context)
      },
      {},
      /leaves no connection open/,
    ],
    [
      'begins although the signal has aborted',
      (provider, message, context) => {
        const signal = context.signal.aborted ? new AbortController().signal : context.signal
        return good(provider, message, { ...context, signal })
      },
      {},
      /aborted before/,
    ],
    [
      'calls a hanging provider retryable',
      async (provider, message, context) => {
        const outcome = await good(provider, message, context)
        return provider.act.kind === 'hang' ? { ...refused, kind: 'retry' } : outcome
      },
      {},
      /ends a call without an answer/,
    ],
    [
      'calls a broken connection retryable',
      async (provider, message, context) => {
        const outcome = await good(provider, message, context)
        return provider.act.kind === 'break' ? { ...refused, kind: 'retry' } : outcome
      },
      {},
      /breaks before the answer/,
    ],
    [
      'calls a refused connection ambiguous',
      async (provider, message, context) =>
        provider.nowhere ? { kind: 'ambiguous', reason: 'ECONNREFUSED' } : good(provider, message, context),
      {},
      /refuses the connection/,
    ],
    [
      'gives a message up for a host that cannot be found',
      async (provider, message, context) => (provider.nowhere ? refused : good(provider, message, context)),
      {},
      /host that does not exist/,
    ],
    [
      'logs a secret',
      (provider, message, context) => {
        context.logger.debug('connecting', { error: new Error('with correct horse') })
        return good(provider, message, context)
      },
      {},
      /unchanged/,
    ],
    [
      'tells a secret',
      async (provider, message, context) => ({
        ...(await good(provider, message, context)),
        providerMessageId: 'correct horse',
      }),
      {},
      /unchanged/,
    ],
  ])('finds a provider that %s', async (_, send, more, expected) => {
    expect(await failuresOf(send, more)).toEqual(expect.arrayContaining([expect.stringMatching(expected)]))
  })
})
