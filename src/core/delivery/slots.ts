import { createTally, type Tally } from './tally.ts'

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
   * Runs `task` in a slot, and `settle` with its ending after the slot is free: the next message starts while an outcome
   * is recorded. Null: there is nothing to settle. Resolves after both.
   */
  run<Ending>(
    organizationId: string,
    task: () => Promise<Ending | null>,
    settle: (ending: Ending) => Promise<void>,
  ): Promise<void>
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
    async run(organizationId, task, settle) {
      together.add(organizationId)
      used.add(organizationId)
      if (taken < most) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      const ending = await task().finally(() => leave(organizationId))
      if (ending === null) return
      settling += 1
      freed()
      try {
        await settle(ending)
      } finally {
        settling -= 1
      }
    },
  }
}
