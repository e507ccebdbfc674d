import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask } from '../../app/api.ts'
import { type Draft, textFields } from './template.ts'

/** A fault of a template, as the REST API tells it. */
export interface Finding {
  readonly rule: string
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly field: string
  readonly locales: readonly string[]
  readonly source?: { readonly type: 'layout' | 'partial'; readonly name: string }
  readonly line?: number
  readonly excerpt?: string
}

export interface Lint {
  readonly findings: readonly Finding[]
  readonly complete: boolean
}

export interface LintState {
  /** Null: not known yet, or there is no text. */
  readonly lint: Lint | null
  readonly error: ApiError | null
}

/** It is not as urgent as the preview. */
const PAUSE_MS = 800

/** Looks for faults in what is edited, soon after it has changed. */
export function useLint(draft: Draft): LintState {
  const lint = useSignal<Lint | null>(null)
  const error = useSignal<ApiError | null>(null)
  const fields = textFields(draft)
  const isEmpty = fields.html === undefined && fields.text === undefined
  const body = isEmpty ? null : { channel: draft.channel, ...fields }
  const key = JSON.stringify(body)

  async function run(signal: AbortSignal): Promise<void> {
    try {
      lint.value = await ask<Lint>('/v1/template-lints', { method: 'POST', body, signal })
      error.value = null
    } catch (caught) {
      if (signal.aborted) return
      lint.value = null
      error.value = caught instanceof ApiError ? caught : new ApiError(0, null)
    }
  }

  useEffect(() => {
    if (isEmpty) {
      lint.value = null
      error.value = null
      return
    }
    const abort = new AbortController()
    const timer = setTimeout(() => void run(abort.signal), lint.peek() === null ? 0 : PAUSE_MS)
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [key])
  return { lint: lint.value, error: error.value }
}
