import type { ChannelKind } from '../../src/core/channels/channel-kind.ts'
import type { Message, SendContext } from '../../src/core/ports/provider.ts'
import { searchedText } from './search.ts'

/** A message as a provider would have got it. */
export interface CaughtMessage {
  /** Unique in the mailbox; each attempt has its own. */
  readonly id: string
  readonly channel: string
  readonly message: Message
  readonly notificationId: string
  readonly organizationId: string
  /** ISO 8601 UTC. */
  readonly caughtAt: string
}

/** A message with what its view needs. */
export interface Entry {
  readonly caught: CaughtMessage
  readonly kind: ChannelKind
  readonly idempotencyKey: string
  readonly size: number
  /** What a search reads, in lower case. */
  readonly searched: string
}

export interface Store {
  add(kind: ChannelKind, message: Message, context: SendContext): CaughtMessage
  /** Newest first. */
  entries(): readonly Entry[]
  find(id: string): Entry | undefined
  clear(): void
}

export interface Bounds {
  readonly maxMessages: number
  readonly maxBytes: number
}

/** Keeps the newest messages. The newest stays even if it alone is larger than all may be. */
export function createStore({ maxMessages, maxBytes }: Bounds): Store {
  const byId = new Map<string, Entry>()
  let bytes = 0
  let count = 0

  function drop(id: string, { size }: Entry): void {
    bytes -= size
    byId.delete(id)
  }

  return {
    add(kind, message, { notificationId, organizationId, idempotencyKey }) {
      count += 1
      const caughtAt = new Date().toISOString()
      const id = String(count)
      const caught = { id, channel: kind.name, message, notificationId, organizationId, caughtAt }
      const searched = searchedText(kind.name, message)
      const entry = { caught, kind, idempotencyKey, size: sizeOf(message) + searched.length, searched }
      byId.set(id, entry)
      bytes += entry.size
      for (const [oldest, found] of byId) {
        if (oldest === id || (byId.size <= maxMessages && bytes <= maxBytes)) break
        drop(oldest, found)
      }
      return caught
    },
    entries: () => [...byId.values()].reverse(),
    find: (id) => byId.get(id),
    clear() {
      byId.clear()
      bytes = 0
    },
  }
}

/** Roughly, in bytes: texts and files decide. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (value instanceof Uint8Array) return value.byteLength
  if (typeof value !== 'object' || value === null) return 8
  return Object.entries(value).reduce((sum, [name, each]) => sum + name.length + sizeOf(each), 0)
}
