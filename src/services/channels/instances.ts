import type { ChannelKind } from '../../domain/channel-kind.ts'
import { isNotifierError, NotifierError } from '../../domain/errors/notifier-error.ts'
import type { Clock } from '../../ports/clock.ts'
import { wrong } from '../option-checks.ts'
import type { ProviderSet } from '../providers.ts'
import { within } from '../within.ts'
import { type OrganizationProviders, resolveProviders } from './channel-option.ts'
import { type OpenPlugins, openAll } from './plugins.ts'

/** What is known of one organization's providers. */
export type Known =
  /** `set` is null when the organization has none; then it is asked again from `retryAt` (monotonic). */
  | { readonly kind: 'loaded'; readonly set: ProviderSet | null; readonly retryAt: number }
  /** The function that makes them threw, hangs, or made no provider; asked again from `retryAt` (monotonic). */
  | { readonly kind: 'failed'; readonly retryAt: number }
  | { readonly kind: 'loading' }

/** The providers of organizations for one channel: made when needed, kept while used, closed when idle. */
export interface Instances {
  /** Undefined: never asked for, or closed since. */
  known(organizationId: string): Known | undefined
  /** Makes them unless they are there, are being made, or there were none, or a failure, a moment ago. */
  load(organizationId: string): void
  /** {@link load} would make them. */
  stale(organizationId: string): boolean
  /** They are there, or can be beside those that are in use. */
  hasRoom(organizationId: string): boolean
  /** Waits until {@link known} says how a {@link load} ended, ten seconds at most; undefined: it says so. Never rejects. */
  loaded(organizationId: string): Promise<unknown> | undefined
  /** Keeps what is loaded from being closed until the returned function is called. */
  hold(organizationId: string): () => void
  /** Makes them anew when they are next needed after this time: their credentials were refused. */
  renew(organizationId: string, inMs: number): void
  /** Closes all; what is still being made is closed when it arrives. */
  close(): Promise<void>
}

export interface InstancesOptions {
  readonly kind: ChannelKind
  readonly make: OrganizationProviders
  readonly plugins: OpenPlugins
  readonly clock: Clock
  readonly leaseMs: number
  /** Is told what a function threw. */
  onError(error: unknown): void
  /** What is known of an organization has changed. */
  changed(organizationId: string): void
}

/** Providers that nothing has used for so long are closed. */
const IDLE_MS = 10 * 60_000
/** Organizations whose providers are open at one time; those used longest ago go first. One in use always stays. */
const MAX_LOADED = 1_000
/** A function that takes longer has failed, as far as anybody waits for it; what it answers later is taken. */
const PATIENCE_MS = 10_000
const FIRST_RETRY_MS = 1_000
/** An organization without providers of its own may have got some by then. */
const NONE_MS = 5_000
const LONGEST_RETRY_MS = 5 * 60_000

interface Entry {
  known: Known
  users: number
  usedAt: number
  failures: number
  /** From then on they are made anew (monotonic). */
  renewAt: number
  making: Promise<void> | null
}

export function createInstances(options: InstancesOptions): Instances {
  const { kind, make, plugins, clock, leaseMs, onError, changed } = options
  const { name: channel } = kind
  /** In the order of their last use. */
  const entries = new Map<string, Entry>()
  let cancelSweep: (() => void) | null = null
  let closed = false
  /** None of those that are there can be closed, until one is let go. */
  let crowded = false

  /** Names whose providers they are, which what an application throws does not. */
  async function named<Result>(organizationId: string, run: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await run()
    } catch (cause) {
      const called = `The function channels.${channel}, called with "${organizationId}"`
      if (isNotifierError(cause)) {
        const { code, details, message } = cause
        throw new NotifierError(code, { message: `${called}: ${message}`, details, cause })
      }
      throw new Error(`${called}, made no provider that can be used: see \`cause\`.`, { cause })
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
    await named(organizationId, () => openAll(set, clock))
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
      if (!(await within(making, PATIENCE_MS, clock))) {
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
    // What came too late for one may be there before the next has come.
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
    // A hold that is left closes them.
    if (entry.users === 0) drop(entry.known)
  }

  /** Undefined: there is none, or one that has had its time. */
  function current(organizationId: string): Entry | undefined {
    const entry = entries.get(organizationId)
    if (entry === undefined || entry.making !== null || clock.monotonic() < entry.renewAt) return entry
    remove(organizationId, entry)
    return undefined
  }

  /** Closes those that were used longest ago, until there are `most`. */
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
      // What is known is known while it is asked for again.
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
      // What still holds one has been aborted by now, and must not close it again.
      for (const entry of entries.values()) entry.known = { kind: 'loading' }
      entries.clear()
      await Promise.all(sets.map(plugins.close))
    },
  }
}

function tooSlow(channel: string, organizationId: string): NotifierError {
  const message = `channels.${channel}(${organizationId}) has not answered within ${PATIENCE_MS / 1_000} seconds.`
  return new NotifierError('provider_unavailable', { message })
}
