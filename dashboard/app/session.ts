import { computed, signal } from '@preact/signals'
import { ApiError, ask, onSessionEnd } from './api.ts'
import { forgetPages, namedOrganization } from './router.ts'

/** The person who is signed in. */
export interface Session {
  /** Id of the key, or the name that the application gave. */
  readonly actor: string
  readonly name: string
  readonly permission: 'Read Only' | 'Write' | 'Full Access'
  readonly grants: readonly string[]
  readonly organizations: 'all' | readonly string[]
  /** Of the organizations, by id. Empty for operators. */
  readonly names: Readonly<Record<string, string>>
  /** Names of the channels that the service knows. */
  readonly channels: readonly string[]
  readonly kinds: readonly ChannelKind[]
}

/** A channel, and what its texts may have. */
export interface ChannelKind {
  readonly name: string
  readonly subject: boolean
  readonly html: boolean
  /** False: it is built in, and no provider sends on it. */
  readonly configured: boolean
}

type State =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none'; readonly error: ApiError | null }
  | { readonly kind: 'open'; readonly session: Session }
  /** It ended while a page was open: the page stays, so that its edits are not lost. */
  | { readonly kind: 'ended'; readonly session: Session }

export const state = signal<State>({ kind: 'unknown' })

onSessionEnd(() => {
  const now = state.peek()
  if (now.kind === 'open') state.value = { kind: 'ended', session: now.session }
})

/** Finds out who is signed in. The fragment of a sign-in link is used up and removed first. */
export async function openSession(): Promise<void> {
  const [, invitation] = /^#sign-in=([\w.-]+)$/.exec(location.hash) ?? []
  if (invitation !== undefined) {
    history.replaceState(history.state, '', location.pathname + location.search)
    try {
      await signIn({ invitation })
      return
    } catch (error) {
      state.value = { kind: 'none', error: error instanceof ApiError ? error : null }
      return
    }
  }
  await loadSession()
}

async function loadSession(): Promise<void> {
  try {
    state.value = { kind: 'open', session: await ask<Session>('/session') }
  } catch (error) {
    const known = error instanceof ApiError && error.code === 'session_required'
    state.value = { kind: 'none', error: known ? null : (error as ApiError) }
  }
}

/** @throws ApiError */
export async function signIn(credentials: { apiKey: string } | { invitation: string }): Promise<void> {
  await ask('/session', { method: 'POST', body: credentials })
  forgetPages()
  await loadSession()
}

export async function signOut(): Promise<void> {
  await ask('/session', { method: 'DELETE' })
  forgetPages()
  state.value = { kind: 'none', error: null }
}

/** The session of the reader. Pages are shown only with one. */
export const session = computed<Session>(() => {
  const now = state.value
  if (now.kind === 'open' || now.kind === 'ended') return now.session
  return {
    actor: '',
    name: '',
    permission: 'Read Only',
    grants: [],
    organizations: [],
    names: {},
    channels: [],
    kinds: [],
  }
})

export const isOperator = computed(() => session.value.organizations === 'all')

/** The organization that the address names; else the only one there is. Null: an operator has named none. */
export const organization = computed<string | null>(() => {
  if (namedOrganization.value !== null) return namedOrganization.value
  const { organizations } = session.value
  return organizations === 'all' ? null : (organizations[0] ?? null)
})

/** What stands for all organizations together, in addresses of pages and in requests. */
export const ALL_ORGANIZATIONS = '*'

/** Whether the pages are about all organizations together. */
export const overAll = computed(() => organization.value === ALL_ORGANIZATIONS)

/** The path of a page of an organization. */
export function inOrganization(path: string, id: string | null = organization.value): string {
  return `/o/${encodeURIComponent(id ?? '')}${path}`
}

const LEVELS = { 'Read Only': 0, Write: 1, 'Full Access': 2 }

/** Whether the server would permit it: pages hide what it would refuse. */
export function may(needed: Session['permission']): boolean {
  return LEVELS[session.value.permission] >= LEVELS[needed]
}

export function mayReadContent(): boolean {
  return session.value.grants.includes('content')
}
