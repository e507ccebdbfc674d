import type { OptionNames } from '../errors/option-names.ts'
import { wrong } from '../tenancy/scope.ts'
import type { NotifierEvents } from './api.ts'

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
export function assertListener(event: unknown, listener: unknown): void {
  const known = typeof event === 'string' && Object.hasOwn(EVENTS, event)
  if (!known) throw wrong('event', `one of ${Object.keys(EVENTS).join(', ')}`)
  if (typeof listener !== 'function') throw wrong('listener', 'a function')
}
