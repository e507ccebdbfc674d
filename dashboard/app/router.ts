import { computed, signal } from '@preact/signals'
import { addressOf, decoded, pathOf } from './base.ts'

/** One address of the dashboard: the path below the mount, and its query. */
export interface Place {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

export type Query = Readonly<Record<string, string | undefined>>

// The server leads from the root to here.
if (pathOf(location) === '/start') {
  history.replaceState(null, '', addressOf('/') + location.search + location.hash)
}

function here(): Place {
  return { path: pathOf(location), query: Object.fromEntries(new URLSearchParams(location.search)) }
}

const current = signal<Place>(here())

/** The address that is shown. */
export const place = computed(() => current.value)

/** The organization that the address names; null: none. */
export const namedOrganization = computed<string | null>(() => {
  const named = /^\/o\/([^/]+)/.exec(current.value.path)?.[1]
  return named === undefined ? null : decoded(named)
})

interface Left {
  scrollY: number
  /** What the page had read, by what was asked. */
  readonly read: Map<string, unknown>
}

/** The entries of the history as they were left. */
const left = new Map<number, Left>()
/** True: the reader has come back to an entry, and has not gone on. */
let back = false
history.scrollRestoration = 'manual'

function entry(): Left {
  const known = left.get(index) ?? { scrollY: 0, read: new Map() }
  left.set(index, known)
  return known
}

/** Keeps what a page has read for a reader who comes back to it. */
export function keep(key: string, value: unknown): void {
  entry().read.set(key, value)
}

/** What a page had read when the reader left it. Undefined: the reader has not come back. */
export function recall<Value>(key: string): Value | undefined {
  return back ? (entry().read.get(key) as Value | undefined) : undefined
}

/** Forgets what pages had read: another person may come. */
export function forgetPages(): void {
  left.clear()
}

/** Where a page that is shown begins: at the top, or where the reader had left it. */
export function startOfPage(): number {
  return back ? entry().scrollY : 0
}

/** Asks whether unsaved edits may be lost; null: there are none. */
let unsaved: (() => Promise<boolean>) | null = null
let index = Number(history.state?.index ?? 0)
let returning = false
history.replaceState({ index }, '')

/**
 * Keeps edits from being lost.
 *
 * @param ask null where nothing is unsaved any more
 */
export function guardUnsaved(ask: (() => Promise<boolean>) | null): void {
  unsaved = ask
}

async function mayLeave(): Promise<boolean> {
  if (unsaved === null) return true
  if (!(await unsaved())) return false
  unsaved = null
  return true
}

/** The address of a place, for links. */
export function hrefOf(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1])
  const search = new URLSearchParams(given).toString()
  return addressOf(path) + (search === '' ? '' : `?${search}`)
}

/** Goes to a place. A `replace` leaves no entry in the history. */
export async function navigate(path: string, query: Query = {}, how: 'push' | 'replace' = 'push') {
  if (pathOf(new URL(addressOf(path))) !== current.value.path && !(await mayLeave())) return
  entry().scrollY = scrollY
  back = false
  if (how === 'push') index += 1
  left.delete(index)
  history[how === 'push' ? 'pushState' : 'replaceState']({ index }, '', hrefOf(path, query))
  current.value = here()
}

/** Changes the query of the page that is shown: filters. */
export function setQuery(query: Query): void {
  back = false
  history.replaceState({ index }, '', hrefOf(current.value.path, { ...current.value.query, ...query }))
  current.value = here()
}

addEventListener('popstate', (event) => {
  if (returning) {
    returning = false
    return
  }
  const target = Number(event.state?.index ?? 0)
  const distance = target - index
  if (unsaved === null || distance === 0) {
    entry().scrollY = scrollY
    index = target
    back = true
    current.value = here()
    return
  }
  returning = true
  history.go(-distance)
  void mayLeave().then((may) => {
    if (may) history.go(distance)
  })
})

addEventListener('beforeunload', (event) => {
  if (unsaved !== null) event.preventDefault()
})

/** Follows a link within the dashboard without loading the page anew. */
export function followLink(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest('a[href]') : null
  if (!(link instanceof HTMLAnchorElement) || event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  if (link.target !== '' || link.hasAttribute('download') || !link.href.startsWith(addressOf('/'))) return
  event.preventDefault()
  void navigateTo(link.href)
}

/** Goes to the address of a place. */
export async function navigateTo(href: string): Promise<void> {
  const url = new URL(href)
  await navigate(pathOf(url), Object.fromEntries(url.searchParams))
}
