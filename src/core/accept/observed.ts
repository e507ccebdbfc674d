import type { ErrorCode } from '../errors/catalogue.ts'
import type { NewNotification } from '../notification/notification.ts'
import type { Observer } from '../observe/observer.ts'
import type { SpanEnd } from '../observe/telemetry.ts'
import type { Span } from '../ports/telemetry.ts'
import type { BatchResult, SentNotification } from './model.ts'

/** The notifications with the trace context of the accepting span. */
export function traced(
  notifications: readonly NewNotification[],
  span: Span | null,
): readonly NewNotification[] {
  const trace = span?.trace
  if (trace === undefined) return notifications
  return notifications.map((notification) => ({ ...notification, trace }))
}

export function aboutSent({ id, channel }: SentNotification): SpanEnd {
  return { notificationId: id, channel }
}

export function aboutBatch({ accepted }: BatchResult): SpanEnd {
  return { count: accepted }
}

/** Counts the items of a batch that were refused. */
export function recordRefused(observer: Observer, { items }: BatchResult): void {
  const counts = new Map<ErrorCode, number>()
  for (const item of items) {
    if ('error' in item) counts.set(item.error.code, (counts.get(item.error.code) ?? 0) + 1)
  }
  for (const [code, count] of counts)
    observer.record({ type: 'refused', operation: 'sendBatch', code, count })
}
