import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { type CatalogueValue, catalogueVersionKind } from './kind.ts'

/** Versions of catalogues. They never change, so no entry is stale. */
interface CatalogueCache {
  /** In order. @throws NotifierError `template_error` if one is missing */
  get(ids: readonly string[]): Promise<readonly CatalogueValue[]>
}

/** Size of the cache in characters. The least recently used entry goes first. */
const MAX_CHARACTERS = 16 * 1024 * 1024

export function createCatalogueCache(records: RecordReads): CatalogueCache {
  const entries = new Map<string, { readonly value: CatalogueValue; readonly size: number }>()
  let characters = 0

  function remember(id: string, value: CatalogueValue): void {
    forget(id)
    const size = sizeOf(value)
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
  function recall(id: string): CatalogueValue | undefined {
    const known = entries.get(id)
    if (known === undefined) return undefined
    entries.delete(id)
    entries.set(id, known)
    return known.value
  }

  return {
    async get(ids) {
      const found = new Map<string, CatalogueValue>()
      for (const id of ids) {
        const known = recall(id)
        if (known !== undefined) found.set(id, known)
      }
      const unknown = ids.filter((id) => !found.has(id))
      const read =
        unknown.length === 0
          ? []
          : await records.get(
              catalogueVersionKind,
              unknown.map((id) => ({ id })),
            )
      for (const record of read) {
        if (record === null) continue
        remember(record.id, record.value)
        found.set(record.id, record.value)
      }
      return ids.map((id) => found.get(id) ?? missing(id))
    },
  }
}

function sizeOf({ messages }: CatalogueValue): number {
  return Object.entries(messages).reduce((sum, [key, { length }]) => sum + key.length + length + 50, 200)
}

function missing(id: string): never {
  throw new NotifierError('template_error', { message: `The version ${id} of a catalogue is missing.` })
}
