import { finish } from '../../src/core/loop/steps.ts'
import type { Message, SendContext } from '../../src/core/ports/provider.ts'
import { recordingLogger } from '../../src/testing/recording-logger.ts'

/** What the engine would pass to `send`. */
export function sendContext(more: Partial<SendContext> = {}): SendContext {
  return {
    notificationId: 'notif_17637264000000000123456789012',
    organizationId: 'org_default',
    attempt: 1,
    idempotencyKey: 'notif_17637264000000000123456789012',
    createdAt: Date.parse('2026-11-21T12:00:00Z'),
    expiresInMs: null,
    signal: new AbortController().signal,
    logger: recordingLogger().logger,
    runInSlices: finish,
    ...more,
  }
}

export function mailMessage(more: Partial<Message> = {}): Message {
  return { to: 'ada@example.com', subject: 'Hello', body: 'Hi Ada', format: 'text', ...more }
}
