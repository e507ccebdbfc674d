/** Records how an attempt ended. */
export type Settle = () => Promise<void>

/** What one receiver may have under way, so that a slow one holds up only itself. */
export interface Slots {
  /** How many messages may be claimed now: none while too many outcomes wait to be recorded. */
  free(): number
  /** Empty ones, whatever waits to be recorded: what was claimed while outcomes gathered goes out all the same. */
  empty(): number
  /** Taken ones. */
  busy(): number
  /**
   * Runs `task` in a slot, and what it gives back after the slot is free: while an outcome is recorded, the next message
   * is on its way. Settles with both.
   */
  run(task: () => Promise<Settle | undefined>): Promise<void>
}

/**
 * @param most slots; twice as many outcomes may wait to be recorded before no slot is free: a slow storage must not gather
 *   them, and a set that is being recorded must not keep the next from being claimed
 * @param freed is called when a slot has become free
 * @param together counts the taken slots of all that it is given to
 */
export function createSlots(most: number, freed: () => void, together = { taken: 0 }): Slots {
  /** Those who found no slot; one that becomes free is handed to the first of them. */
  const waiting: (() => void)[] = []
  let taken = 0
  let settling = 0
  const busy = (): number => taken + waiting.length
  const empty = (): number => Math.max(0, most - busy())

  function leave(): void {
    together.taken -= 1
    const next = waiting.shift()
    if (next === undefined) taken -= 1
    else next()
  }

  return {
    busy,
    empty,
    free: () => (settling >= 2 * most ? 0 : empty()),
    async run(task) {
      together.taken += 1
      if (taken < most) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      let settle: Settle | undefined
      try {
        settle = await task()
      } finally {
        leave()
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
