import type { Clock } from '../../ports/clock.ts'
import type { RecordStore } from '../records/record-stores.ts'
import type { ApiKeyValue } from './kind.ts'

/** Interval between two records of one key. */
const PAUSE_MS = 5 * 60_000
/** Uses within this time are recorded together. */
const GATHER_MS = 1_000
/** Maximum number of remembered keys. Beyond it, some are recorded more often. */
const MOST_KEYS = 10_000

/** Records the use of keys in sets. Requests do not wait for it. */
export function createKeyUses(store: RecordStore<ApiKeyValue>, clock: Clock): (id: string) => void {
  const recorded = new Map<string, number>()
  let gathered: string[] = []

  /** All of them share a commit. */
  function record(): void {
    const ids = gathered
    gathered = []
    for (const id of ids) {
      store
        .change(id, ({ value, readAt }) => ({ ...value, lastUsedAt: readAt }))
        .catch(() => {
          // The next use records it again.
          recorded.delete(id)
        })
    }
  }

  return (id) => {
    const now = clock.monotonic()
    const last = recorded.get(id)
    if (last !== undefined && now - last < PAUSE_MS) return
    if (recorded.size >= MOST_KEYS) recorded.clear()
    recorded.set(id, now)
    gathered.push(id)
    if (gathered.length === 1) clock.timer(GATHER_MS, record)
  }
}
