import type { Clock } from '../ports/clock.ts'
import type { RecordStore } from '../records/record-stores.ts'
import type { ApiKeyValue } from './key-kind.ts'

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

  function record(): void {
    const ids = gathered
    gathered = []
    markUsed(ids).catch(() => {
      // The next use records it again.
      for (const id of ids) recorded.delete(id)
    })
  }

  /** One read and one commit. Ignores keys that have been deleted or marked since. */
  async function markUsed(ids: readonly string[]): Promise<void> {
    const found = await store.findAll(ids.map((id) => ({ id })))
    const keys = found.filter((key) => key !== null)
    await Promise.all(keys.map((key) => store.replace(key, { ...key.value, lastUsedAt: key.readAt })))
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
