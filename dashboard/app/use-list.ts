import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask } from './api.ts'
import { usePoll } from './poll.ts'
import { keep, namedOrganization, type Query, recall } from './router.ts'

interface Page<Item> {
  readonly items: readonly Item[]
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/** What was shown to a reader who comes back. */
interface Kept<Item> {
  readonly items: readonly Item[]
  readonly cursor: string | null
}

export interface ListState<Item> {
  /** What a row is recognized by. */
  readonly keyOf: (item: Item) => string
  /** Null: not read yet. */
  readonly items: readonly Item[] | null
  readonly hasMore: boolean
  readonly loadingMore: boolean
  readonly error: ApiError | null
  /** How many there are that are not shown yet. They are not put in, so that nothing moves under the reader. */
  readonly fresh: number
  /** True: there may be more than `fresh`. */
  readonly freshIsLeast: boolean
  showFresh(): void
  /** Shows an item as an action has left it. */
  put(changed: Item): void
  more(): Promise<void>
  reload(): Promise<void>
}

export interface ListOptions<Item> {
  readonly query?: Query
  readonly everyMs?: number
  /** True: nothing new is looked for. */
  readonly paused?: boolean
  /** Where items have no `id`. */
  readonly keyOf?: (item: Item) => string
}

/** A list of the REST API, newest first, read page by page and kept fresh. */
export function useList<Item>(
  path: string,
  { query = {}, everyMs = 10_000, paused = false, keyOf = idOf }: ListOptions<Item> = {},
): ListState<Item> {
  const key = JSON.stringify([path, query, namedOrganization.value])
  const kept = recall<Kept<Item>>(key)
  const items = useSignal<readonly Item[] | null>(kept?.items ?? null)
  const cursor = useSignal<string | null>(kept?.cursor ?? null)
  const first = useSignal<Page<Item> | null>(null)
  const error = useSignal<ApiError | null>(null)
  const loadingMore = useSignal(false)

  const read = (more: Query, signal?: AbortSignal): Promise<Page<Item>> =>
    ask(path, { query: { ...query, ...more }, ...(signal ? { signal } : {}) })

  function begin(page: Page<Item>): void {
    items.value = page.items
    cursor.value = page.hasMore ? page.nextCursor : null
    first.value = page
  }

  async function refresh(signal?: AbortSignal): Promise<void> {
    try {
      const page = await read({}, signal)
      error.value = null
      const shown = items.peek()
      // An empty list has nothing that could move.
      if (shown === null || shown.length === 0) return begin(page)
      const now = new Map(page.items.map((item) => [keyOf(item), item]))
      items.value = shown.map((item) => now.get(keyOf(item)) ?? item)
      first.value = page
    } catch (caught) {
      if (signal?.aborted) return
      error.value = caught instanceof ApiError ? caught : new ApiError(0, null)
      throw caught
    }
  }
  useEffect(() => {
    const kept = recall<Kept<Item>>(key)
    items.value = kept?.items ?? null
    cursor.value = kept?.cursor ?? null
    first.value = null
    error.value = null
  }, [key])
  useEffect(() => {
    if (items.value !== null) keep(key, { items: items.value, cursor: cursor.value } satisfies Kept<Item>)
  }, [items.value, cursor.value])
  usePoll(refresh, key, everyMs, paused)

  const shown = new Set(items.value?.map(keyOf))
  const page = first.value?.items ?? []
  const known = page.findIndex((item) => shown.has(keyOf(item)))
  const fresh = known === -1 ? (shown.size === 0 ? 0 : page.length) : known
  return {
    keyOf,
    items: items.value,
    hasMore: cursor.value !== null,
    loadingMore: loadingMore.value,
    error: error.value,
    fresh,
    freshIsLeast: known === -1 && shown.size > 0 && first.value?.hasMore === true,
    showFresh() {
      if (first.value !== null) begin(first.value)
    },
    put(changed) {
      const now = items.peek() ?? []
      const key = keyOf(changed)
      // Of all that match, most are not shown.
      if (now.some((item) => keyOf(item) === key))
        items.value = now.map((item) => (keyOf(item) === key ? changed : item))
    },
    async more() {
      const at = cursor.peek()
      if (at === null || loadingMore.peek()) return
      loadingMore.value = true
      try {
        const next = await read({ cursor: at })
        const known = new Set(items.peek()?.map(keyOf))
        items.value = [...(items.peek() ?? []), ...next.items.filter((item) => !known.has(keyOf(item)))]
        cursor.value = next.hasMore ? next.nextCursor : null
        error.value = null
      } catch (caught) {
        error.value = caught instanceof ApiError ? caught : new ApiError(0, null)
      } finally {
        loadingMore.value = false
      }
    },
    async reload() {
      try {
        begin(await read({}))
        error.value = null
      } catch (caught) {
        error.value = caught instanceof ApiError ? caught : new ApiError(0, null)
      }
    },
  }
}

function idOf(item: unknown): string {
  return (item as { readonly id: string }).id
}
