import { ask } from '../../app/api.ts'
import { place, setQuery } from '../../app/router.ts'
import { may } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { confirm } from '../../ui/dialog.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { CompareVersions } from './compare-versions.tsx'
import type { Author, Draft } from './template.ts'

const said = texts.templates

interface Version {
  readonly version: number
  readonly author: Author | null
  readonly createdAt: string
}

/** The versions of a text. Two of them are compared by the query of the address. */
export function Versions<Of extends Version>({
  path,
  newest,
  fieldsOf,
  changed,
  onRestored,
}: {
  /** Of its versions. */
  readonly path: string
  readonly newest: number
  readonly fieldsOf: (version: Of) => Partial<Draft>
  /** True: there are edits that a restored version would compete with. */
  readonly changed: boolean
  readonly onRestored: () => Promise<void>
}) {
  const versions = useList<Of>(path, {
    query: { limit: '20' },
    everyMs: 30_000,
    keyOf: ({ version }) => String(version),
  })
  const { from, to } = place.value.query

  async function restore(version: number): Promise<void> {
    const sure = await confirm({
      title: said.restoreTitle(version),
      hint: said.restoreHint,
      confirm: said.restore,
    })
    if (!sure) return
    await ask(`${path}/${version}/restore`, {
      method: 'POST',
    })
    tell(said.restoredNote(version))
    await onRestored()
  }

  const columns: Column<Of>[] = [
    {
      title: said.version,
      main: true,
      cell: ({ version }) => (
        <>
          {version} {version === newest ? <Badge tone="info">{said.current}</Badge> : null}
        </>
      ),
    },
    { title: said.made, cell: ({ createdAt }) => <Time at={createdAt} style="full" /> },
    { title: said.author, cell: ({ author }) => said.authorName(author) },
    {
      title: said.actions,
      quiet: true,
      end: true,
      cell: ({ version }) =>
        version === newest ? null : (
          <div class="actions">
            <Button
              label={`${said.compare}: ${version}`}
              onClick={() => setQuery({ from: String(version), to: String(newest) })}
            >
              {said.compare}
            </Button>
            {may('Write') ? (
              <Button
                label={`${said.restore}: ${version}`}
                disabled={changed}
                onClick={() => restore(version)}
              >
                {said.restore}
              </Button>
            ) : null}
          </div>
        ),
    },
  ]
  return (
    <section class="versions" aria-labelledby="versions-title">
      <h2 id="versions-title">{said.versions}</h2>
      {changed && newest > 1 ? <p class="hint">{said.restoreLater}</p> : null}
      <List label={said.versions} state={versions} columns={columns} empty={null} />
      {from === undefined || to === undefined ? null : (
        <CompareVersions<Of>
          path={path}
          newest={newest}
          fieldsOf={fieldsOf}
          from={from}
          to={to}
          onChange={setQuery}
          onClose={() => setQuery({ from: undefined, to: undefined })}
        />
      )}
    </section>
  )
}
