import type { Clock } from '../../core/ports/clock.ts'
import type { RecordStores } from '../../core/records/record-stores.ts'
import { preferenceKind } from './records.ts'

/** Which organizations have preferences, so that messages of the others need no look-up. */
export interface PreferencesInUse {
  /**
   * Whether preferences are stored. Synchronous while that is known. It sees other processes' changes within a second.
   *
   * @param inside a transaction of the caller, which must not wait for another connection: if it is unknown, the answer is
   *   yes
   */
  of(organizationId: string, inside: boolean): boolean | Promise<boolean>
  /** Called before the first preference is stored here. */
  mark(organizationId: string): void
}

/** Maximum delay until the first preference that another process stores is seen. */
const FRESH_MS = 1_000
const MOST_KNOWN = 100_000

export function createPreferencesInUse(
  stores: RecordStores,
  clock: Pick<Clock, 'monotonic'>,
): PreferencesInUse {
  const store = stores.of(preferenceKind)
  /** When "none" must be checked again. Infinity: there are some. */
  const known = new Map<string, number>()
  const asking = new Map<string, Promise<boolean>>()

  async function ask(organizationId: string): Promise<boolean> {
    const asked = clock.monotonic()
    const { items } = await store.list({ organizationId }, { limit: 1, offset: 0 })
    const some = items.length > 0
    if (known.get(organizationId) === Number.POSITIVE_INFINITY) return true
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(organizationId, some ? Number.POSITIVE_INFINITY : asked + FRESH_MS)
    return some
  }

  return {
    of(organizationId, inside) {
      const until = known.get(organizationId)
      if (until === Number.POSITIVE_INFINITY) return true
      if (until !== undefined && until > clock.monotonic()) return false
      if (inside) return true
      const others = asking.get(organizationId)
      if (others !== undefined) return others
      const answer = ask(organizationId).finally(() => asking.delete(organizationId))
      asking.set(organizationId, answer)
      return answer
    },
    mark(organizationId) {
      if (known.size >= MOST_KNOWN) known.clear()
      known.set(organizationId, Number.POSITIVE_INFINITY)
    },
  }
}
