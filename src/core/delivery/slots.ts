import { createTally, type Tally } from './tally.ts'

/** Records the end of an attempt. */
export type Settle = () => Promise<void>

/** The slots of one receiver, so that a slow one delays only itself. */
export interface Slots {
  /** Number of messages that may be claimed now: none while too many outcomes are unrecorded. */
  free(): number
  /** Number of empty slots, regardless of unrecorded outcomes: claimed messages still go out. */
  empty(): number
  /** Number of used slots. */
  busy(): number
  /** Number of used slots by organization. */
  readonly used: ReadonlyMap<string, number>
  /**
   * Runs `task` in a slot, and the function it returns after the slot is free: the next message starts while an outcome
   * is recorded. Resolves after both.
   */
  run(organizationId: string, task: () => Promise<Settle | undefined>): Promise<void>
}

/**
 * @param most number of slots. With twice as many unrecorded outcomes no slot is free: outcomes must not pile up for a
 *   slow storage, nor may one commit delay the next claim.
 * @param freed called when a slot may have become free
 * @param together counts the used slots of all that share it
 */
export function createSlots(most: number, freed: () => void, together: Tally): Slots {
  /** Tasks without a slot, in order. */
  const waiting: (() => void)[] = []
  const used = createTally()
  let taken = 0
  let settling = 0
  const empty = (): number => Math.max(0, most - used.all())

  function leave(organizationId: string): void {
    together.remove(organizationId)
    used.remove(organizationId)
    const next = waiting.shift()
    if (next === undefined) taken -= 1
    else next()
  }

  return {
    busy: used.all,
    used: used.of,
    empty,
    free: () => (settling >= 2 * most ? 0 : empty()),
    async run(organizationId, task) {
      together.add(organizationId)
      used.add(organizationId)
      if (taken < most) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      let settle: Settle | undefined
      try {
        settle = await task()
      } finally {
        leave(organizationId)
      }
      if (settle === undefined) return
      settling += 1
      freed()
      try {
        await settle()
      } finally {
        settling -= 1
      }
    },
  }
}
