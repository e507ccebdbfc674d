import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ApiError, ask } from '../../app/api.ts'
import { guardUnsaved, navigate } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { type FormState, useForm } from '../../ui/form.tsx'
import { tell } from '../../ui/toast.tsx'
import { dropDraft } from './draft-store.ts'
import { changesOf, type Draft, draftOf, type Template, textFields } from './template.ts'
import type { DraftState } from './use-draft.ts'

const said = texts.templates

export interface Saving {
  readonly form: FormState
  /** A version that was saved elsewhere, about which the author has to decide; null: none. */
  readonly conflict: Template | null
  compare(theirs: Template | null): void
  /** Saves the edits on the basis of another version than the one that they were made of. */
  saveOnto(theirs: Template): Promise<void>
}

/** Creates a template, or changes it unless it has changed elsewhere. */
export function useSaving(state: DraftState, reload: () => Promise<void>): Saving {
  const { draft, before, base } = state
  const conflict = useSignal<Template | null>(null)
  const onto = useRef<Template | null>(null)

  async function create(): Promise<void> {
    const { name, channel, description } = draft
    const body = { name, channel, ...(description === '' ? {} : { description }), ...textFields(draft) }
    const created = await ask<Template>('/v1/templates', { method: 'POST', body })
    tell(said.createdNote)
    guardUnsaved(null)
    dropDraft('new')
    await navigate(inOrganization(`/templates/${created.id}`), {}, 'replace')
  }

  async function save(basis: Template, mine: Draft, from: Draft): Promise<void> {
    const path = `/v1/templates/${basis.id}`
    const body = { ...changesOf(mine, from), version: basis.version }
    try {
      state.adopt(await ask<Template>(path, { method: 'PATCH', body }))
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'version_conflict')) throw error
      conflict.value = await ask<Template>(path)
      return
    }
    tell(said.saved)
    await reload()
  }

  const form = useForm(async () => {
    const theirs = onto.current
    onto.current = null
    if (theirs !== null) await save(theirs, state.rebase(theirs), draftOf(theirs))
    else if (base === null) await create()
    else await save(base, draft, before)
  })

  return {
    form,
    conflict: conflict.value,
    compare(theirs) {
      conflict.value = theirs
    },
    saveOnto(theirs) {
      conflict.value = null
      onto.current = theirs
      return form.submit()
    },
  }
}
