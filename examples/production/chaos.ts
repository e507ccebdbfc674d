/** A process that can be killed. */
export interface Victim {
  readonly name: string
  /** Resolves when it has recovered; it is not hit again before. */
  hit(): Promise<void>
}

/** Number of hits by kind. */
export type Hits = ReadonlyMap<string, number>

export interface Chaos {
  readonly hits: Hits
  end(): Promise<void>
}

const SHORTEST_MS = 400
const LONGEST_MS = 1_200

/** Hits victims at random moments, in rounds: each victim once per round, in random order. */
export function startChaos(victims: readonly Victim[], seed: number): Chaos {
  const random = randomFrom(seed)
  const hits = new Map<string, number>()
  const away = new Map<Victim, Promise<void>>()
  let bag: Victim[] = []
  let wake = (): void => {}
  let ended = false
  let failure: unknown

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, SHORTEST_MS + random() * (LONGEST_MS - SHORTEST_MS))
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    for (await pause(); !ended; await pause()) {
      if (bag.length === 0) bag = victims.filter((victim) => !away.has(victim))
      const [victim] = bag.splice(Math.floor(random() * bag.length), 1)
      if (victim === undefined) continue
      hits.set(victim.name, (hits.get(victim.name) ?? 0) + 1)
      const back = victim
        .hit()
        .catch((error) => {
          failure ??= error
        })
        .then(() => void away.delete(victim))
      away.set(victim, back)
    }
    await Promise.all(away.values())
    if (failure !== undefined) throw failure
  }
  const running = run()
  // `end` reports the error.
  running.catch(() => {})

  return {
    hits,
    async end() {
      ended = true
      wake()
      await running
    },
  }
}

/** Numbers from 0 to 1 derived from a seed. A linear congruential generator suffices to choose victims. */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
