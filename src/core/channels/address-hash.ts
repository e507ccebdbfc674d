import { hash } from 'node:crypto'
import type { ChannelKind } from './channel-kind.ts'
import { suppressedAddress } from './recipient.ts'

/** 192 bits identify an address, and links in mails stay short. */
const HASH_BYTES = 24

/** Identifies an address in any spelling. Preferences and links contain it instead of the address. */
export function addressHash(kind: ChannelKind, to: string): string {
  return digest(suppressedAddress(kind, to))
}

/** Names an address with its channel: what `judgeAgain` finds delayed messages by. @param address an {@link addressHash} */
export function addressName(channel: string, address: string): string {
  return `${channel} ${address}`
}

/** The same for an address in any spelling. */
export function addressNameOf(kind: ChannelKind, to: string): string {
  return addressName(kind.name, addressHash(kind, to))
}

export function digest(text: string): string {
  return hash('sha256', text, 'buffer').subarray(0, HASH_BYTES).toString('base64url')
}
