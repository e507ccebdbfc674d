import { describe, expect, it } from 'vitest'
import { configuredProvider } from '../../../../src/core/channels/providers.ts'
import { sendAttempt } from '../../../../src/core/delivery/send-attempt.ts'
import { createStop } from '../../../../src/core/delivery/stop.ts'
import { finish } from '../../../../src/core/loop/steps.ts'
import { silentLogger } from '../../../../src/core/observe/silent-logger.ts'
import { fakeClock, settled } from '../../../../src/testing/fake-clock.ts'
import { type Behaviour, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { kindOf } from '../../../support/kinds.ts'
import { observation } from '../../../support/observation.ts'

const message = { to: 'ada@example.com', subject: null, body: 'x', format: 'text' } as const
const context = {
  notificationId: 'notif_1',
  organizationId: 'org_default',
  attempt: 1,
  idempotencyKey: 'notif_1',
  createdAt: 0,
  expiresInMs: null,
  logger: silentLogger(),
  share: finish,
}

function attempt(send: Behaviour, stop = createStop()) {
  const clock = fakeClock()
  const channel = recordingProvider({ send, timeoutMs: 1_000 })
  const failures: Error[] = []
  const { observer, facts } = observation()
  return {
    clock,
    facts,
    channel,
    failures,
    outcome: sendAttempt(
      configuredProvider(channel, kindOf('email')),
      message,
      context,
      stop,
      clock,
      observer,
      (error) => failures.push(error),
    ),
  }
}

describe('sendAttempt', () => {
  it.each<[string, Behaviour]>([
    [
      'throws',
      () => {
        throw new Error('secret detail')
      },
    ],
    [
      'throws no error',
      () => {
        // biome-ignore lint/style/useThrowOnlyError: this is what the test is about
        throw 'secret detail'
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret detail'))],
    ['rejects with no error', () => Promise.reject('secret detail')],
    ['rejects with nothing', () => Promise.reject(undefined)],
    ['answers nothing', () => undefined],
    ['answers null', () => null],
    ['answers true', async () => true],
    ['answers an empty object', async () => ({})],
    ['answers another kind', async () => ({ kind: 'ok' })],
    ['answers a kind that every object has', async () => ({ kind: 'constructor' })],
    [
      'answers through a getter that throws',
      async () => ({
        get kind() {
          throw new Error('secret detail')
        },
      }),
    ],
  ])('takes a channel that %s as ambiguous, and tells no detail', async (_name, behaviour) => {
    const outcome = await attempt(behaviour).outcome
    expect(outcome).toMatchObject({ kind: 'ambiguous', reason: expect.stringContaining('"recorder"') })
    expect(JSON.stringify(outcome)).not.toContain('secret detail')
  })

  it('reports what a channel throws, which no outcome shows', async () => {
    for (const thrown of [new Error('secret detail'), 'secret detail', undefined, null]) {
      const { outcome, failures } = attempt(() => Promise.reject(thrown))
      await outcome
      expect(failures).toHaveLength(1)
      expect(failures[0]?.message).toContain('"recorder" threw')
      expect(failures[0]?.message).toContain('notif_1')
      expect(failures[0]?.cause).toBe(thrown)
    }
    const { outcome, failures } = attempt(async () => ({ kind: 'ambiguous', reason: 'unknown' }))
    await outcome
    expect(failures).toEqual([])
  })

  it('reports an answer that is no outcome, with what to return', async () => {
    const { outcome, failures } = attempt(() => undefined)
    await outcome
    expect(failures.map(String)).toEqual([
      'Error: The provider "recorder" returned no valid outcome, for notif_1: return { kind: "accepted" } if it took the message, otherwise another outcome (docs/tasks/custom-provider.md).',
    ])
  })

  it('tells why it was stopped where a channel throws because of that, and reports nothing', async () => {
    const { clock, outcome, failures } = attempt(
      (_message, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )
    await clock.advance(1_000)
    expect(await outcome).toEqual({ kind: 'ambiguous', reason: 'No answer within 1000 ms.' })
    expect(failures).toEqual([])
  })

  it('repairs what is unreadable in an outcome', async () => {
    const answers: [unknown, unknown][] = [
      [
        { kind: 'accepted', providerMessageId: 7, status: 'read' },
        { kind: 'accepted', providerMessageId: '7', status: 'sent' },
      ],
      [
        { kind: 'accepted', providerMessageId: {} },
        { kind: 'accepted', status: 'sent' },
      ],
      [{ kind: 'rejected' }, { kind: 'rejected', code: 'provider_error', scope: 'message' }],
      [
        { kind: 'rejected', code: '__proto__', scope: 'me' },
        { kind: 'rejected', code: 'provider_error', providerCode: '__proto__', scope: 'message' },
      ],
      [
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient', retryAfterMs: Number.NaN },
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient' },
      ],
      [
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient', retryAfterMs: -5 },
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient' },
      ],
      [
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient', retryAfterMs: '5' },
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient' },
      ],
      [
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient', retryAfterMs: Infinity },
        { kind: 'retry', code: 'mailbox_full', scope: 'recipient', retryAfterMs: 86_400_000 },
      ],
      [{ kind: 'ambiguous' }, { kind: 'ambiguous', reason: 'The provider gave no reason.' }],
    ]
    for (const [answer, expected] of answers) {
      expect(JSON.parse(JSON.stringify(await attempt(async () => answer).outcome))).toEqual(expected)
    }
    const long = await attempt(async () => ({ kind: 'ambiguous', reason: 'x'.repeat(100_000) })).outcome
    expect(JSON.stringify(long).length).toBeLessThan(3_000)
  })

  it('aborts at the deadline, and takes what a channel answers then', async () => {
    const { clock, outcome } = attempt(
      (_message, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'ambiguous', reason: 'aborted in DATA' }))
        }),
    )
    await clock.advance(1_000)
    expect(await outcome).toMatchObject({ kind: 'ambiguous', reason: 'aborted in DATA' })
  })

  it('gives a channel up that never settles, also after the abort', async () => {
    const { clock, outcome, channel } = attempt(() => new Promise(() => {}))
    let ended = false
    void outcome.then(() => {
      ended = true
    })
    await clock.advance(2_999)
    expect(channel.calls[0]?.context.signal.aborted).toBe(true)
    expect(ended).toBe(false)
    await clock.advance(1)
    expect(await outcome).toMatchObject({ kind: 'ambiguous', reason: 'No answer within 1000 ms.' })
  })

  it('does not hear what a channel that was given up says later', async () => {
    let reject: (error: unknown) => void = () => {}
    const { clock, outcome } = attempt(
      () =>
        new Promise((_resolve, late) => {
          reject = late
        }),
    )
    await clock.advance(5_000)
    await outcome
    reject(new Error('late'))
    await settled()
  })

  it('has one signal, in copies of what a channel is told too, which knows of an abort before the look', async () => {
    const stop = createStop()
    const { channel } = attempt(() => new Promise(() => {}), stop)
    await settled()
    const { context: told } = channel.calls[0] ?? {}
    const reason = new Error('The notifier is stopping.')
    stop.abort(reason)
    stop.abort(new Error('later'))
    const { share: _, ...others } = context
    expect(Object.keys(told ?? {}).sort()).toEqual([...Object.keys(others), 'runInSlices', 'signal'].sort())
    const copy = { ...told }
    expect(copy.signal).toBeInstanceOf(AbortSignal)
    expect(copy.signal).toBe(told?.signal)
    expect(Object.create(told ?? {}).signal).toBe(told?.signal)
    expect(new Proxy(told ?? {}, {})).toHaveProperty('signal', told?.signal)
    expect(copy.signal?.reason).toBe(reason)
  })

  it('is given up when it is stopped', async () => {
    const stop = createStop()
    const { clock, outcome } = attempt(() => new Promise(() => {}), stop)
    await settled()
    stop.abort(new Error('The notifier is stopping.'))
    await clock.advance(2_000)
    expect(await outcome).toMatchObject({ kind: 'ambiguous', reason: 'The notifier is stopping.' })
  })

  it('leaves no timer behind, nor makes one where its job is stopped after it', async () => {
    const stop = createStop()
    const { clock, outcome, channel } = attempt(async () => ({ kind: 'accepted' }), stop)
    await outcome
    await clock.advance(60_000)
    expect(channel.calls[0]?.context.signal.aborted).toBe(false)
    stop.abort(new Error('The notifier is stopping.'))
    await expect(clock.until(() => false)).rejects.toThrow('Not reached')
    expect(clock.monotonic()).toBe(60_000)
  })

  it('is counted with the time that it took', async () => {
    let accept = (): void => {}
    const { clock, outcome, facts } = attempt(
      () => new Promise((resolve) => (accept = () => resolve({ kind: 'accepted' }))),
    )
    await clock.advance(700)
    accept()
    await outcome
    expect(facts).toMatchObject([{ type: 'attempt', outcome: 'accepted', durationMs: 700 }])
  })

  it('leaves no timer behind either where a channel answers after the abort', async () => {
    const { clock, outcome } = attempt(
      (_message, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve({ kind: 'ambiguous', reason: 'aborted' }))
        }),
    )
    await clock.advance(1_000)
    await outcome
    // Time goes on only from timer to timer.
    await expect(clock.until(() => false)).rejects.toThrow('Not reached')
    expect(clock.monotonic()).toBe(1_000)
  })
})
