import * as z from 'zod'
import { smsSender } from '../../../../src/core/channels/sms.ts'
import type { Outcome } from '../../../../src/core/notification/outcome.ts'
import type { PartsRefusal } from '../../../../src/core/ports/provider.ts'

/** The option `senders` of SMS providers. */
export const sendersOption: z.ZodType<string[], string[] | undefined> = z
  .array(smsSender)
  .max(1_000, 'must have at most 1000 senders')
  .default([])

/** Refuses a message's sender that is neither the provider's own nor listed. A plus before digits makes no difference. */
export function onlySenders(
  ...senders: readonly (string | undefined)[]
): (from: string | undefined) => PartsRefusal | null {
  const allowed = new Set(senders.map((sender) => sender?.replace(/^\+(?=\d)/, '')))
  return (from) => (from === undefined || allowed.has(from.replace(/^\+(?=\d)/, '')) ? null : NOT_LISTED)
}

const NOT_LISTED: PartsRefusal = {
  code: 'invalid_sender',
  message: 'No provider may use this sender. Add it to the option "senders" of one.',
  field: 'from',
}

/** The refusal of media by a provider that carries text only. */
export function refuseMedia(title: string): PartsRefusal {
  return {
    code: 'invalid_content',
    message: `${title} cannot carry media here. Leave out "media", or add a provider that can.`,
    field: 'media',
  }
}

/** A provider that refuses a message's own sender still works for all others: it is not paused. */
export function ofOwnSender(from: string | undefined, outcome: Outcome): Outcome {
  if (from === undefined || outcome.kind !== 'rejected' || outcome.code !== 'invalid_sender') return outcome
  return outcome.scope === 'account' ? { ...outcome, scope: 'message' } : outcome
}
