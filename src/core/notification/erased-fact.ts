import type { Fact } from './facts.ts'

/** The address of a notification whose addressee was erased. Nothing is sent to it. */
export const ERASED_ADDRESS = '(erased)'

/** Which fields of a fact name no person. Texts, codes and ids of a provider may contain an address. */
const STAYS: Readonly<Record<keyof Fact, boolean>> = {
  type: true,
  attempt: true,
  provider: true,
  providerMessageId: false,
  code: true,
  message: false,
  providerCode: false,
  durationMs: true,
  segments: true,
  occurredAt: true,
  ambiguous: true,
  notSent: true,
  machine: true,
  suppress: false,
  address: false,
  decidedBy: true,
}

/**
 * A fact without identity.
 *
 * @example
 * erasedFact({ type: 'bounced', provider: 'ses', message: 'ada@example.com does not exist.' })
 * // { type: 'bounced', provider: 'ses' }
 */
export function erasedFact(fact: Fact): Fact {
  const fields = Object.entries(fact).filter(([name]) => STAYS[name as keyof Fact])
  return Object.fromEntries(fields) as unknown as Fact
}
