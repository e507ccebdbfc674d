import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { DiffView } from './diff-view.tsx'
import { broughtOnto, type Draft, draftOf, type Template } from './template.ts'

const said = texts.templates

/** Shows a version that was saved while another was edited, and lets the author choose. */
export function Conflict({
  theirs,
  mine,
  before,
  onTheirs,
  onMine,
  onClose,
}: {
  readonly theirs: Template
  readonly mine: Draft
  /** The template that the edits were made of. */
  readonly before: Draft
  readonly onTheirs: () => void
  readonly onMine: () => unknown
  readonly onClose: () => void
}) {
  const stored = draftOf(theirs)
  return (
    <Dialog title={said.conflictTitle(theirs)} onClose={onClose} wide>
      <p>{said.conflictHint}</p>
      <DiffView older={stored} newer={broughtOnto(stored, mine, before)} />
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
