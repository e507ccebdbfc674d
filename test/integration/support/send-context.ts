import type { SendContext } from '../../../src/ports/channel.ts'
import { recordingLogger } from '../../../src/testing/recording-logger.ts'

/** What the engine hands to a channel's `send`. */
export function sendContext(id = '1', change: Partial<SendContext> = {}): SendContext {
  const notificationId = `notif_${id.padStart(29, '0')}`
  return {
    notificationId,
    organizationId: 'org_default',
    attempt: 1,
    idempotencyKey: notificationId,
    createdAt: Date.UTC(2026, 0, 15, 12),
    signal: new AbortController().signal,
    logger: recordingLogger().logger,
    ...change,
  }
}
