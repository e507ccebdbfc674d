import type { Outcome } from '../../../src/domain/outcome.ts'

/** A message that no push service could take: nothing of it was sent. */
export function rejected(
  code: 'invalid_device_token' | 'invalid_content' | 'message_too_large',
  scope: 'recipient' | 'message',
  message: string,
): Extract<Outcome, { kind: 'rejected' }> {
  return { kind: 'rejected', code, scope, message }
}
