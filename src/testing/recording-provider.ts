import { isDeepStrictEqual } from 'node:util'
import { assertOptionNames, FUNCTION } from '../core/errors/option-names.ts'
import type { Message, Provider, SendContext } from '../core/ports/provider.ts'
import { COMMON_RULES } from './provider-options.ts'

/** The reaction to one message. Its result has no type, because plug-ins may return anything. */
export type Behaviour = (message: Message, context: SendContext) => unknown

/** Options of {@link recordingProvider}: all members of a provider. */
export interface RecordingProviderOptions extends Partial<Omit<Provider, 'name' | 'kind' | 'send'>> {
  /** Instance id. @default 'recorder' */
  readonly name?: string | undefined
  /** The reaction to a message. @default accepts */
  readonly send?: Behaviour | undefined
}

/** A provider that records its messages. */
export interface RecordingProvider extends Omit<Provider, 'kind'> {
  /** None: it takes the channel it is configured for. */
  readonly kind?: undefined
  /** All hand-overs in order, repeated attempts included. */
  readonly calls: { readonly message: Message; readonly context: SendContext }[]
  /** The messages of all hand-overs, in order. */
  readonly messages: readonly Message[]
  /** The latest message to a recipient. */
  lastTo(address: string): Message | undefined
  /**
   * Resolves with the first matching message, past or future. A predicate is a function, or fields of the message.
   *
   * Rejects after `withinMs` milliseconds of real time with a list of the received messages. Default 4 000: most test
   * runners end a test after 5 000.
   */
  waitFor(
    predicate: Partial<Message> | ((message: Message) => boolean),
    options?: { readonly withinMs?: number | undefined },
  ): Promise<Message>
  /** Removes all recorded messages. */
  clear(): void
  /** Replaces the reaction from now on. */
  behave(behaviour: Behaviour): void
}

/**
 * A provider for any channel in tests of applications: accepts by default, and records its messages.
 *
 * @example
 * const email = recordingProvider()
 * const notifier = createNotifier({ channels: { email } })
 * await email.waitFor({ to: 'ada@example.com' })
 *
 * @throws NotifierError `invalid_configuration` for an unknown option or one of a wrong type
 */
export function recordingProvider(options: RecordingProviderOptions = {}): RecordingProvider {
  assertOptionNames('recordingProvider', options, {
    ...COMMON_RULES,
    senders: true,
    send: FUNCTION,
    accepts: FUNCTION,
    refuses: FUNCTION,
    threadIdOf: FUNCTION,
    parseReceipts: FUNCTION,
    confirmReceipts: FUNCTION,
    open: FUNCTION,
    check: FUNCTION,
    close: FUNCTION,
  })
  const calls: RecordingProvider['calls'] = []
  const waiting = new Set<(message: Message) => void>()
  const { send: first = accept, name = 'recorder', ...rest } = options
  let behaviour = first
  return {
    ...rest,
    name,
    calls,
    get messages() {
      return calls.map(({ message }) => message)
    },
    lastTo: (address) => calls.findLast(({ message }) => message.to === address)?.message,
    waitFor(predicate, { withinMs = 4_000 } = {}) {
      const fits = typeof predicate === 'function' ? predicate : (message: Message) => has(message, predicate)
      return new Promise((resolve, reject) => {
        const found = calls.find(({ message }) => fits(message))
        if (found !== undefined) {
          resolve(found.message)
          return
        }
        function look(message: Message): void {
          if (!fits(message)) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve(message)
        }
        const timer = setTimeout(() => {
          waiting.delete(look)
          reject(new Error(`No such message within ${withinMs} ms. There were: ${listOf(calls)}`))
        }, withinMs)
        waiting.add(look)
      })
    },
    clear() {
      calls.length = 0
    },
    behave(next) {
      behaviour = next
    },
    send(message, context) {
      calls.push({ message, context })
      for (const look of [...waiting]) look(message)
      return behaviour(message, context) as ReturnType<Provider['send']>
    },
  }
}

/** The notification's id, so that repeated hand-overs are recognizable. */
const accept: Behaviour = (_message, { notificationId }) => ({
  kind: 'accepted',
  providerMessageId: `m-${notificationId}`,
})

function has(message: Message, fields: Partial<Message>): boolean {
  const given: Readonly<Record<string, unknown>> = { ...message }
  return Object.entries(fields).every(([name, value]) => isDeepStrictEqual(given[name], value))
}

function listOf(calls: RecordingProvider['calls']): string {
  const lines = calls.map(({ message: { to, subject, body } }) => JSON.stringify({ to, subject, body }))
  return lines.length === 0 ? 'none.' : `\n${lines.join('\n')}`
}
