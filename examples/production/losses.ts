import type { NotificationRecord } from 'carillon'
import type { Seen } from './load.ts'
import type { Arrivals } from './provider.ts'

export interface Losses {
  readonly accepted: number
  /** Accepted and arrived at the provider. */
  readonly delivered: number
  /** Accepted and never arrived. */
  readonly lost: readonly string[]
  /** Repeated arrivals explained by an attempt marked ambiguous. */
  readonly ambiguous: number
  /** Unexplained repeated arrivals. */
  readonly duplicates: number
  /** Arrivals without an accepted answer: a request was stored twice. */
  readonly unknown: number
}

/** Compares the answers to callers with the arrivals at the provider. */
export async function countLosses(
  { accepted }: Pick<Seen, 'accepted'>,
  arrivals: Arrivals,
  read: (id: string) => Promise<Pick<NotificationRecord, 'timeline'>>,
): Promise<Losses> {
  let [ambiguous, duplicates] = [0, 0]
  for (const [id, times] of Object.entries(arrivals)) {
    if (times < 2 || !accepted.has(id)) continue
    const { timeline } = await read(id)
    const marked = timeline.filter((entry) => entry.ambiguous).length
    ambiguous += Math.min(times - 1, marked)
    duplicates += Math.max(times - 1 - marked, 0)
  }
  const lost = [...accepted].filter((id) => arrivals[id] === undefined)
  return {
    accepted: accepted.size,
    delivered: accepted.size - lost.length,
    lost,
    ambiguous,
    duplicates,
    unknown: Object.keys(arrivals).filter((id) => !accepted.has(id)).length,
  }
}
