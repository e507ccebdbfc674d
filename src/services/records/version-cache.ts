import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { RecordKind } from '../../domain/record-kind.ts'
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

/** Size of a cache in characters. The least recently used entry goes first. */
const MAX_CHARACTERS = 16 * 1024 * 1024
/** What an entry costs beside its characters. */
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
  const entries = new Map<string, { readonly value: Value; readonly size: number }>()
  let characters = 0

  function remember(id: string, value: Value): void {
    forget(id)
    const size = OWN_CHARACTERS + sizeOf(value)
    entries.set(id, { value, size })
    characters += size
    for (const key of entries.keys()) {
      if (characters <= MAX_CHARACTERS) break
      forget(key)
    }
  }

  function forget(id: string): void {
    characters -= entries.get(id)?.size ?? 0
    entries.delete(id)
  }

  /** Marks the entry as the most recently used. */
  function recall(id: string): Value | undefined {
    const known = entries.get(id)
    if (known === undefined) return undefined
    entries.delete(id)
    entries.set(id, known)
    return known.value
  }

  function missing(id: string): never {
    throw new NotifierError('template_error', { message: `The record ${id} of ${kind.name} is missing.` })
  }

  return {
    async get(ids, from = records) {
      const found = new Map<string, Value>()
      const unknown = new Set<string>()
      for (const id of ids) {
        const known = recall(id)
        if (known === undefined) unknown.add(id)
        else found.set(id, known)
      }
      const refs = [...unknown].map((id) => ({ id }))
      for (const record of refs.length === 0 ? [] : await from.get(kind, refs)) {
        if (record === null) continue
        remember(record.id, record.value)
        found.set(record.id, record.value)
      }
      return ids.map((id) => found.get(id) ?? missing(id))
    },
  }
}
