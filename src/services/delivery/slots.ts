import PQueue from 'p-queue'

/** Records how an attempt ended. */
export type Settle = () => Promise<void>

/** What one receiver may have under way, so that a slow one holds up only itself. */
export interface Slots {
  free(): number
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
 */
export function createSlots(most: number, freed: () => void): Slots {
  const queue = new PQueue({ concurrency: most })
  let settling = 0
  const busy = (): number => queue.size + queue.pending
  return {
    busy,
    free: () => (settling >= 2 * most ? 0 : Math.max(0, most - busy())),
    async run(task) {
      const settle = await queue.add(task)
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
