import type { EndpointEvent } from '../delivery/endpoint-health.ts'
import { throttledEach } from '../loop/throttled.ts'
import type { NotificationEvent } from '../notification/event-payload.ts'
import type { ProcessEvent } from '../notification/process-event.ts'
import type { ProviderEvent } from '../notification/provider-event.ts'
import type { MessageReceivedEvent } from '../notification/received-message.ts'
import type { LogFields, Logger } from '../ports/logger.ts'

/** An event for listeners in this process. */
export type HeardEvent =
  | NotificationEvent
  | ProcessEvent
  | ProviderEvent
  | EndpointEvent
  | MessageReceivedEvent

interface Line {
  readonly message: string
  readonly fields: LogFields
}

/**
 * Logs problems of deliveries: failed and ambiguous attempts, final failures, pauses of providers and their end,
 * failing webhook endpoints. At most one line per minute for each provider and code; `leftOut` counts the omitted ones.
 *
 * @param now monotonic milliseconds
 */
export function createDeliveryLog(logger: Logger, now: () => number): (event: HeardEvent) => void {
  /** Providers with a logged pause, whose end is logged, too. */
  const paused = new Set<string>()
  const warn = throttledEach<Line>(({ message, fields }, leftOut) => {
    logger.warn(message, leftOut === 0 ? fields : { ...fields, leftOut })
  }, now)

  return ({ event, data }) => {
    switch (event) {
      case 'attempt.failed': {
        const { id: notificationId, channel, provider, attempt, error, ambiguous, nextAttemptInMs } = data
        const message = ambiguous
          ? 'The outcome of an attempt is unknown: the provider may have taken the message.'
          : 'A provider failed to deliver.'
        const { code, message: reason } = error
        const fields = { channel, provider, code, reason, notificationId, attempt, nextAttemptInMs }
        warn(nameOf(event, channel, provider, code), { message, fields })
        break
      }
      case 'notification.failed': {
        const { id: notificationId, channel, error } = data
        const fields = { channel, code: error.code, reason: error.message, notificationId }
        warn(nameOf(event, channel, error.code), { message: 'A notification failed.', fields })
        break
      }
      case 'provider.paused': {
        const { channel, provider, organizationId, code, message: reason, forMs } = data
        const fields = { channel, provider, organizationId, code, reason, forMs }
        paused.add(nameOf(channel, provider, organizationId))
        warn(nameOf(event, channel, provider, organizationId, code), {
          message: 'A provider is paused.',
          fields,
        })
        break
      }
      case 'provider.resumed': {
        const { channel, provider, organizationId } = data
        if (!paused.delete(nameOf(channel, provider, organizationId))) break
        logger.info('A provider works again.', { channel, provider, organizationId })
        break
      }
      case 'webhook.failing':
      case 'webhook.disabled': {
        const { id: endpoint, reason, failingSince } = data
        const message =
          reason === null
            ? 'A webhook endpoint fails; its deliveries are tried again.'
            : 'A webhook endpoint was disabled; its deliveries are held.'
        logger.warn(message, { endpoint, reason, failingSince })
      }
    }
  }
}

function nameOf(...parts: readonly (string | null)[]): string {
  return parts.join(' ')
}
