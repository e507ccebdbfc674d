import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { type ApiError, ask } from '../../app/api.ts'
import { useAction } from '../../app/use-action.ts'
import type { Group } from './group.ts'

/** So many are retried by one request: few enough that a stop holds soon. */
const STEP = 200
const ALL = 1_000_000

export interface RetryResult {
  readonly retried: number
  readonly skipped: {
    readonly expired: number
    readonly unroutable: number
    readonly contentRemoved: number
  }
  /** Null: all have been looked at. */
  readonly nextCursor: string | null
}

export interface RetryState {
  readonly phase: 'asking' | 'running' | 'stopped' | 'done'
  /** What the server would do; null: it has not said. */
  readonly counted: RetryResult | null
  readonly done: number
  readonly error: ApiError | null
  count(): Promise<void>
  run(): Promise<void>
  stop(): void
}

/** The retry of a group: counted by the server first, then done step by step, until it is stopped. */
export function useRetry(
  { channel, code, provider }: Group,
  filter: Readonly<Record<string, string>>,
): RetryState {
  const counted = useSignal<RetryResult | null>(null)
  const done = useSignal(0)
  const phase = useSignal<RetryState['phase']>('asking')
  const stopped = useRef(false)
  const action = useAction()

  function retry(how: object): Promise<RetryResult> {
    const chosen = { ...filter, channel, code, ...(provider === null ? {} : { provider }) }
    return ask('/v1/dead-letters/retry', {
      method: 'POST',
      body: { filter: chosen, ...how },
    })
  }

  async function steps(): Promise<void> {
    let cursor: string | null = null
    do {
      const step: RetryResult = await retry({ most: STEP, ...(cursor === null ? {} : { cursor }) })
      done.value += step.retried
      cursor = step.nextCursor
    } while (cursor !== null && !stopped.current)
    phase.value = cursor === null ? 'done' : 'stopped'
  }

  const count = (): Promise<void> =>
    action.run(async () => {
      counted.value = await retry({ dryRun: true, most: ALL })
    })
  useEffect(() => {
    void count()
    return () => {
      stopped.current = true
    }
  }, [])
  return {
    phase: phase.value,
    counted: counted.value,
    done: done.value,
    error: action.error,
    count,
    async run() {
      phase.value = 'running'
      await action.run(steps)
      if (phase.value === 'running') phase.value = 'stopped'
    },
    stop() {
      stopped.current = true
    },
  }
}
