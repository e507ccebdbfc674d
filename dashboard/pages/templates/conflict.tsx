import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { DiffView, type FieldTexts } from './diff-view.tsx'

const said = texts.templates

/** Shows what was saved while it was edited, and lets the author choose. */
export function Conflict({
  theirs,
  stored,
  merged,
  nameOf,
  onTheirs,
  onMine,
  onClose,
}: {
  readonly theirs: { readonly version: number; readonly draft?: object }
  /** Their fields. */
  readonly stored: FieldTexts
  /** Theirs with the edits of the author. */
  readonly merged: FieldTexts
  /** Default: as in a template. */
  readonly nameOf?: (field: string) => string
  readonly onTheirs: () => void
  readonly onMine: () => unknown
  readonly onClose: () => void
}) {
  return (
    <Dialog title={said.conflictTitle(theirs)} onClose={onClose} wide>
      <p>{said.conflictHint}</p>
      <DiffView older={stored} newer={merged} nameOf={nameOf} />
      <DialogActions>
        <Button onClick={onClose}>{said.keepEditing}</Button>
        <Button kind="danger" onClick={onTheirs}>
          {said.useTheirs(theirs)}
        </Button>
        <Button kind="primary" onClick={onMine}>
          {theirs.draft === undefined ? said.saveMine : said.draft.saveMine}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
