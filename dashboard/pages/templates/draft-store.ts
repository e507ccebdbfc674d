import { organization } from '../../app/session.ts'
import type { Draft, Template } from './template.ts'

/** Edits that are not saved, and the template that they were made of; null: it is a new one. */
export interface StoredDraft {
  readonly draft: Draft
  readonly base: Template | null
}

const keyOf = (id: string): string => `carillon-template ${organization.peek()} ${id}`

/** Edits outlive a reload and an ended session, in this tab of the browser alone. */
export function keepDraft(id: string, stored: StoredDraft): void {
  try {
    sessionStorage.setItem(keyOf(id), JSON.stringify(stored))
  } catch {
    // Storage is refused or full: the edits hold as long as the page is open.
  }
}

export function keptDraft(id: string): StoredDraft | null {
  try {
    return JSON.parse(sessionStorage.getItem(keyOf(id)) ?? 'null') as StoredDraft | null
  } catch {
    return null
  }
}

export function dropDraft(id: string): void {
  try {
    sessionStorage.removeItem(keyOf(id))
  } catch {
    // Then nothing was kept.
  }
}
