import type { ApiError } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ErrorNote } from '../../ui/states.tsx'
import type { Template } from './template.ts'
import type { DraftState } from './use-draft.ts'

const said = texts.templates

/** What the author should know before going on. */
export function Notices({
  state: { newer, restored, discard },
  error,
  onCompare,
}: {
  readonly state: DraftState
  /** What the server said about no single field. */
  readonly error: ApiError | null
  readonly onCompare: (theirs: Template) => void
}) {
  return (
    <>
      {error === null ? null : <ErrorNote error={error} />}
      {newer === null ? null : (
        <div class="note warn" role="status">
          <Icon name="edit" />
          <div>{said.newer(newer)}</div>
          <Button onClick={() => onCompare(newer)}>{said.compare}</Button>
        </div>
      )}
      {restored ? (
        <div class="note" role="status">
          <Icon name="clock" />
          <div>{said.restored}</div>
          <Button onClick={discard}>{said.discard}</Button>
        </div>
      ) : null}
    </>
  )
}
