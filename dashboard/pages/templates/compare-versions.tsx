import type { Query } from '../../app/router.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { DiffView } from './diff-view.tsx'
import type { Draft } from './template.ts'

const said = texts.templates

/** What differs between two versions. */
export function CompareVersions<Version>({
  path,
  newest,
  fieldsOf,
  from,
  to,
  onChange,
  onClose,
}: {
  readonly path: string
  readonly newest: number
  readonly fieldsOf: (version: Version) => Partial<Draft>
  readonly from: string
  readonly to: string
  readonly onChange: (query: Query) => void
  readonly onClose: () => void
}) {
  const older = useData<Version>(`${path}/${encodeURIComponent(from)}`, { everyMs: 0 })
  const newer = useData<Version>(`${path}/${encodeURIComponent(to)}`, { everyMs: 0 })
  const error = older.error ?? newer.error
  return (
    <Dialog title={said.compareTitle} onClose={onClose} wide>
      <div class="filters">
        <TextField
          label={said.from}
          type="number"
          min={1}
          max={newest}
          value={from}
          onValue={(value) => onChange({ from: value || '1' })}
        />
        <TextField
          label={said.until}
          type="number"
          min={1}
          max={newest}
          value={to}
          onValue={(value) => onChange({ to: value || '1' })}
        />
      </div>
      {error === null ? null : <ErrorNote error={error} />}
      {error !== null || older.value === null || newer.value === null ? null : (
        <DiffView older={fieldsOf(older.value)} newer={fieldsOf(newer.value)} />
      )}
      {error === null && (older.value === null || newer.value === null) ? <Loading /> : null}
    </Dialog>
  )
}
