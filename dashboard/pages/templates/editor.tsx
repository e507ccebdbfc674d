import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { may, session } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Conflict } from './conflict.tsx'
import { DraftFields, generalError } from './draft-fields.tsx'
import { DraftNotice } from './draft-notice.tsx'
import { Notices } from './notices.tsx'
import { NO_CHOICES, PreviewChoices } from './preview-choices.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import { kindOf, type Template } from './template.ts'
import { TestSend } from './test-send.tsx'
import { useDraft } from './use-draft.ts'
import { usePreview } from './use-preview.ts'
import { useSaving } from './use-saving.ts'
import { type Typed, variablesOf } from './variables.ts'
import { VariablesForm } from './variables-form.tsx'

const said = texts.templates

/** Edits a template, or a new one, beside what recipients get of it. */
export function Editor({
  stored,
  reload = async () => {},
  title,
  intro,
  children,
}: {
  /** Null: a new one. */
  readonly stored: Template | null
  readonly reload?: () => Promise<void>
  readonly title: string
  readonly intro: string
  /** What stands below. */
  readonly children?: (changed: boolean) => ComponentChildren
}) {
  const [first] = session.value.kinds.filter(({ configured }) => configured)
  const state = useDraft(stored, first?.name ?? '')
  const { draft, before, changed } = state
  const saving = useSaving(state, reload)
  const typed = useSignal<Typed>({})
  const choices = useSignal(NO_CHOICES)
  const preview = usePreview(draft, state.base, typed.value, choices.value)
  const sending = useSignal(false)
  const mayWrite = may('Write')
  const { form, conflict } = saving
  const actions = (
    <>
      {stored === null ? null : (
        <Button
          icon="send"
          onClick={() => {
            sending.value = true
          }}
        >
          {said.test}
        </Button>
      )}
      {changed ? <Button onClick={state.discard}>{said.discard}</Button> : null}
      <Button kind="primary" busy={form.busy} disabled={!changed} onClick={form.submit}>
        {stored === null ? texts.actions.create : texts.actions.save}
      </Button>
    </>
  )

  return (
    <Page title={title} intro={intro} actions={mayWrite ? actions : undefined}>
      <Notices state={state} error={generalError(form)} onCompare={saving.compare} />
      {stored === null ? null : (
        <DraftNotice template={stored} changed={changed} onEdit={state.edit} onPublished={reload} />
      )}
      <div class="editor">
        <DraftFields
          draft={draft}
          form={form}
          rendering={preview.error}
          isNew={stored === null}
          readOnly={!mayWrite}
          onEdit={state.edit}
        />
        <section class="card" aria-labelledby="preview-title">
          <h2 id="preview-title">{said.preview}</h2>
          <PreviewChoices
            template={state.base}
            choices={choices.value}
            error={preview.error}
            onChoices={(value) => {
              choices.value = value
            }}
          />
          <VariablesForm
            placeholders={preview.placeholders}
            typed={typed.value}
            error={preview.error}
            onTyped={(value) => {
              typed.value = value
            }}
          />
          <PreviewPanel state={preview} hasSubject={kindOf(draft.channel).subject} />
        </section>
      </div>
      {children?.(changed)}
      {conflict === null ? null : (
        <Conflict
          theirs={conflict}
          mine={draft}
          before={before}
          onClose={() => saving.compare(null)}
          onTheirs={() => {
            state.adopt(conflict)
            saving.compare(null)
          }}
          onMine={() => saving.saveOnto(conflict)}
        />
      )}
      {sending.value && stored !== null ? (
        <TestSend
          template={stored}
          changed={changed}
          variables={variablesOf(preview.placeholders, typed.value)}
          onClose={() => {
            sending.value = false
          }}
        />
      ) : null}
    </Page>
  )
}
