import type { PushKind } from '../../../../src/core/channels/push.ts'
import type { Outcome } from '../../../../src/core/notification/outcome.ts'
import type { Message } from '../../../../src/core/ports/provider.ts'

/** A message that no push service accepts. Nothing was sent. */
export function rejected(
  code: 'invalid_device_token' | 'invalid_content' | 'message_too_large',
  scope: 'recipient' | 'message',
  message: string,
): Extract<Outcome, { kind: 'rejected' }> {
  return { kind: 'rejected', code, scope, message }
}

/**
 * Calls the application's function for a message. Null: it failed, which is a fault of the message, not of the
 * provider.
 */
export function chosenFor(
  message: Message<PushKind>,
  choose: (message: Message<PushKind>) => string | undefined,
): string | undefined | null {
  try {
    const chosen: unknown = choose(message)
    return chosen === undefined || typeof chosen === 'string' ? chosen : null
  } catch {
    return null
  }
}

/** Copies an object without its undefined members. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields>
}
