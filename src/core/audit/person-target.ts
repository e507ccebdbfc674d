import { digest } from '../channels/address-hash.ts'

/** Names a person by the application's id, which may be an address. */
export function recipientTarget(recipient: string): string {
  return `recipient ${digest(recipient)}`
}
