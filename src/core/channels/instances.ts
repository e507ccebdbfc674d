import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import { wrong } from '../input/option-checks.ts'
import { within } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { ProxyFor } from '../ports/outgoing.ts'
import type { ChannelKind } from './channel-kind.ts'
import { type OrganizationProviders, resolveProviders } from './channel-option.ts'
import { type OpenPlugins, openAll } from './plugins.ts'
import type { ProviderSet } from './providers.ts'

/** The loading state of an organization's providers. */
export type Known =
  /** `set` null: the organization has none; ask again from `retryAt` (monotonic). */
  | { readonly kind: 'loaded'; readonly set: ProviderSet | null; readonly retryAt: number }
  /** The function threw, timed out or returned an invalid provider; call it again from `retryAt` (monotonic). */
  | { readonly kind: 'failed'; readonly retryAt: number }
  | { readonly kind: 'loading' }

/** The organizations' providers for one channel: made on demand, kept while in use, closed when idle. */
export interface Instances {
  /** Undefined: not loaded. */
  known(organizationId: string): Known | undefined
  /** Loads them, unless they are loaded or loading, or a recent load failed or returned none. */
  load(organizationId: string): void
  /** True: {@link load} would load them. */
  stale(organizationId: string): boolean
  /** True: they are loaded, or there is room to load them. */
  hasRoom(organizationId: string): boolean
  /** Waits for the end of a {@link load}, ten seconds at most. Undefined: nothing is loading. Never rejects. */
  loaded(organizationId: string): Promise<unknown> | undefined
  /** Keeps the providers open until the returned function is called. */
  hold(organizationId: string): () => void
  /** Reloads them on the first use after this time, because their credentials were refused. */
  renew(organizationId: string, inMs: number): void
  /** Closes all, including those that are still loading. */
  close(): Promise<void>
}

export interface InstancesOptions {
  readonly kind: ChannelKind
  readonly make: OrganizationProviders
  readonly plugins: OpenPlugins
  readonly clock: Clock
  readonly leaseMs: number
  readonly proxyFor: ProxyFor
  /** Receives errors of the functions. */
  onError(error: unknown): void
  /** The state of an organization's providers has changed. */
  changed(organizationId: string): void
}

/** Idle time after which providers are closed. */
const IDLE_MS = 10 * 60_000
/**
 * Maximum number of organizations with open providers. The least recently used are closed first, but never one in use.
 */
const MAX_LOADED = 1_000
/** Timeout of the function. A later result is still used. */
const TIMEOUT_MS = 10_000
const FIRST_RETRY_MS = 1_000
/** Time after which to ask again for an organization without providers. */
const NONE_MS = 5_000
const LONGEST_RETRY_MS = 5 * 60_000

interface Entry {
  known: Known
  users: number
  usedAt: number
  failures: number
  /** Reload from this time on (monotonic). */
  renewAt: number
  making: Promise<void> | null
}

