import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Outcome } from '../../core/notification/outcome.ts'
import type { Message, Provider, SendContext } from '../../core/ports/provider.ts'
import { inTime } from '../in-time.ts'
import { recordingLogger } from '../recording-logger.ts'
import { Absent } from '../test-api.ts'
import type { HttpAct, ProviderHarness } from './harness.ts'

/** Timeout of each close after a failed check; together with the above still below the test timeout of runners. */
const LEAVING_MS = 250

/** Text that only a correct encoding preserves. */
export const TEXT = 'Grüße 🎉 an Ada'

export type Check = (name: string, run: (bench: Bench) => Promise<void>) => void

export interface Bench extends ProviderHarness {
  actHttp(behaviour: HttpAct): void
  /** Sends the harness' message or a changed one, and records the outcome. */
  send(notification?: string, more?: Partial<Message>, context?: Partial<SendContext>): Promise<Outcome>
  /** The same through a provider with another address. */
  sendTo(host: string, port: number, context: Partial<SendContext>): Promise<Outcome>
  /** Closes once, however often it is called. */
  closeProvider(): Promise<void>
  assertSecretsKept(): void
}

export function benchOf(harness: ProviderHarness): Bench {
  const { logger, lines } = recordingLogger()
  const outcomes: Outcome[] = []
  let closing: Promise<void> | undefined
  async function sendThrough(provider: Provider, message: Message, context: SendContext): Promise<Outcome> {
    const sending = provider.send(message, context)
    const outcome = await inTime(
      sending,
      'the provider has not answered, or not stopped when the signal aborted',
    )
    outcomes.push(outcome)
    return outcome
  }
  return {
    ...harness,
    hanging: () => inTime(harness.hanging(), 'the hanging service got no whole message'),
    drained: () => inTime(harness.drained(), 'a connection to the service is still open'),
    async closeProvider() {
      closing ??= Promise.resolve(harness.provider.close?.())
      await inTime(closing, 'the provider is not closed')
    },
    actHttp(behaviour) {
      assert.ok(harness.actHttp, 'the harness does not play what only HTTP can do')
      harness.actHttp(behaviour)
    },
    send: (notification = '1', more = {}, change = {}) =>
      sendThrough(
        harness.provider,
        { ...harness.message, body: TEXT, ...more },
        contextOf(notification, logger, change),
      ),
    async sendTo(host, port, change) {
      const other = harness.elsewhere(host, port)
      if (other === null) throw new Absent(`The provider reaches no service at ${host}.`)
      const { provider, message } = other
      try {
        await provider.open?.({ proxyFor: () => null })
        return await sendThrough(provider, { ...message, body: TEXT }, contextOf('1', logger, change))
      } finally {
        await provider.close?.()
      }
    },
    assertSecretsKept() {
      const said = [...lines(), ...outcomes.map((outcome) => JSON.stringify(outcome))]
      const found = said.filter((line) => harness.secrets.some((secret) => line.includes(secret)))
      assert.deepEqual(found, [], 'a secret appears in an outcome or a log line')
    },
  }
}

/**
 * Closes parts after an error, with a timeout: a hanging send often blocks its close, and the error concerns the send.
 */
export async function leave(...closes: (() => Promise<void>)[]): Promise<void> {
  for (const close of closes) {
    await inTime((async () => close())(), 'it is not closed', LEAVING_MS).catch(() => {})
  }
}

function contextOf(
  notification: string,
  logger: SendContext['logger'],
  change: Partial<SendContext>,
): SendContext {
  const id = `notif_${notification.padStart(34, '0')}`
  const { signal = new AbortController().signal } = change
  return {
    notificationId: id,
    organizationId: 'org_default',
    attempt: 1,
    idempotencyKey: id,
    createdAt: Date.UTC(2026, 0, 15, 12),
    expiresInMs: null,
    signal,
    logger,
    runInSlices: (steps) => runInSlices(steps, signal),
    ...change,
  }
}

/** Simulates a busy machine: yields after each step. */
async function runInSlices<Result>(steps: Iterator<undefined, Result>, signal: AbortSignal): Promise<Result> {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    await nextTurn()
    signal.throwIfAborted()
  }
}

/** Checks the end of a hanging provider. */
export async function endsBySignal(
  bench: Bench,
  valid: readonly Outcome['kind'][] = ['ambiguous'],
): Promise<void> {
  const abort = new AbortController()
  const sending = bench.send('1', {}, { signal: abort.signal })
  // A send that fails before explains itself.
  await Promise.race([bench.hanging(), sending])
  abort.abort(new Error('The time is over.'))
  const outcome = await sending
  assert.ok(valid.includes(outcome.kind), JSON.stringify(outcome))
  bench.act({ kind: 'accept' })
  assert.equal((await bench.send('2')).kind, 'accepted')
}
