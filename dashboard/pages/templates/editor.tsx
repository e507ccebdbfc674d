import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { may, session } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Page } from '../../ui/page.tsx'
import { Conflict } from './conflict.tsx'
import { DraftFields, generalError } from './draft-fields.tsx'
import { DraftNotice } from './draft-notice.tsx'
import { LintPanel } from './lint-panel.tsx'
import { Notices } from './notices.tsx'
import { NO_CHOICES, PreviewChoices } from './preview-choices.tsx'
import { PreviewPanel } from './preview-panel.tsx'
import { broughtOnto, draftOf, fitsDraft, kindOf, type Template, type TemplateDraft } from './template.ts'
import { TestSend } from './test-send.tsx'
import { useDraft } from './use-draft.ts'
import { useLint } from './use-lint.ts'
import { usePreview } from './use-preview.ts'
import { useSaving } from './use-saving.ts'
import { type Typed, variablesOf } from './variables.ts'
import { VariablesForm } from './variables-form.tsx'

const said = texts.templates

const nothing = async (): Promise<void> => {}

/** Edits a template or its draft, or a new one, beside what recipients get of it. */
export function Editor({
  template,
  stored,
  draft: drafted = null,
  reload = nothing,
  onDrafted = nothing,
  onDraftDone = nothing,
  title,
  intro,
  children,
}: {
  /** Its newest version. Null: a new one. */
  readonly template: Template | null
  /** What is edited: the newest version, or it with the text of its draft. */
  readonly stored: Template | null
  /** Null: there is none. */
  readonly draft?: TemplateDraft | null
  /** Reads again what is edited. */
  readonly reload?: () => Promise<void>
  /** The edits were saved as a draft. */
  readonly onDrafted?: () => Promise<void>
  /** The draft was published or discarded. */
  readonly onDraftDone?: () => Promise<void>
  readonly title: string
  readonly intro: string
  /** What stands below. */
  readonly children?: (changed: boolean) => ComponentChildren
}) {
  const [first] = session.value.kinds.filter(({ configured }) => configured)
  const state = useDraft(stored, first?.name ?? '')
  const { draft, before, changed } = state
  const saving = useSaving(state, reload, onDrafted)
  const typed = useSignal<Typed>({})
  const choices = useSignal(NO_CHOICES)
  const preview = usePreview(draft, typed.value, choices.value)
  const lint = useLint(draft)
  const sending = useSignal(false)
  const mayWrite = may('Write')
  const { form, conflict } = saving
  const editsDraft = stored?.draft !== undefined
  const mayDraft = stored !== null && drafted === null && changed && fitsDraft(draft, before)
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
      {mayDraft ? <Button onClick={saving.saveAsDraft}>{said.draft.save}</Button> : null}
      <Button kind="primary" busy={form.busy} disabled={!changed} onClick={form.submit}>
        {stored === null ? texts.actions.create : editsDraft ? said.draft.saveEdit : texts.actions.save}
      </Button>
    </>
  )

  return (
    <Page title={title} intro={intro} actions={mayWrite ? actions : undefined}>
      <Notices state={state} error={generalError(form)} onCompare={saving.compare} />
      {template === null || drafted === null ? null : (
        <DraftNotice
          template={template}
          draft={drafted}
          editing={editsDraft}
          changed={changed}
          onDone={onDraftDone}
        />
      )}
      <div class="editor">
        <DraftFields
          draft={draft}
          form={form}
          rendering={preview.error}
          isNew={stored === null}
          textOnly={editsDraft}
          readOnly={!mayWrite}
          onEdit={state.edit}
          onLocale={(locale) => {
            choices.value = { ...choices.value, locale: locale ?? draft.locale }
          }}
        />
        <section class="card" aria-labelledby="preview-title">
          <h2 id="preview-title">{said.preview}</h2>
          <PreviewPanel state={preview} hasSubject={kindOf(draft.channel).subject} />
          <VariablesForm
            placeholders={preview.placeholders}
            typed={typed.value}
            error={preview.error}
            onTyped={(value) => {
              typed.value = value
            }}
          />
          <PreviewChoices
            draft={draft}
            choices={choices.value}
            error={preview.error}
            onChoices={(value) => {
              choices.value = value
            }}
          />
          <LintPanel state={lint} told={preview.error?.message} />
        </section>
      </div>
      {children?.(changed)}
      {conflict === null ? null : (
        <Conflict
          theirs={conflict}
          stored={draftOf(conflict)}
          merged={broughtOnto(draftOf(conflict), draft, before)}
          onClose={() => saving.compare(null)}
          onTheirs={() => {
            state.adopt(conflict)
            saving.compare(null)
          }}
          onMine={() => saving.saveOnto(conflict)}
        />
      )}
      {sending.value && template !== null ? (
        <TestSend
          template={template}
          changed={changed || editsDraft}
          variables={variablesOf(preview.placeholders, typed.value)}
          onClose={() => {
            sending.value = false
          }}
        />
      ) : null}
    </Page>
  )
}
