import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from './api.ts'
import { useAction } from './use-action.ts'

/** What a run over many works with. */
export interface Run {
  /** Aborted by a stop, by an error, and when the dialog goes. */
  readonly signal: AbortSignal
  /** Adds to those that are done. */
  add(done: number): void
  /** Asks again after a 429, for as long as the server asks to wait. */
  patiently<Answer>(request: () => Promise<Answer>): Promise<Answer>
}

export interface BulkState<Counted> {
  readonly phase: 'asking' | 'running' | 'stopped' | 'done'
  /** What the run would do. Null: not known yet. */
  readonly counted: Counted | null
  readonly done: number
  /** True: the limit of requests is used up, and the run continues when the server permits it. */
  readonly waiting: boolean
  readonly error: ApiError | null
  count(): Promise<void>
  run(): Promise<void>
  stop(): void
}

/**
 * An action on many items: counted first, then run step by step, until the end or a stop.
 *
 * @param act false: it was stopped before the end
 */
export function useBulk<Counted>(
  count: (run: Run) => Promise<Counted>,
  act: (counted: Counted, run: Run) => Promise<boolean>,
): BulkState<Counted> {
  const counted = useSignal<Counted | null>(null)
  const done = useSignal(0)
  const phase = useSignal<BulkState<Counted>['phase']>('asking')
  const waiting = useSignal(false)
  const control = useRef(new AbortController()).current
  const action = useAction()
  const { signal } = control
  /** Passed by all requests: one refusal holds them all. */
  const gate = useRef(Promise.resolve())

  async function hold(seconds: number): Promise<void> {
    waiting.value = true
    await pause(seconds * 1_000, signal)
    waiting.value = false
  }

  const run: Run = {
    signal,
    add(more) {
      done.value += more
    },
    async patiently(request) {
      for (;;) {
        await gate.current
        signal.throwIfAborted()
        try {
          return await request()
        } catch (error) {
          if (!(error instanceof ApiError) || error.status !== 429 || signal.aborted) throw error
          if (!waiting.peek()) gate.current = hold(error.retryAfter || 1)
        }
      }
    },
  }

  const countAll = (): Promise<void> =>
    action.run(async () => {
      counted.value = await count(run)
    })
  useEffect(() => {
    void countAll()
    return () => control.abort()
  }, [])
  return {
    phase: phase.value,
    counted: counted.value,
    done: done.value,
    waiting: waiting.value,
    error: action.error,
    count: countAll,
    run: () =>
      action.run(async () => {
        if (counted.value === null) return
        phase.value = 'running'
        try {
          phase.value = (await act(counted.value, run)) ? 'done' : 'stopped'
        } catch (error) {
          phase.value = 'stopped'
          if (signal.aborted) return
          control.abort()
          throw error
        }
      }),
    stop: () => control.abort(),
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
