import { signal } from '@preact/signals'
import { ask } from './api.ts'
import { ALL_ORGANIZATIONS, isOperator, session } from './session.ts'

/** Most that one request names. */
const MOST = 100
const read = signal<Readonly<Record<string, string>>>({})
const wanted = new Set<string>()

/** What people call an organization: its name, and its id until that is known. */
export function nameOf(id: string): string {
  const known = session.value.names[id] ?? read.value[id]
  if (known === undefined && isOperator.value && id !== ALL_ORGANIZATIONS) want(id)
  return known ?? id
}

/** Reads the names again: one may have changed. */
export function forgetNames(): void {
  read.value = {}
}

/** The ids that a page shows are asked about together. */
function want(id: string): void {
  if (wanted.size === 0) setTimeout(look)
  wanted.add(id)
}

async function look(): Promise<void> {
  const ids = [...wanted]
  wanted.clear()
  // A deleted one has no name, and is not asked about again.
  const found = Object.fromEntries(ids.map((id) => [id, id]))
  for (let from = 0; from < ids.length; from += MOST) {
    const query = { ids: ids.slice(from, from + MOST).join(','), limit: String(MOST) }
    const page = await ask<Named>('/v1/organizations', { query }).catch(() => null)
    for (const { id, name } of page?.items ?? []) found[id] = name
  }
  read.value = { ...read.peek(), ...found }
}

interface Named {
  readonly items: readonly { readonly id: string; readonly name: string }[]
}
