import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'

export interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Called by Escape and the close button. Left out, the dialog cannot be closed that way. */
  readonly onClose?: () => void
  readonly wide?: boolean
}

/** A modal dialog. It is shown as long as it is rendered; the browser keeps the focus inside and gives it back. */
export function Dialog({ title, children, onClose, wide }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the browser paints: shown later, it would take the focus from a field that is already in use.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    // Closing gives the focus back. While the dialog is open, nothing else can take it.
    return () => dialog?.close()
  }, [])
  return (
    <dialog
      ref={element}
      class={`dialog${wide ? ' wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <header>
        <h2 id={id}>{title}</h2>
        {onClose === undefined ? null : (
          <Button kind="quiet" icon="close" label={texts.actions.close} onClick={onClose} />
        )}
      </header>
      {children}
    </dialog>
  )
}

/** The buttons at the end of a dialog. */
export function DialogActions({ children }: { readonly children: ComponentChildren }) {
  return <footer class="actions">{children}</footer>
}

interface Question {
  readonly title: string
  readonly hint: string
  readonly confirm: string
  readonly cancel?: string
  readonly danger?: boolean
}

const asked = signal<(Question & { readonly answer: (yes: boolean) => void }) | null>(null)

/** Asks whether something is really meant. */
export function confirm(question: Question): Promise<boolean> {
  asked.value?.answer(false)
  return new Promise((resolve) => {
    asked.value = {
      ...question,
      answer(yes) {
        asked.value = null
        resolve(yes)
      },
    }
  })
}

/** Shows what {@link confirm} asks. */
export function Confirmation() {
  const question = asked.value
  if (question === null) return null
  const { title, hint, confirm: yes, cancel = texts.actions.cancel, danger = false, answer } = question
  return (
    <Dialog title={title} onClose={() => answer(false)}>
      <p>{hint}</p>
      <DialogActions>
        <Button onClick={() => answer(false)}>{cancel}</Button>
        <Button kind={danger ? 'danger' : 'primary'} onClick={() => answer(true)}>
          {yes}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
