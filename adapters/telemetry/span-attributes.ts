import type { SpanEnd, SpanStart } from '../../src/core/observe/telemetry.ts'

type Attributes = Record<string, string | number>

/** Names in OpenTelemetry's enumeration of span kinds. */
type Kind = 'PRODUCER' | 'CONSUMER' | 'CLIENT' | 'INTERNAL'

const SYSTEM = { 'messaging.system': 'carillon' } as const

/** Name and initial attributes of a span, by the messaging conventions. No recipient, no content. */
export function startOf(start: SpanStart): {
  readonly name: string
  readonly kind: Kind
  readonly attributes: Attributes
} {
  switch (start.name) {
    case 'accept':
      return {
        name: 'carillon.accept',
        kind: 'PRODUCER',
        attributes: { ...SYSTEM, ...operation(start.operation, 'send') },
      }
    case 'deliver':
      return {
        name: 'carillon.deliver',
        kind: 'CONSUMER',
        attributes: {
          ...SYSTEM,
          ...operation('deliver', 'process'),
          'messaging.destination.name': start.lane,
          'carillon.waited_ms': start.waitedMs,
        },
      }
    case 'attempt':
      return {
        name: 'carillon.attempt',
        kind: 'CLIENT',
        attributes: {
          ...SYSTEM,
          ...operation('attempt', 'send'),
          'messaging.destination.name': start.channel,
          'messaging.message.id': start.notificationId,
          'carillon.provider': start.provider,
          'carillon.attempt': start.attempt,
        },
      }
    case 'post':
      return {
        name: 'carillon.event',
        kind: 'CLIENT',
        attributes: {
          ...SYSTEM,
          ...operation('post', 'send'),
          'messaging.destination.name': start.endpointId,
          'messaging.message.id': start.eventId,
          'carillon.event': start.event,
        },
      }
    case 'settle':
      return {
        name: 'carillon.settle',
        kind: 'INTERNAL',
        attributes: { ...SYSTEM, ...operation('settle', 'settle') },
      }
  }
}

/** Attributes that are known only at the end. */
export function endOf({ failure, channel, notificationId, count, outcome, status }: SpanEnd): Attributes {
  return {
    ...(channel === undefined ? {} : { 'messaging.destination.name': channel }),
    ...(notificationId === undefined ? {} : { 'messaging.message.id': notificationId }),
    ...(count === undefined ? {} : { 'messaging.batch.message_count': count }),
    ...(outcome === undefined ? {} : { 'carillon.outcome': outcome }),
    ...(status === undefined ? {} : { 'http.response.status_code': status }),
    ...(failure === undefined ? {} : { 'error.type': failure }),
  }
}

function operation(name: string, type: 'send' | 'process' | 'settle'): Attributes {
  return { 'messaging.operation.name': name, 'messaging.operation.type': type }
}
