import { addressHash, addressName, digest } from '../channels/address-hash.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'

/** Names an address in the audit log, which holds none. */
export function addressTarget(kind: ChannelKind, to: string): string {
  return addressName(kind.name, addressHash(kind, to))
}

/** Names a person by the application's id, which may be an address. */
export function recipientTarget(recipient: string): string {
  return `recipient ${digest(recipient)}`
}
