import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask } from '../../app/api.ts'
import { guardUnsaved, navigate } from '../../app/router.ts'
import { inOrganization, may, session } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { CodeField } from '../../ui/code-field.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, useForm, useUnsaved } from '../../ui/form.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { tell } from '../../ui/toast.tsx'
import { Conflict } from './conflict.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import {
  NO_TEXT,
  type SharedFields,
  type SharedText,
  type SharedTexts,
  type SharedTextVersion,
  sharedFieldsOf,
} from './shared-text.ts'
import { differing, emptyDraft } from './template.ts'
import { TextNav } from './text-nav.tsx'
import { usePreview } from './use-preview.ts'
import type { Typed } from './variables.ts'
import { VariablesForm } from './variables-form.tsx'
import { Versions } from './versions.tsx'

const words = texts.templates

interface Params {
  readonly params: Readonly<Record<string, string>>
}

export function LayoutPage({ params: { id = '' } }: Params) {
  return <SharedTextPage many="layouts" id={id} />
}

export function PartialPage({ params: { id = '' } }: Params) {
  return <SharedTextPage many="partials" id={id} />
}

function SharedTextPage({ many, id }: { readonly many: SharedTexts; readonly id: string }) {
  return id === 'new' ? (
    <SharedEditor key="new" many={many} stored={null} />
  ) : (
    <Stored key={id} many={many} id={id} />
  )
}

function Stored({ many, id }: { readonly many: SharedTexts; readonly id: string }) {
  const { value, error, reload } = useData<SharedText>(`/v1/${many}/${encodeURIComponent(id)}`)
  if (value !== null) return <SharedEditor many={many} stored={value} reload={reload} />
  return (
    <Page title={words[many].one}>
      {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
    </Page>
  )
}

/** Edits a layout or partial, or a new one. */
function SharedEditor({
  many,
  stored,
  reload = async () => {},
}: {
  readonly many: SharedTexts
  readonly stored: SharedText | null
  readonly reload?: () => Promise<void>
}) {
  const said = words[many]
  const base = useSignal(stored)
  const before = base.value === null ? NO_TEXT : sharedFieldsOf(base.value)
  const draft = useSignal(before)
  const conflict = useSignal<SharedText | null>(null)
  const changed = differing(draft.value, before)
  useUnsaved(changed.length > 0)

  function adopt(text: SharedText): void {
    base.value = text
    draft.value = sharedFieldsOf(text)
  }
  useEffect(() => {
    if (stored !== null && changed.length === 0 && stored.version >= (base.peek()?.version ?? 0))
      adopt(stored)
  }, [stored])

  const own = (): object =>
    Object.fromEntries(changed.map((field) => [field, draft.value[field as keyof SharedFields] || null]))

  async function save(basis: SharedText): Promise<void> {
    const path = `/v1/${many}/${basis.id}`
    try {
      const body = { ...own(), version: basis.version }
      adopt(await ask<SharedText>(path, { method: 'PATCH', body }))
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'version_conflict')) throw error
      conflict.value = await ask<SharedText>(path)
      return
    }
    conflict.value = null
    tell(said.saved)
    await reload()
  }

  const form = useForm(async () => {
    const basis = conflict.peek() ?? base.peek()
    if (basis !== null) return save(basis)
    const created = await ask<SharedText>(`/v1/${many}`, { method: 'POST', body: own() })
    tell(said.saved)
    guardUnsaved(null)
    await navigate(inOrganization(`/templates/${many}/${created.id}`), {}, 'replace')
  })
  const readOnly = !may('Write')
  const field = (name: keyof SharedFields) => ({
    error: form.errorOf(name),
    value: draft.value[name],
    readOnly,
    onValue: (value: string) => {
      draft.value = { ...draft.peek(), [name]: value }
    },
  })
  const actions = (
    <>
      {changed.length === 0 ? null : (
        <Button
          onClick={() => {
            draft.value = before
          }}
        >
          {words.discard}
        </Button>
      )}
      <Button kind="primary" busy={form.busy} disabled={changed.length === 0} onClick={form.submit}>
        {stored === null ? texts.actions.create : texts.actions.save}
      </Button>
    </>
  )
  const theirs = conflict.value
  return (
    <Page
      title={stored === null ? said.create : stored.name}
      intro={stored === null ? said.intro : said.versionOf(stored.version)}
      actions={readOnly ? undefined : actions}
    >
      <TextNav />
      <div class="editor">
        <section class="card">
          <Form state={form} fields={['name', 'description', 'html', 'text']}>
            {stored === null ? (
              <TextField label={words.name} hint={said.nameHint} {...field('name')} autoComplete="off" />
            ) : null}
            <TextField label={words.description} {...field('description')} autoComplete="off" />
            <CodeField label={words.html} hint={said.htmlHint} {...field('html')} language="html" />
            <CodeField label={words.text} hint={said.textHint} {...field('text')} language="text" />
          </Form>
        </section>
        <SharedPreview {...draft.value} />
      </div>
      {stored === null ? null : (
        <Versions<SharedTextVersion>
          key={stored.version}
          path={`/v1/${many}/${stored.id}/versions`}
          newest={stored.version}
          fieldsOf={({ html, text }) => ({ html: html ?? '', text: text ?? '' })}
          changed={changed.length > 0}
          onRestored={reload}
        />
      )}
      {theirs === null ? null : (
        <Conflict
          theirs={theirs}
          stored={sharedFieldsOf(theirs)}
          merged={{
            ...sharedFieldsOf(theirs),
            ...Object.fromEntries(changed.map((name) => [name, draft.value[name as keyof SharedFields]])),
          }}
          onClose={() => {
            conflict.value = null
          }}
          onTheirs={() => {
            adopt(theirs)
            conflict.value = null
          }}
          onMine={form.submit}
        />
      )}
    </Page>
  )
}

/** Renders the text as if it were that of a template. Its slot and the values that it names are examples. */
function SharedPreview({ html, text }: Pick<SharedFields, 'html' | 'text'>) {
  const channel = session.value.kinds.find((kind) => kind.html)?.name ?? ''
  const typed = useSignal<Typed>({})
  const state = usePreview({ ...emptyDraft(channel), html, text }, typed.value)
  return (
    <section class="card" aria-labelledby="preview-title">
      <h2 id="preview-title">{words.preview}</h2>
      <PreviewPanel state={state} hasSubject={false} />
      <VariablesForm
        placeholders={state.placeholders}
        typed={typed.value}
        error={state.error}
        onTyped={(value) => {
          typed.value = value
        }}
      />
    </section>
  )
}
