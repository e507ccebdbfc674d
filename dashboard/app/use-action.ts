import { useSignal } from '@preact/signals'
import { ApiError } from './api.ts'

export interface ActionState {
  /** Why the last one failed. */
  readonly error: ApiError | null
  /** Runs an action; its error is shown until the next one. */
  run(action: () => Promise<void>): Promise<void>
}

/** What buttons of a page do, and what went wrong with it. */
export function useAction(): ActionState {
  const error = useSignal<ApiError | null>(null)
  return {
    error: error.value,
    async run(action) {
      error.value = null
      try {
        await action()
      } catch (caught) {
        error.value = caught instanceof ApiError ? caught : new ApiError(0, null)
      }
    },
  }
}