export function createInstances(options: InstancesOptions): Instances {
  const { kind, make, plugins, clock, leaseMs, proxyFor, onError, changed } = options
  const { name: channel } = kind
  /** Least recently used first. */
  const entries = new Map<string, Entry>()
  let cancelSweep: (() => void) | null = null
  let closed = false
  /** True: all loaded ones are in use. */
  let crowded = false

  /** Adds the organization to errors of the application's function. */
  async function named<Result>(organizationId: string, run: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await run()
    } catch (cause) {
      const called = `The function channels.${channel}, called with "${organizationId}"`
      if (isNotifierError(cause)) {
        const { code, details, message } = cause
        throw new NotifierError(code, { message: `${called}: ${message}`, details, cause })
      }
      throw new Error(`${called}, returned an invalid provider: see \`cause\`.`, { cause })
    }
  }

  async function madeFor(organizationId: string): Promise<ProviderSet | null> {
    const value = await named(organizationId, () => make(organizationId))
    if (value === null || value === undefined) return null
    const option = `channels.${channel}(${organizationId})`
    const set = resolveProviders(option, kind, value, organizationId)
    const longest = Math.max(...set.providers.map(({ timeoutMs }) => timeoutMs))
    if (leaseMs < 2 * longest)
      throw wrong(`${option}.timeoutMs`, `at most ${leaseMs / 2}, half of "delivery.leaseMs"`)
    await named(organizationId, () => openAll(set, clock, proxyFor))
    plugins.open(set)
    return set
  }

  function loaded(entry: Entry, set: ProviderSet | null): Known {
    entry.failures = 0
    return { kind: 'loaded', set, retryAt: set === null ? clock.monotonic() + NONE_MS : Infinity }
  }

  async function run(organizationId: string, entry: Entry): Promise<void> {
    let known: Known
    try {
      const making = madeFor(organizationId)
      if (!(await within(making, TIMEOUT_MS, clock))) {
        making.then((set) => learn(organizationId, entry, loaded(entry, set)), onError)
        throw tooSlow(channel, organizationId)
      }
      known = loaded(entry, await making)
    } catch (error) {
      const delayMs = Math.min(FIRST_RETRY_MS * 2 ** entry.failures, LONGEST_RETRY_MS)
      entry.failures += 1
      known = { kind: 'failed', retryAt: clock.monotonic() + delayMs }
      onError(error)
    }
    entry.making = null
    crowded = false
    learn(organizationId, entry, known)
  }

  function learn(organizationId: string, entry: Entry, known: Known): void {
    // A late result of an earlier call may already be there.
    const there = entry.known.kind === 'loaded' && entry.known.set !== null
    if (there || entries.get(organizationId) !== entry) {
      drop(known)
      return
    }
    entry.known = known
    trim(MAX_LOADED)
    changed(organizationId)
  }

  function drop(known: Known): void {
    if (known.kind === 'loaded' && known.set !== null) void plugins.close(known.set)
  }

  function touch(organizationId: string, entry: Entry): void {
    entry.usedAt = clock.monotonic()
    entries.delete(organizationId)
    entries.set(organizationId, entry)
  }

  function stale(organizationId: string): boolean {
    const entry = entries.get(organizationId)
    if (closed || entry === undefined) return !closed
    if (entry.making !== null) return false
    return entry.known.kind === 'loading' || clock.monotonic() >= entry.known.retryAt
  }

  function idle({ users, making }: Entry): boolean {
    return users === 0 && making === null
  }

  function remove(organizationId: string, entry: Entry): void {
    entries.delete(organizationId)
    // Otherwise the last release closes them.
    if (entry.users === 0) drop(entry.known)
  }

  /** Undefined: none, or outdated. */
  function current(organizationId: string): Entry | undefined {
    const entry = entries.get(organizationId)
    if (entry === undefined || entry.making !== null || clock.monotonic() < entry.renewAt) return entry
    remove(organizationId, entry)
    return undefined
  }

  /** Closes the least recently used until `most` are left. */
  function trim(most: number): void {
    if (entries.size <= most || crowded) return
    for (const [id, entry] of entries) {
      if (idle(entry)) remove(id, entry)
      if (entries.size <= most) return
    }
    crowded = true
  }

  function sweep(): void {
    cancelSweep = null
    const oldest = clock.monotonic() - IDLE_MS
    for (const [id, entry] of entries) {
      if (entry.usedAt <= oldest && idle(entry)) remove(id, entry)
    }
    arm()
  }

  function arm(): void {
    if (!closed && cancelSweep === null && entries.size > 0) cancelSweep = clock.timer(IDLE_MS, sweep)
  }

  return {
    known: (organizationId) => entries.get(organizationId)?.known,
    load(organizationId) {
      if (closed) return
      let entry = current(organizationId)
      if (entry === undefined) {
        const known = { kind: 'loading' } as const
        entry = { known, users: 0, usedAt: 0, failures: 0, renewAt: Number.POSITIVE_INFINITY, making: null }
        entries.set(organizationId, entry)
        arm()
      }
      touch(organizationId, entry)
      // The old state remains valid meanwhile.
      if (stale(organizationId)) entry.making = run(organizationId, entry)
    },
    stale,
    hasRoom(organizationId) {
      if (entries.has(organizationId)) return true
      trim(MAX_LOADED - 1)
      return entries.size < MAX_LOADED
    },
    loaded(organizationId) {
      const entry = entries.get(organizationId)
      return entry?.making == null || entry.known.kind !== 'loading' ? undefined : entry.making
    },
    hold(organizationId) {
      const entry = entries.get(organizationId)
      if (entry === undefined) return () => {}
      entry.users += 1
      return () => {
        entry.users -= 1
        if (entry.users === 0) crowded = false
        entry.usedAt = clock.monotonic()
        if (entry.users === 0 && entries.get(organizationId) !== entry) drop(entry.known)
      }
    },
    renew(organizationId, inMs) {
      const entry = entries.get(organizationId)
      if (entry !== undefined) entry.renewAt = Math.min(entry.renewAt, clock.monotonic() + inMs)
    },
    async close() {
      closed = true
      cancelSweep?.()
      const sets = [...entries.values()].flatMap(({ known }) =>
        known.kind === 'loaded' && known.set !== null ? [known.set] : [],
      )
      // Attempts that still hold one have been aborted, and must not close it again.
      for (const entry of entries.values()) entry.known = { kind: 'loading' }
      entries.clear()
      await Promise.all(sets.map(plugins.close))
    },
  }
}

function tooSlow(channel: string, organizationId: string): NotifierError {
  const message = `channels.${channel}(${organizationId}) has not answered within ${TIMEOUT_MS / 1_000} seconds.`
  return new NotifierError('provider_unavailable', { message })
}
