import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, ask } from '../../app/api.ts'
import { may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { confirm, Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ErrorNote } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { DiffView } from './diff-view.tsx'
import { type Sides, sidesOf, type Template, type TemplateDraft } from './template.ts'

const said = texts.templates.draft

/** Tells of a draft, which no message uses before it is published. */
export function DraftNotice({
  template,
  changed,
  onEdit,
  onPublished,
}: {
  readonly template: Template
  /** True: there are edits that the text of the draft would replace. */
  readonly changed: boolean
  readonly onEdit: (sides: Sides) => void
  readonly onPublished: () => Promise<void>
}) {
  const { id, version } = template
  const path = `/v1/templates/${id}/draft`
  const draft = useSignal<TemplateDraft | null>(null)
  const shown = useSignal(false)
  const action = useAction()

  async function load(): Promise<void> {
    try {
      draft.value = await ask<TemplateDraft>(path)
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error
      draft.value = null
    }
  }
  useEffect(() => {
    void action.run(load)
  }, [id, version])

  const { value } = draft
  if (value === null) return action.error === null ? null : <ErrorNote error={action.error} retry={load} />
  const behind = value.basedOn < version

  const publish = (): Promise<void> =>
    action.run(async () => {
      const hint = behind ? said.behind(version) : said.publishHint
      if (!(await confirm({ title: said.publishTitle, hint, confirm: said.publish }))) return
      await ask(`${path}/publish`, { method: 'POST', body: { edit: value.edit, version } })
      tell(said.published)
      await load()
      await onPublished()
    })
  const discard = (): Promise<void> =>
    action.run(async () => {
      const { discardTitle: title, discardHint: hint } = said
      if (!(await confirm({ title, hint, confirm: said.discard, danger: true }))) return
      await ask(path, { method: 'DELETE' })
      tell(said.discarded)
      await load()
    })
  const close = (): void => {
    shown.value = false
  }
  return (
    <>
      {action.error === null ? null : <ErrorNote error={action.error} />}
      <section class="note warn" aria-label={said.label}>
        <Icon name="edit" />
        <div class="why">
          <p>
            {said.of(value.basedOn)} <Time at={value.updatedAt} />
          </p>
          <p>{behind ? said.behind(version) : said.hint}</p>
          <p class="actions">
            <Button
              onClick={() => {
                shown.value = true
              }}
            >
              {said.show}
            </Button>
            {may('Write') ? (
              <>
                <Button disabled={changed} onClick={() => onEdit(sidesOf(value))}>
                  {said.edit}
                </Button>
                <Button onClick={publish}>{said.publish}</Button>
              </>
            ) : null}
            {may('Full Access') ? <Button onClick={discard}>{said.discard}</Button> : null}
          </p>
        </div>
      </section>
      {shown.value ? (
        <Dialog title={said.label} onClose={close} wide>
          <p>{said.differences(version)}</p>
          <DiffView older={sidesOf(template)} newer={sidesOf(value)} />
          <DialogActions>
            <Button onClick={close}>{texts.actions.done}</Button>
          </DialogActions>
        </Dialog>
      ) : null}
    </>
  )
}
