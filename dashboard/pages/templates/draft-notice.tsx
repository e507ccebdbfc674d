import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { setQuery } from '../../app/router.ts'
import { may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { confirm, Dialog } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import { ErrorNote } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { DiffView } from './diff-view.tsx'
import { fieldsOf, type Template, type TemplateDraft } from './template.ts'

const said = texts.templates.draft

/** Tells of a draft, which no message uses before it is published. */
export function DraftNotice({
  template,
  draft,
  editing,
  changed,
  onDone,
}: {
  /** Its newest version. */
  readonly template: Template
  readonly draft: TemplateDraft
  /** True: the editor shows the draft. */
  readonly editing: boolean
  /** True: there are edits that are not saved. */
  readonly changed: boolean
  /** It was published or discarded. */
  readonly onDone: () => Promise<void>
}) {
  const { id, version } = template
  const { basedOn, edit, updatedAt } = draft
  const path = `/v1/templates/${id}/draft`
  const shown = useSignal(false)
  const action = useAction()
  const behind = basedOn < version

  const publish = (): Promise<void> =>
    action.run(async () => {
      const hint = behind ? said.behind(version) : said.publishHint
      if (!(await confirm({ title: said.publishTitle, hint, confirm: said.publish }))) return
      await ask(`${path}/publish`, { method: 'POST', body: { edit, version } })
      tell(said.published)
      await onDone()
    })
  const discard = (): Promise<void> =>
    action.run(async () => {
      const { discardTitle: title, discardHint: hint } = said
      if (!(await confirm({ title, hint, confirm: said.discard, danger: true }))) return
      await ask(path, { method: 'DELETE' })
      tell(said.discarded)
      await onDone()
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
            <strong>{editing ? said.editing(basedOn) : said.of(basedOn)}</strong> {said.changed}{' '}
            <Time at={updatedAt} />.
          </p>
          <p>{behind ? said.behind(version) : said.hint(version)}</p>
          <p class="actions">
            {may('Write') ? (
              <Button kind="primary" disabled={changed} onClick={publish}>
                {said.publish}
              </Button>
            ) : null}
            <Button
              onClick={() => {
                shown.value = true
              }}
            >
              {said.show}
            </Button>
            <Button disabled={changed} onClick={() => setQuery({ draft: editing ? undefined : 'true' })}>
              {editing ? said.back(version) : said.edit}
            </Button>
            {may('Full Access') ? <Button onClick={discard}>{said.discard}</Button> : null}
          </p>
          {changed ? <p class="hint">{said.saveFirst}</p> : null}
        </div>
      </section>
      {shown.value ? (
        <Dialog title={said.compareTitle} onClose={close} wide>
          <p>{said.differences(version)}</p>
          <DiffView older={fieldsOf(template)} newer={fieldsOf(draft)} />
        </Dialog>
      ) : null}
    </>
  )
}
