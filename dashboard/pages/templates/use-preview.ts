import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError, ask } from '../../app/api.ts'
import { type Choices, choiceFields, NO_CHOICES } from './preview-choices.tsx'
import { type Draft, textFields } from './template.ts'
import { type Placeholder, type Typed, variablesOf } from './variables.ts'

/** A template as a recipient gets it. */
export interface Preview {
  readonly subject: string | null
  readonly body: string
  readonly format: 'text' | 'html'
  readonly text?: string
  readonly sms?: { readonly encoding: string; readonly segments: number; readonly characters: number }
  readonly placeholders: readonly Placeholder[]
}

export interface PreviewState {
  /** The last one that succeeded. */
  readonly preview: Preview | null
  readonly error: ApiError | null
  readonly placeholders: readonly Placeholder[]
}

/** Whether a field of the editor shows the error. */
export function standsAtField({ error, placeholders }: PreviewState): boolean {
  const { field, missing } = error?.details ?? {}
  if (Array.isArray(missing)) return missing.every((name) => placeholders.some((each) => each.name === name))
  return FIELDS.some((name) => name === field)
}

const FIELDS = ['subject', 'html', 'text', 'body', 'recipient'] as const

const PAUSE_MS = 350
const NONE: readonly Placeholder[] = []

/** Renders what is edited, soon after it has changed, one request at a time. */
export function usePreview(draft: Draft, typed: Typed, choices: Choices = NO_CHOICES): PreviewState {
  const preview = useSignal<Preview | null>(null)
  const error = useSignal<ApiError | null>(null)
  const placeholders = useSignal(NONE)
  const running = useRef(false)
  const wanted = useRef<object | null>(null)

  const fields = textFields(draft)
  const isEmpty = fields.html === undefined && fields.text === undefined
  const variables = variablesOf(placeholders.value, typed)
  const body = isEmpty ? null : { channel: draft.channel, ...fields, ...choiceFields(choices), variables }

  async function run(): Promise<void> {
    if (running.current) return
    running.current = true
    while (wanted.current !== null) {
      const asked = wanted.current
      wanted.current = null
      await render(asked)
    }
    running.current = false
  }

  async function render(asked: object): Promise<void> {
    try {
      const answer = await ask<Preview>('/v1/template-previews', {
        method: 'POST',
        body: asked,
      })
      preview.value = answer
      error.value = null
      learn(answer.placeholders)
    } catch (caught) {
      const failed = caught instanceof ApiError ? caught : new ApiError(0, null)
      const told = failed.details.placeholders
      // The values that new placeholders begin with are on their way.
      if (Array.isArray(told) && learn(told as Placeholder[])) return
      error.value = failed
    }
  }

  /** True: there are new names. They have values of their own, with which it is rendered again. */
  function learn(names: readonly Placeholder[]): boolean {
    if (JSON.stringify(names) === JSON.stringify(placeholders.peek())) return false
    placeholders.value = names
    return true
  }

  useEffect(() => {
    if (body === null) {
      wanted.current = null
      preview.value = null
      error.value = null
      placeholders.value = NONE
      return
    }
    const timer = setTimeout(
      () => {
        wanted.current = body
        void run()
      },
      // What is shown first need not wait for a pause.
      preview.peek() === null ? 0 : PAUSE_MS,
    )
    return () => clearTimeout(timer)
  }, [JSON.stringify(body)])

  return { preview: preview.value, error: error.value, placeholders: placeholders.value }
}
