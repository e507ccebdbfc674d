import { splitMailbox } from '../../../../src/core/channels/mailbox.ts'
import type { ErrorCode } from '../../../../src/core/errors/catalogue.ts'
import type { Fact } from '../../../../src/core/notification/facts.ts'
import type { Receipt } from '../../../../src/core/notification/receipt.ts'
import type { SuppressionReason } from '../../../../src/core/notification/suppression.ts'

/** The meaning of one kind of report of a mail provider: a row of its table. */
export type Meaning = Pick<Fact, 'type' | 'code' | 'machine'> & {
  /** Set if the recipient refuses, or cannot receive, further mails. */
  readonly suppress?: SuppressionReason | undefined
  /** `category`: the unsubscription concerns one list of mails only. */
  readonly scope?: 'category' | undefined
}

/** A bounce. Only an address that does not exist is suppressed. */
export function bounced(code: ErrorCode): Meaning {
  return code === 'invalid_recipient'
    ? { type: 'bounced', code, suppress: 'hard_bounce' }
    : { type: 'bounced', code }
}

/** The address in a report, which may have a display name. Undefined: none. */
export function addressOf(text: string | undefined): string | undefined {
  return text === undefined ? undefined : splitMailbox(text)?.address
}

/** The suppression for a report. Undefined: none. */
export function hintOf(reason: SuppressionReason | undefined, scope?: Meaning['scope']): Receipt['suppress'] {
  if (reason === undefined) return undefined
  return scope === undefined ? { reason } : { reason, scope }
}
