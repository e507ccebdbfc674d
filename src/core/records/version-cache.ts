import { NotifierError } from '../errors/notifier-error.ts'
import { createBoundedCache } from '../loop/bounded-cache.ts'
import type { RecordKind } from './record-kind.ts'
import type { RecordReads } from './record-stores.ts'

/** Records that never change, so that no entry is stale. */
export interface VersionCache<Value extends object> {
  /**
   * The values in order, in at most one query.
   *
   * @param from default: the storage
   * @throws NotifierError `template_error` if one is missing
   */
  get(ids: readonly string[], from?: RecordReads): Promise<readonly Value[]>
}

/** Size of a cache in characters. */
const MAX_CHARACTERS = 16 * 1024 * 1024
/** The cost of an entry besides its characters. */
const OWN_CHARACTERS = 200

/**
 * Keeps records of a kind in memory.
 *
 * @param sizeOf the characters of a value
 */
export function createVersionCache<Value extends object>(
  records: RecordReads,
  kind: RecordKind<Value>,
  sizeOf: (value: Value) => number,
): VersionCache<Value> {
  const cache = createBoundedCache<Value>(MAX_CHARACTERS)

  function missing(id: string): never {
    throw new NotifierError('template_error', { message: `The record ${id} of ${kind.name} is missing.` })
  }

  return {
    async get(ids, from = records) {
      const found = new Map<string, Value>()
      const unknown = new Set<string>()
      for (const id of ids) {
        const known = cache.get(id)
        if (known === undefined) unknown.add(id)
        else found.set(id, known)
      }
      const refs = [...unknown].map((id) => ({ id }))
      for (const record of refs.length === 0 ? [] : await from.get(kind, refs)) {
        if (record === null) continue
        cache.set(record.id, record.value, OWN_CHARACTERS + sizeOf(record.value))
        found.set(record.id, record.value)
      }
      return ids.map((id) => found.get(id) ?? missing(id))
    },
  }
}
