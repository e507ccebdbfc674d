import { useEffect, useRef } from 'preact/hooks'
import { place, setQuery } from '../../app/router.ts'
import { may, session } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { Editor } from './editor.tsx'
import { fieldsOf, type Template, type TemplateDraft, type TemplateVersion, withDraft } from './template.ts'
import { Versions } from './versions.tsx'

const said = texts.templates

export function TemplatePage({ params: { id = '' } }: { readonly params: Readonly<Record<string, string>> }) {
  const path = `/v1/templates/${encodeURIComponent(id)}`
  const { value, error, reload } = useData<Template>(path)
  const version = value?.version
  const { draft, reload: reloadDraft } = useTemplateDraft(path, version)
  if (value === null || draft === undefined) {
    return (
      <Page title={said.one}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    )
  }
  const editing = draft !== null && place.value.query.draft === 'true'

  async function done(): Promise<void> {
    setQuery({ draft: undefined })
    await reload()
    await reloadDraft()
  }

  return (
    <Editor
      key={editing ? 'draft' : 'version'}
      template={value}
      stored={editing ? withDraft(value, draft) : value}
      draft={draft}
      reload={editing ? reloadDraft : reload}
      onDrafted={async () => {
        await reloadDraft()
        setQuery({ draft: 'true' })
      }}
      onDraftDone={done}
      title={value.name}
      intro={said.versionOf(value)}
    >
      {(changed) => (
        <Versions<TemplateVersion>
          key={value.version}
          path={`/v1/templates/${value.id}/versions`}
          newest={value.version}
          fieldsOf={fieldsOf}
          changed={changed}
          onRestored={reload}
        />
      )}
    </Editor>
  )
}

/** The draft of a template. Null: none. Undefined: not known yet. */
function useTemplateDraft(
  path: string,
  version: number | undefined,
): { readonly draft: TemplateDraft | null | undefined; readonly reload: () => Promise<void> } {
  const { value, error, reload } = useData<TemplateDraft>(`${path}/draft`, { everyMs: 0 })
  const known = useRef(version)
  useEffect(() => {
    // Another author may have published it.
    if (known.current !== undefined && known.current !== version) void reload()
    known.current = version
  }, [version])
  const draft = error === null ? (value ?? undefined) : error.status === 404 ? null : (value ?? null)
  return { draft, reload }
}

export function NewTemplatePage() {
  const usable = session.value.kinds.filter(({ configured }) => configured)
  if (!may('Write') || usable.length === 0) {
    return (
      <Page title={said.create}>
        <Empty
          icon="templates"
          title={usable.length === 0 ? said.noChannels : texts.permission.needs('Write')}
        />
      </Page>
    )
  }
  return <Editor template={null} stored={null} title={said.create} intro={said.createHint} />
}
