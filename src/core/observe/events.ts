import { EventEmitter } from 'eventemitter3'
import type { OptionNames } from '../errors/option-names.ts'
import { safely } from '../loop/safely.ts'
import type { ProcessListeners } from '../notification/process-event.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import { wrong } from '../tenancy/scope.ts'
import type { ListenerOf, NotifierEvents } from './api.ts'
import { createDeliveryLog, type HeardEvent } from './delivery-log.ts'

const EVENTS: OptionNames<NotifierEvents> = {
  'notification.accepted': true,
  'notification.sent': true,
  'notification.delivered': true,
  'notification.failed': true,
  'notification.opened': true,
  'notification.clicked': true,
  'notification.deferred': true,
  'notification.cancelled': true,
  'notification.complained': true,
  'notification.unsubscribed': true,
  'notification.skipped': true,
  'message.received': true,
  'attempt.started': true,
  'attempt.failed': true,
  'provider.paused': true,
  'provider.resumed': true,
  'webhook.failing': true,
  'webhook.disabled': true,
  error: true,
}

/**
 * Refuses unknown event names and listeners that are not functions.
 *
 * @throws NotifierError `invalid_parameter`
 */
function assertListener(event: unknown, listener: unknown): void {
  const known = typeof event === 'string' && Object.hasOwn(EVENTS, event)
  if (!known) throw wrong('event', `one of ${Object.keys(EVENTS).join(', ')}`)
  if (typeof listener !== 'function') throw wrong('listener', 'a function')
}

type Name = keyof NotifierEvents

const LISTENING = ['on', 'once', 'off'] as const

/** The methods `on`, `once` and `off`. @throws NotifierError `invalid_parameter` */
type Listening<Answer> = {
  readonly [Method in (typeof LISTENING)[number]]: <Event extends Name>(
    event: Event,
    listener: ListenerOf<Event>,
  ) => Answer
}

/** Emits events to the application's listeners and the log. */
export interface Events {
  /** The methods for listeners, which return `answer`. */
  listening<Answer>(answer: () => Answer): Listening<Answer>
  readonly wants: ProcessListeners['wants']
  tell(event: HeardEvent): void
  /** Reports a background error. */
  readonly onError: (error: unknown) => void
}

export function createEvents(logger: Logger, hasLogger: boolean, clock: Pick<Clock, 'monotonic'>): Events {
  const emitter = new EventEmitter<NotifierEvents>()
  /** The emitter forgets a `once` listener only when it calls it itself. */
  const onceOnly = new WeakSet<object>()
  const log = createDeliveryLog(logger, () => clock.monotonic())

  function emit(name: Name, value: Error | HeardEvent): void {
    for (const listener of emitter.listeners(name)) {
      if (onceOnly.has(listener)) emitter.removeListener(name, listener, undefined, true)
      const tell = (): unknown => (listener as (value: Error | HeardEvent) => unknown)(value)
      safely(tell, (error) => logger.error('A listener threw.', { event: name, error }))
    }
  }

  return {
    listening<Answer>(answer: () => Answer) {
      const methods = LISTENING.map((method) => [
        method,
        (event: Name, listener: ListenerOf<Name>) => {
          assertListener(event, listener)
          if (method === 'once') onceOnly.add(listener)
          emitter[method](event, listener as never)
          return answer()
        },
      ])
      return Object.fromEntries(methods) as Listening<Answer>
    },
    wants: (name) => emitter.listenerCount(name) > 0 || (name === 'attempt.failed' && hasLogger),
    tell(event) {
      log(event)
      emit(event.event, event)
    },
    onError(error) {
      // A plug-in may throw anything, even values that cannot be converted to text.
      const text = typeof error === 'string' ? error : 'A value that is not an Error was thrown.'
      const wrapped = error instanceof Error ? error : new Error(text, { cause: error })
      logger.error('A background task failed; delivery continues.', { error: wrapped })
      emit('error', wrapped)
    },
  }
}
