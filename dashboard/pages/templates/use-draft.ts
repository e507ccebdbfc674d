import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { state } from '../../app/session.ts'
import { useUnsaved } from '../../ui/form.tsx'
import { dropDraft, keepDraft, keptDraft } from './draft-store.ts'
import {
  broughtOnto,
  type Draft,
  differing,
  draftOf,
  emptyDraft,
  revisionOf,
  type Template,
} from './template.ts'

export interface DraftState {
  readonly draft: Draft
  /** The template that the edits were made of; null: it is a new one. */
  readonly base: Template | null
  readonly before: Draft
  readonly changed: boolean
  /** True: edits of an earlier visit were brought back. */
  readonly restored: boolean
  /** A version that was saved elsewhere since the edits began. */
  readonly newer: Template | null
  edit(change: Partial<Draft>): void
  /** Takes a template as it is stored, and drops the edits. */
  adopt(template: Template): void
  /** Goes on with the edits on the basis of another version. */
  rebase(template: Template): Draft
  discard(): void
}

/** What is edited, kept from being lost. */
export function useDraft(stored: Template | null, channel: string): DraftState {
  const id = idOf(stored)
  const kept = useRef(keptDraft(id)).current
  const base = useSignal(kept === null ? stored : kept.base)
  const before = base.value === null ? emptyDraft(channel) : draftOf(base.value)
  const draft = useSignal(kept?.draft ?? before)
  const restored = useSignal(kept !== null)
  const changed = differing(draft.value, before).length > 0
  useUnsaved(changed)

  function adopt(template: Template): void {
    base.value = template
    draft.value = draftOf(template)
    restored.value = false
  }

  useEffect(() => {
    // What was read before the last save is old.
    if (stored !== null && !changed && revisionOf(stored) >= revision(base.peek())) adopt(stored)
  }, [stored])
  useEffect(() => {
    if (changed) keepDraft(id, { draft: draft.value, base: base.value })
    else dropDraft(id)
  }, [draft.value, base.value])
  useEffect(
    () => () => {
      // The reader has left the page and its edits. After the end of a session they are brought back.
      if (state.peek().kind === 'open') dropDraft(id)
    },
    [],
  )

  return {
    draft: draft.value,
    base: base.value,
    before,
    changed,
    restored: restored.value && changed,
    newer: stored !== null && changed && revisionOf(stored) > revision(base.value) ? stored : null,
    edit(change) {
      draft.value = { ...draft.peek(), ...change }
    },
    adopt,
    rebase(template) {
      const mine = broughtOnto(draftOf(template), draft.peek(), before)
      base.value = template
      draft.value = mine
      return mine
    },
    discard() {
      if (stored !== null) adopt(stored)
      else draft.value = emptyDraft(channel)
      restored.value = false
    },
  }
}

/** Under which the edits are kept. */
export function idOf(stored: Template | null): string {
  if (stored === null) return 'new'
  return stored.draft === undefined ? stored.id : `${stored.id} draft`
}

const revision = (of: Template | null): number => (of === null ? 0 : revisionOf(of))
