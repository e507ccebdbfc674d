import { EventEmitter } from 'eventemitter3'
import { safely } from '../loop/safely.ts'
import type { ProcessListeners } from '../notification/process-event.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ListenerOf, NotifierEvents } from './api.ts'
import { createDeliveryLog, type HeardEvent } from './delivery-log.ts'
import { assertListener } from './listeners.ts'

type Name = keyof NotifierEvents

/** Emits events to the application's listeners and the log. */
export interface Events {
  /** @throws NotifierError `invalid_parameter` */
  on<Event extends Name>(event: Event, listener: ListenerOf<Event>): void
  /** @throws NotifierError `invalid_parameter` */
  once<Event extends Name>(event: Event, listener: ListenerOf<Event>): void
  /** @throws NotifierError `invalid_parameter` */
  off<Event extends Name>(event: Event, listener: ListenerOf<Event>): void
  readonly wants: ProcessListeners['wants']
  tell(event: HeardEvent): void
  /** Reports a background error. */
  readonly onError: (error: unknown) => void
}

/** The methods of a notifier for its listeners, which return the notifier. */
export function chained<Notifier>(events: Events, notifier: () => Notifier): Chained<Notifier> {
  return {
    on(event, listener) {
      events.on(event, listener)
      return notifier()
    },
    once(event, listener) {
      events.once(event, listener)
      return notifier()
    },
    off(event, listener) {
      events.off(event, listener)
      return notifier()
    },
  }
}

type Chained<Notifier> = {
  readonly [Method in 'on' | 'once' | 'off']: <Event extends Name>(
    event: Event,
    listener: ListenerOf<Event>,
  ) => Notifier
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
    on(event, listener) {
      assertListener(event, listener)
      emitter.on(event, listener as never)
    },
    once(event, listener) {
      assertListener(event, listener)
      onceOnly.add(listener)
      emitter.once(event, listener as never)
    },
    off(event, listener) {
      assertListener(event, listener)
      emitter.off(event, listener as never)
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
