import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, ask } from './api.ts'
import { usePoll } from './poll.ts'
import { keep, namedOrganization, type Query, recall } from './router.ts'

/** What was read, and what went wrong the last time. */
export interface Data<Value> {
  readonly value: Value | null
  readonly error: ApiError | null
  /** Reads it again now. */
  reload(): Promise<void>
}

/** Reads something and keeps it fresh. `everyMs` 0: it is read once. `organization`: of another one than the address names. */
export function useData<Value>(
  path: string,
  {
    query = {},
    everyMs = 10_000,
    organization,
  }: { query?: Query; everyMs?: number; organization?: string } = {},
): Data<Value> {
  const key = JSON.stringify([path, query, organization ?? namedOrganization.value])
  const headers = organization === undefined ? {} : { 'X-Organization-ID': organization }
  const value: Signal<Value | null> = useSignal(recall<Value>(key) ?? null)
  const error: Signal<ApiError | null> = useSignal(null)
  const loaded = useRef('')

  async function load(signal?: AbortSignal): Promise<void> {
    try {
      const answer = await ask<Value>(path, { query, headers, ...(signal ? { signal } : {}) })
      loaded.current = key
      value.value = answer
      keep(key, answer)
      error.value = null
    } catch (caught) {
      if (signal?.aborted) return
      error.value = caught instanceof ApiError ? caught : new ApiError(0, null)
      throw caught
    }
  }
  useEffect(() => {
    value.value = recall<Value>(key) ?? null
    error.value = null
  }, [key])
  usePoll(
    async (signal) => {
      if (everyMs === 0 && loaded.current === key) return
      await load(signal)
    },
    key,
    everyMs === 0 ? 3_600_000 : everyMs,
  )
  return { value: value.value, error: error.value, reload: () => load().catch(() => {}) }
}
