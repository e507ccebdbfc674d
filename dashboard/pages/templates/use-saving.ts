import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ApiError, ask } from '../../app/api.ts'
import { guardUnsaved, navigate } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { type FormState, useForm } from '../../ui/form.tsx'
import { tell } from '../../ui/toast.tsx'
import { dropDraft } from './draft-store.ts'
import {
  changesOf,
  type Draft,
  draftOf,
  type Template,
  type TemplateDraft,
  textFields,
  withDraft,
} from './template.ts'
import { type DraftState, idOf } from './use-draft.ts'

const said = texts.templates

export interface Saving {
  readonly form: FormState
  /** Saves the edits as the first draft. */
  saveAsDraft(): Promise<void>
  /** A version that was saved elsewhere, about which the author has to decide; null: none. */
  readonly conflict: Template | null
  compare(theirs: Template | null): void
  /** Saves the edits on the basis of another version than the one that they were made of. */
  saveOnto(theirs: Template): Promise<void>
}

/**
 * Creates a template, or changes it or its draft unless that has changed elsewhere.
 *
 * @param onDrafted the edits were saved as a draft
 */
export function useSaving(
  state: DraftState,
  reload: () => Promise<void>,
  onDrafted: () => Promise<void>,
): Saving {
  const { draft, before, base } = state
  const conflict = useSignal<Template | null>(null)
  const onto = useRef<Template | null>(null)
  const asDraft = useRef(false)

  async function create(): Promise<void> {
    const { name, channel, description, category } = draft
    const settings = Object.entries({ description, category }).filter(([, value]) => value !== '')
    const body = { name, channel, ...Object.fromEntries(settings), ...textFields(draft) }
    const created = await ask<Template>('/v1/templates', { method: 'POST', body })
    tell(said.createdNote)
    guardUnsaved(null)
    dropDraft('new')
    await navigate(inOrganization(`/templates/${created.id}`), {}, 'replace')
  }

  async function save(basis: Template, mine: Draft, from: Draft): Promise<void> {
    const { draft: drafted } = basis
    const path = `/v1/templates/${basis.id}${drafted === undefined ? '' : '/draft'}`
    const known = drafted === undefined ? { version: basis.version } : { edit: drafted.edit }
    const whole = (answer: Template & TemplateDraft): Template =>
      drafted === undefined ? answer : withDraft(basis, answer)
    try {
      const body = { ...changesOf(mine, from), ...known }
      state.adopt(whole(await ask(path, { method: 'PATCH', body })))
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'version_conflict')) throw error
      conflict.value = whole(await ask(path))
      return
    }
    tell(drafted === undefined ? said.saved : said.draft.saved)
    await reload()
  }

  async function saveAsDraft(basis: Template): Promise<void> {
    const body = { ...changesOf(draft, before), edit: 0 }
    await ask(`/v1/templates/${basis.id}/draft`, { method: 'PATCH', body })
    tell(said.draft.saved)
    guardUnsaved(null)
    state.adopt(basis)
    dropDraft(idOf(basis))
    await onDrafted()
  }

  const form = useForm(async () => {
    const theirs = onto.current
    const toDraft = asDraft.current
    onto.current = null
    asDraft.current = false
    if (toDraft && base !== null) await saveAsDraft(base)
    else if (theirs !== null) await save(theirs, state.rebase(theirs), draftOf(theirs))
    else if (base === null) await create()
    else await save(base, draft, before)
  })

  return {
    form,
    conflict: conflict.value,
    compare(theirs) {
      conflict.value = theirs
    },
    saveAsDraft() {
      asDraft.current = true
      return form.submit()
    },
    saveOnto(theirs) {
      conflict.value = null
      onto.current = theirs
      return form.submit()
    },
  }
}
