import { randomBytes } from 'node:crypto'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { assertOptionNames } from '../../core/errors/option-names.ts'
import { systemClock } from '../../core/loop/system-clock.ts'
import type { Ambiguous, Outcome, Retry } from '../../core/notification/outcome.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { Message, Provider, SendContext } from '../../core/ports/provider.ts'
import type { ReceiptRequest } from '../../core/ports/receipts.ts'
import { COMMON_RULES, TEXT } from '../provider-options.ts'
import { parseSimulated, receiptRequest } from './receipts.ts'
import {
  type LaterReport,
  readSimulated,
  SIMULATED_CHANNELS,
  type SimulatedChannel,
  simulatedName,
  simulatedRecipient,
} from './recipients.ts'

/** Options of {@link simulatorProvider}: those of every provider, and of the simulated service. */
export interface SimulatorProviderOptions
  extends Pick<Provider, 'maxConcurrent' | 'maxPerSecond' | 'timeoutMs' | 'retry' | 'onAmbiguous'> {
  /** A built-in channel. */
  readonly channel: SimulatedChannel
  /** Instance id. @default 'simulator' */
  readonly name?: string | undefined
  /** Public address of the notifier, for the URLs of receipts. @default 'https://carillon.example' */
  readonly publicUrl?: string | undefined
  /** The clock of delays. @default the system's */
  readonly clock?: Clock | undefined
}

/** A provider without a service, controlled by the recipient's name. */
export interface SimulatorProvider extends Omit<Provider, 'kind'> {
  /** None: it takes the channel it is configured for. */
  readonly kind?: undefined
  /**
   * The magic recipient for a name on this channel: `recipient('bounced')`. A tag makes distinct recipients of the same
   * behaviour.
   *
   * @throws NotifierError `invalid_configuration` for an unknown name
   */
  recipient(name: string, tag?: string): string
  /** Accepted messages in order. */
  readonly accepted: readonly SimulatedMessage[]
  /**
   * The requests that report the later events of accepted messages since the last call, in order. Post them to their
   * `url`, or pass them to `parseReceipts`.
   */
  receipts(): readonly ReceiptRequest[]
  parseReceipts: NonNullable<Provider['parseReceipts']>
}

export interface SimulatedMessage {
  readonly providerMessageId: string
  readonly idempotencyKey: string
  readonly message: Message
}

/**
 * A provider for tests and demonstrations without a service: the recipient's name chooses any outcome, code and later
 * report; docs/tasks/testing.md lists them. It accepts all other recipients.
 *
 * @example
 * const email = simulatorProvider({ channel: 'email' })
 * await notifier.send({ channel: 'email', to: email.recipient('bounced'), body: 'Hi' })
 *
 * @throws NotifierError `invalid_configuration` for a missing or unknown option, or one of a wrong type
 */
export function simulatorProvider(options: SimulatorProviderOptions): SimulatorProvider {
  assertOptionNames('simulatorProvider', options, {
    ...COMMON_RULES,
    channel: {
      expected: `one of ${SIMULATED_CHANNELS.join(', ')}`,
      holds: (value) => SIMULATED_CHANNELS.some((channel) => channel === value),
      required: true,
    },
    publicUrl: TEXT,
    clock: { expected: 'a clock with the methods now and timer', holds: isClock },
  })
  const {
    channel,
    name = 'simulator',
    publicUrl = 'https://carillon.example',
    clock = systemClock(),
  } = options
  const { maxConcurrent, maxPerSecond, timeoutMs, retry, onAmbiguous } = options
  const secret = randomBytes(32).toString('base64')
  const url = `${publicUrl}/receipts/${channel}/${name}`
  const accepted: SimulatedMessage[] = []
  let posts: ReceiptRequest[] = []

  function accept(message: Message, context: SendContext, reports: readonly LaterReport[] = []): Outcome {
    const { notificationId, idempotencyKey } = context
    const providerMessageId = `sim-${accepted.length + 1}-${notificationId}`
    accepted.push({ providerMessageId, idempotencyKey, message })
    const about = { notificationId, providerMessageId, to: message.to }
    for (const report of reports) posts.push(receiptRequest(url, secret, about, report, clock.now()))
    return { kind: 'accepted', providerMessageId }
  }

  async function send(message: Message, context: SendContext): Promise<Outcome> {
    if (context.signal.aborted) return unavailable('The time was over before the hand-over.')
    const called = simulatedName(channel, message.to)
    // Other recipients are ordinary; a misspelt magic name is not.
    if (called === null) return accept(message, context)
    const asked = readSimulated(called)
    switch (asked?.kind) {
      case undefined:
        return unknownName(called)
      case 'rejected':
        return { kind: 'rejected', code: asked.code, scope: asked.scope, ...told(called) }
      case 'retry':
        return { kind: 'retry', code: asked.code, scope: asked.scope, ...told(called) }
      case 'flaky':
        return context.attempt > asked.failures ? accept(message, context) : unavailable(SIMULATED)
      case 'delayed':
        return (await passes(clock, asked.ms, context.signal)) ? accept(message, context) : noAnswer()
      case 'case':
        return asked.reports === undefined
          ? withoutAnswer(asked.name, context)
          : accept(message, context, asked.reports)
    }
  }

  async function withoutAnswer(called: string, { signal }: SendContext): Promise<Outcome> {
    if (called === 'throws') throw new Error('The channel is faulty. Simulated.')
    if (called === 'ambiguous') return { kind: 'ambiguous', reason: 'The connection broke. Simulated.' }
    await passes(clock, Number.POSITIVE_INFINITY, signal)
    return noAnswer()
  }

  return {
    name,
    maxConcurrent,
    maxPerSecond,
    timeoutMs,
    retry,
    onAmbiguous,
    accepted,
    send,
    recipient(wanted, tag) {
      const found = readSimulated(wanted) === null ? undefined : simulatedRecipient(channel, wanted, tag)
      if (found !== undefined) return found
      throw new NotifierError('invalid_configuration', {
        message: `The simulator has no recipient "${wanted}" on ${channel}; docs/tasks/testing.md lists them.`,
      })
    },
    receipts() {
      const due = posts
      posts = []
      return due
    },
    parseReceipts: async (request) => parseSimulated(request, secret),
  }
}

function isClock(value: unknown): boolean {
  const { now, timer } = (value ?? {}) as { readonly [Name in keyof Clock]?: unknown }
  return typeof now === 'function' && typeof timer === 'function'
}

const SIMULATED = 'Simulated.'

function told(called: string): { readonly message: string; readonly providerCode: string } {
  return { message: SIMULATED, providerCode: called }
}

function unavailable(message: string): Retry {
  return { kind: 'retry', code: 'provider_unavailable', scope: 'provider', message }
}

function noAnswer(): Ambiguous {
  return { kind: 'ambiguous', reason: 'The provider did not answer in time. Simulated.' }
}

function unknownName(called: string): Outcome {
  const message = `The simulator knows no recipient "${called}".`
  return { kind: 'rejected', code: 'invalid_recipient', scope: 'recipient', message }
}

/** True: the time has passed. False: the signal aborted first. */
function passes(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = Number.isFinite(ms) ? clock.timer(ms, () => end(true)) : () => {}
    const abort = (): void => end(false)
    function end(passed: boolean): void {
      cancel()
      signal.removeEventListener('abort', abort)
      resolve(passed)
    }
    signal.addEventListener('abort', abort)
  })
}
