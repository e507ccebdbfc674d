import type { Receipt } from '../../../../src/core/notification/receipt.ts'
import { dedupeKey } from '../http/receipt-request.ts'
import { optOutOf } from './opt-out.ts'

interface IncomingText {
  /** The provider's id of the text. */
  readonly id: string | undefined
  /** The writer, in the form of the channel's recipients. */
  readonly from: string
  readonly to: string | undefined
  readonly text: string
  /** What the provider takes the text for. Absent: its keyword decides. */
  readonly meaning?: string | undefined
}

/** The report of a text that someone wrote, with the opt-out or opt-in that it is. Null: it is empty. */
export function incomingText(incoming: IncomingText): Receipt | null {
  const { id, from, to, text, meaning = optOutOf(text) } = incoming
  if (text === '') return null
  return {
    dedupeKey: dedupeKey(id, 'incoming'),
    received: { from, to, text },
    ...(meaning === 'stop' ? { suppress: { address: from, reason: 'stop' } } : {}),
    ...(meaning === 'start' ? { unsuppress: { address: from } } : {}),
  }
}
