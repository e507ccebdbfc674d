import type { TellRefused } from '../../core/accept/refused.ts'
import { MAX_RECIPIENT_LENGTH } from '../../core/channels/channel-kind.ts'
import type { Kinds } from '../../core/channels/kinds.ts'
import { unknownChannel } from '../../core/channels/kinds.ts'
import type { ErrorCode } from '../../core/errors/catalogue.ts'
import { isNotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { channel, text } from '../../core/input/fields.ts'
import { errorCode } from '../../core/notification/label-filters.ts'
import { MAX_RECIPIENT_ID } from '../../core/notification/labels.ts'
import type { PageRequest } from '../../core/ports/storage/page.ts'
import { decodeCursor, encodeCursor } from '../../core/records/cursor.ts'
import { listOf, listReader } from '../../core/records/list.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { Refusals } from './api.ts'
import type { RefusalQuery } from './model.ts'
import {
  type LatestRefusals,
  latestRefusals,
  NO_REFUSALS,
  refusalKind,
  refusalOf,
  type StoredRefusal,
  shown,
  wentTo,
} from './records.ts'

/** Refusals within this time are stored together. */
const GATHER_MS = 1_000
/** Organizations whose refusals are stored together; others wait for the next time. */
const AT_ONCE = 20
/** Most organizations with refusals that are not stored yet, and characters of these. Others are not recorded. */
const MOST_WAITING = 500
const MOST_CHARACTERS = 4 * 1024 * 1024

type Filter = Pick<RefusalQuery, 'channel' | 'to' | 'recipient'> & { readonly code?: ErrorCode | undefined }

const read = listReader<Filter>('refusals', {
  channel: channel.optional(),
  to: text(1, MAX_RECIPIENT_LENGTH).optional(),
  recipient: text(1, MAX_RECIPIENT_ID).optional(),
  code: errorCode.optional(),
})

export interface RefusalServices extends FeatureCore {
  /** Under maintenance nothing is stored. */
  maintained(): boolean
  /** Receives background errors. */
  onError(error: unknown): void
}

interface Recording {
  readonly refused: TellRefused
  readonly expire: (organizationId: string, olderThanMs: number) => Promise<void>
  readonly close: () => Promise<void>
}

/** Keeps the last refusals of organizations. They gather in memory, so that their number is not that of the writes. */
export function createRefusals({
  stores,
  organizations,
  clock,
  kinds,
  maintained,
  onError,
}: RefusalServices): PerTenant<Refusals> & Recording {
  const store = stores.always(refusalKind)
  /** By organization. */
  const waiting = new Map<string, LatestRefusals>()
  /** Of those that wait. */
  let characters = 0
  let storing: Promise<void> = Promise.resolve()
  let cancelTimer: (() => void) | null = null
  let closed = false
  /** Of the latest refusal. */
  let number = 0

  function arm(): void {
    if (closed) return
    cancelTimer ??= clock.timer(GATHER_MS, () => {
      storing = storeSome().finally(() => {
        cancelTimer = null
        if (waiting.size > 0) arm()
      })
    })
  }

  async function storeSome(): Promise<void> {
    if (maintained()) return
    const some = [...waiting].slice(0, AT_ONCE)
    for (const [organizationId, refusals] of some) {
      waiting.delete(organizationId)
      characters -= refusals.characters
    }
    await Promise.all(
      some.map(([organizationId, refusals]) =>
        add(organizationId, refusals.list()).catch((error: unknown) => {
          // The organization does not exist, or the storage is away, of which sends tell.
          if (!isNotifierError(error)) onError(error)
        }),
      ),
    )
  }

  async function add(organizationId: string, refusals: readonly StoredRefusal[]): Promise<void> {
    const id = organizationId
    for (;;) {
      const changed = await store.change(id, ({ value }) => ({
        refusals: latestRefusals([...value.refusals, ...refusals]).list(),
      }))
      if (changed !== 'unknown') return
      if ((await store.insert({ id, organizationId, value: { refusals } })) !== 'taken') return
    }
  }

  return {
    refused(message) {
      if (characters >= MOST_CHARACTERS) return
      const { organizationId } = message
      let refusals = waiting.get(organizationId)
      if (refusals === undefined) {
        if (waiting.size >= MOST_WAITING) return
        refusals = latestRefusals()
        waiting.set(organizationId, refusals)
      }
      const now = clock.now()
      number = Math.max(number + 1, Math.floor(now * 1_000))
      characters -= refusals.characters
      refusals.add(refusalOf(message, kinds, now, number))
      characters += refusals.characters
      arm()
    },

    async list(organizationId, query) {
      const { page, filter } = read(query)
      const isWanted = wanted(kinds, filter)
      await organizations.existing(organizationId)
      await storing
      const stored = (await store.find({ id: organizationId }))?.value ?? NO_REFUSALS
      const refusals = latestRefusals([
        ...stored.refusals,
        ...(waiting.get(organizationId)?.list() ?? []),
      ]).list()
      return listOf('refusals', pageOf(refusals.filter(isWanted), page), page, shown)
    },

    async expire(organizationId, olderThanMs) {
      const isFresh = (now: number) => (one: StoredRefusal) => one.at >= now - olderThanMs
      await store.change(organizationId, ({ value, readAt }) => {
        const fresh = value.refusals.filter(isFresh(readAt))
        return fresh.length === value.refusals.length ? value : { ...value, refusals: fresh }
      })
    },

    async close() {
      closed = true
      cancelTimer?.()
      await storing
      while (waiting.size > 0 && !maintained()) await storeSome()
    },
  }
}

/** @throws NotifierError `invalid_channel` */
function wanted(
  kinds: Kinds,
  { channel: name, to, recipient, code }: Filter,
): (one: StoredRefusal) => boolean {
  if (name !== undefined && !kinds.known.has(name)) throw unknownChannel(name, kinds)
  const those = [...kinds.known.values()].filter((kind) => name === undefined || kind.name === name)
  return (one) =>
    (name === undefined || one.channel === null || one.channel === name) &&
    (to === undefined || those.some((kind) => wentTo(one, kind, to))) &&
    (recipient === undefined || one.recipient === recipient) &&
    (code === undefined || one.code === code)
}

function pageOf(
  all: readonly StoredRefusal[],
  { limit, offset, cursor }: PageRequest,
): { readonly items: readonly StoredRefusal[]; readonly nextCursor: string | null } {
  const [before = Number.POSITIVE_INFINITY] = cursor === undefined ? [] : decodeCursor(cursor, 1)
  const rest = all.filter(({ number }) => number < before).slice(offset)
  const items = rest.slice(0, limit)
  const last = items.at(-1)
  return {
    items,
    nextCursor: last === undefined || rest.length <= limit ? null : encodeCursor([last.number]),
  }
}
