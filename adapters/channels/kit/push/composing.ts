import type { Outcome } from '../../../../src/core/notification/outcome.ts'

/** A message that no push service accepts. Nothing was sent. */
export function rejected(
  code: 'invalid_device_token' | 'invalid_content' | 'message_too_large',
  scope: 'recipient' | 'message',
  message: string,
): Extract<Outcome, { kind: 'rejected' }> {
  return { kind: 'rejected', code, scope, message }
}

/** Copies an object without its undefined members. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields>
}
