import type { ChannelKind } from '../channels/channel-kind.ts'
import { suppressedAddress } from '../channels/recipient.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { digest } from '../records/digest.ts'

/**
 * Names people in what outlives them here: suppressions, preferences, the audit log, links in mails. Without the pepper
 * a guessed address cannot be compared with a hash. Each throws `not_started` before `open`.
 */
export interface PersonHashes {
  /** Identifies an address on a channel, in any spelling. */
  address(kind: ChannelKind, to: string): string
  /** The same with the channel: what `judgeAgain` finds delayed messages by, and a target in the audit log. */
  addressName(kind: ChannelKind, to: string): string
  /** Identifies a person by the application's id, which may be an address. */
  recipient(id: string): string
}

/** @param pepperOf see `createPepper` */
export function createPersonHashes(
  pepperOf: () => Promise<string>,
): PersonHashes & { open(): Promise<void> } {
  let pepper: string | null = null

  /**
   * The pepper comes first, and not in an HMAC, which takes several times as long. A hash that is cut off cannot be
   * extended to that of a longer text.
   */
  function hashOf(what: string, text: string): string {
    if (pepper === null) throw new NotifierError('not_started')
    return digest(`${pepper}\n${what}\n${text}`)
  }

  const address = (kind: ChannelKind, to: string): string =>
    // With the channel: one number on two channels has two hashes.
    hashOf(`address\n${kind.name}`, suppressedAddress(kind, to))

  return {
    async open() {
      pepper = await pepperOf()
    },
    address,
    addressName: (kind, to) => addressName(kind.name, address(kind, to)),
    recipient: (id) => hashOf('recipient', id),
  }
}

/** @param hash see {@link PersonHashes.address} */
export function addressName(channel: string, hash: string): string {
  return `${channel} ${hash}`
}

/** The target in the audit log for a person by the application's id. @param hash see {@link PersonHashes.recipient} */
export function recipientName(hash: string): string {
  return `recipient ${hash}`
}
