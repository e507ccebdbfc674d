import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ApiError } from '../app/api.ts'
import { guardUnsaved } from '../app/router.ts'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { confirm, DialogActions } from './dialog.tsx'
import { ErrorNote } from './states.tsx'

export interface FormState {
  readonly busy: boolean
  /** What the server said of the last try. */
  readonly error: ApiError | null
  /** What it said of one field. */
  errorOf(field: string): string | null
  /** Runs the action of the form. */
  submit(): Promise<void>
}

/** The state of a form whose action asks the server. */
export function useForm(action: () => Promise<void>): FormState {
  const busy = useSignal(false)
  const error = useSignal<ApiError | null>(null)
  return {
    busy: busy.value,
    error: error.value,
    errorOf(field) {
      const named = error.value?.details.field
      return named === field || (typeof named === 'string' && named.startsWith(`${field}.`))
        ? (error.value?.message ?? null)
        : null
    },
    async submit() {
      if (busy.peek()) return
      busy.value = true
      try {
        await action()
        error.value = null
      } catch (caught) {
        error.value = caught instanceof ApiError ? caught : new ApiError(0, null)
      } finally {
        busy.value = false
      }
    },
  }
}

/** A form. Errors that concern no single field stand at its end. */
export function Form({
  state,
  fields,
  children,
}: {
  readonly state: FormState
  /** Names of the fields that show their own error. */
  readonly fields: readonly string[]
  readonly children: ComponentChildren
}) {
  const shown = fields.some((field) => state.errorOf(field) !== null)
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void state.submit()
      }}
    >
      {state.error !== null && !shown ? <ErrorNote error={state.error} /> : null}
      {children}
    </form>
  )
}

/** The buttons at the end of a form in a dialog. */
export function FormActions({
  state,
  onCancel,
  kind = 'primary',
  disabled = false,
  children,
}: {
  readonly state: FormState
  readonly onCancel: () => void
  readonly kind?: 'primary' | 'danger'
  readonly disabled?: boolean
  /** What the form does. Default: it saves. */
  readonly children?: ComponentChildren
}) {
  return (
    <DialogActions>
      <Button onClick={onCancel}>{texts.actions.cancel}</Button>
      <Button kind={kind} type="submit" busy={state.busy} disabled={disabled}>
        {children ?? texts.actions.save}
      </Button>
    </DialogActions>
  )
}

/** Keeps unsaved edits from being lost by leaving the page. */
export function useUnsaved(changed: boolean): void {
  useEffect(() => {
    if (!changed) return
    guardUnsaved(() =>
      confirm({
        title: texts.unsaved.title,
        hint: texts.unsaved.hint,
        confirm: texts.unsaved.leave,
        cancel: texts.unsaved.stay,
        danger: true,
      }),
    )
    return () => guardUnsaved(null)
  }, [changed])
}
