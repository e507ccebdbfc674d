import type { ComponentChildren } from 'preact'
import { texts } from '../texts/index.ts'
import { Button } from './button.tsx'
import { Copyable } from './copy.tsx'
import { Dialog, DialogActions } from './dialog.tsx'

/** Shows a secret, once. Closed by its button alone, so that a slip does not lose it. */
export function SecretDialog({
  title,
  hint,
  label,
  secret,
  children,
  onDone,
}: {
  readonly title: string
  readonly hint: string
  readonly label: string
  readonly secret: string
  /** What to do with it. */
  readonly children?: ComponentChildren
  readonly onDone: () => void
}) {
  return (
    <Dialog title={title}>
      <p>{hint}</p>
      <Copyable value={secret} label={label} />
      {children}
      <DialogActions>
        <Button kind="primary" onClick={onDone}>
          {texts.actions.done}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
