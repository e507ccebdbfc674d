import type { Suppression, SuppressionKey, SuppressionRepository } from '../ports/storage/suppressions.ts'
import { requireOrganization } from './organizations.ts'
import { pageOf } from './page.ts'
import { keyOf, type MemoryState, nextNumber, type StoredSuppression } from './state.ts'

export function memorySuppressions(state: MemoryState): SuppressionRepository {
  return {
    async add(entry) {
      requireOrganization(state, entry.organizationId)
      return addSuppression(state, entry)
    },
    async remove(organizationId, channel, address) {
      return state.suppressions.delete(nameOf({ organizationId, channel, address }))
    },
    async list(organizationId, { channel }, page) {
      const found = [...state.suppressions.values()].filter(
        (entry) =>
          entry.organizationId === organizationId && (channel === undefined || entry.channel === channel),
      )
      return pageOf(found, page, toSuppression)
    },
    async match(keys) {
      return keys.map((key) => state.suppressions.get(nameOf(key))?.reason ?? null)
    },
  }
}

/** Adds an entry unless there is one. */
export function addSuppression(state: MemoryState, entry: Omit<Suppression, 'createdAt'>): Suppression {
  const key = nameOf(entry)
  const before = state.suppressions.get(key)
  if (before !== undefined) return toSuppression(before)
  const { organizationId, channel, address, reason, source } = entry
  const createdAt = state.now()
  const number = nextNumber(state)
  const added = { organizationId, channel, address, reason, source, createdAt, number }
  state.suppressions.set(key, added)
  return toSuppression(added)
}

/** Removes an entry whose reason is an opt-out. */
export function removeOptOut(state: MemoryState, key: SuppressionKey): void {
  const name = nameOf(key)
  if (state.suppressions.get(name)?.reason === 'unsubscribe') state.suppressions.delete(name)
}

/** The address comes last: only it may contain any character. */
function nameOf({ organizationId, channel, address }: SuppressionKey): string {
  return keyOf(organizationId, channel, address)
}

function toSuppression({ number, ...suppression }: StoredSuppression): Suppression {
  return suppression
}
