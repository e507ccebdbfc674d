import type { Fact } from './facts.ts'

const MAY_HAVE_GONE = 'An earlier attempt may have reached the recipient.'

/** Whether an attempt since the last retry has an unknown result. */
export function mayHaveGone(facts: readonly Fact[]): boolean {
  const retried = facts.findLastIndex(({ type }) => type === 'retried')
  return facts.slice(retried + 1).some(({ type }) => type === 'attempt_ambiguous')
}

/** Why it is unknown whether a message that is no longer sent has arrived. */
export function unknownDelivery(why: string): Required<Pick<Fact, 'code' | 'message'>> {
  return { code: 'delivery_unknown', message: `${why} ${MAY_HAVE_GONE}` }
}

/**
 * The fact of a cancellation. After an attempt with an unknown result it has the code `delivery_unknown`.
 *
 * @param facts of the notification, in order
 *
 * @example
 * const { events } = recordFacts(state, [cancellation(facts)], 'engine', 'ada@example.com')
 */
export function cancellation(facts: readonly Fact[]): Fact {
  return mayHaveGone(facts)
    ? { type: 'cancelled', ...unknownDelivery('It was cancelled.'), ambiguous: true }
    : { type: 'cancelled' }
}
