import { AsyncLocalStorage } from 'node:async_hooks'
import type { SendInput } from '../accept/input.ts'
import type { SendsWithRecords } from '../accept/with-records.ts'
import type { Deadline } from '../loop/deadline.ts'
import { within } from '../loop/within.ts'
import type { Clock } from '../ports/clock.ts'
import type { DueRecord, RecordWrite, RefusedWrite } from '../ports/storage/records.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { RecordKind } from '../records/record-kind.ts'
import { dueTimesOf } from '../records/record-stores.ts'

/** What is done with the records of a kind when they fall due. */
export interface DueHandler<Value extends object = object> {
  readonly kind: RecordKind<Value>
  /**
   * Handles one record. Called again after the end of its lease if it throws, or if the process ends before its result is
   * stored: what it does besides that must bear repetition.
   *
   * @param signal aborted when the lease ends, and when the notifier stops
   * @returns what is stored in one commit
   */
  handle(due: DueRecord<Value>, signal: AbortSignal): Promise<DueResult>
}

/** What becomes of a record that fell due. */
export interface DueResult {
  /** One replaces or removes the record under its token. None: the record stays leased, or is gone. */
  readonly writes: readonly RecordWrite[]
  /**
   * Messages of the record's organization, accepted with the writes or not at all. Each is checked as `send` checks it. If
   * one is refused, because its recipient is suppressed or a limit is reached, nothing of the result is stored: the fault
   * is reported, and the record comes again after its lease. Files are given by the id of an upload, or as bytes.
   * Default: none.
   */
  readonly sends?: readonly SendInput[] | undefined
}

/** Hands records that have fallen due to their handlers while the notifier delivers. */
export interface DueRecords {
  /** @param accept stores what handlers send */
  start(handlers: readonly DueHandler[], accept: SendsWithRecords): void
  /** A record was written that falls due at this time, in epoch milliseconds. */
  wake(at: number): void
  /** Claims nothing more, aborts the handlers, and waits for them until the deadline. */
  stop(deadline: Deadline): Promise<void>
}

export interface DueRecordsOptions {
  readonly storage: Pick<Storage, 'records'>
  readonly clock: Clock
  /** Longest interval between two looks: other processes write records, too. */
  readonly pollMs: number
  /** From 0 to 1. */
  random(): number
  /** Receives failed claims and handlers. */
  onError(error: unknown): void
}

const LEASE_MS = 60_000

/** Records that are handled at once, and one more of each kind at most. */
const AT_ONCE = 20

/** How long a record whose earlier claims brought no result has the process to itself, among those of its claim. */
const ALONE_MS = 1_000

/** Shortest interval between two looks at records that others hold. */
const SHORTEST_MS = 50

/** Longest delay after failed claims. */
const LONGEST_BACKOFF_MS = 30_000

export function createDueRecords(options: DueRecordsOptions): DueRecords {
  const { storage, clock, pollMs, random, onError } = options
  const byKind = new Map<string, DueHandler>()
  const running = new Set<Promise<void>>()
  const stopping = new AbortController()
  /** Handlers must not run in the async context of the caller that wakes them. */
  const outside = AsyncLocalStorage.snapshot()
  let accept: SendsWithRecords
  let active = false
  let isWoken = false
  /** Failed claims in a row. */
  let failures = 0
  let round: Promise<void> | null = null
  let cancelTimer = (): void => {}

  function look(): void {
    cancelTimer()
    isWoken = true
    if (!active || round !== null) return
    round = outside(claimAll).finally(() => {
      round = null
      if (isWoken) look()
    })
  }

  async function claimAll(): Promise<void> {
    let nextMs = pollMs
    while (active && isWoken) {
      isWoken = false
      try {
        nextMs = await claim()
        failures = 0
      } catch (error) {
        onError(error)
        failures += 1
        nextMs = Math.max(pollMs, Math.min(SHORTEST_MS * 2 ** failures, LONGEST_BACKOFF_MS))
      }
    }
    if (active) cancelTimer = clock.timer(nextMs, look)
  }

  /** Returns the time until the next look. */
  async function claim(): Promise<number> {
    if (running.size >= AT_ONCE) await Promise.race(running)
    if (!active) return pollMs
    const kinds = [...byKind.values()].map(({ kind }) => kind)
    const most = Math.ceil((AT_ONCE - running.size) / kinds.length)
    const { due, nextDueInMs } = await storage.records.claimDue({ kinds, most, leaseMs: LEASE_MS })
    for (const each of due) if (each.claims === 1) track(run(each))
    runApart(due.filter(({ claims }) => claims > 1))
    if (due.length > 0 && nextDueInMs === 0) isWoken = true
    return Math.max(SHORTEST_MS, Math.min(nextDueInMs ?? pollMs, pollMs))
  }

  function wake(at: number): void {
    // The next poll sees what falls due later.
    if (at < clock.now() + pollMs) look()
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => running.delete(tracked))
    running.add(tracked)
  }

  /**
   * One of these may have ended its process, and the claims of its neighbours with it. One after another, in another order each
   * time, the neighbours come to their end before it.
   */
  function runApart(due: readonly DueRecord[]): void {
    let turn: Promise<unknown> = Promise.resolve()
    for (const each of shuffled(due, random)) {
      const before = turn
      const work = before.then(() => (stopping.signal.aborted ? undefined : run(each)))
      turn = before.then(() => within(work, ALONE_MS, clock))
      track(work)
    }
  }

  async function run(due: DueRecord): Promise<void> {
    const lease = new AbortController()
    const signal = AbortSignal.any([stopping.signal, lease.signal])
    const work = handle(due, signal)
    if (await within(work, due.leaseMs, clock)) return
    lease.abort()
    onError(failed(due, new Error('Its lease has ended, and the handler has not.')))
  }

  /** Null: all is stored. */
  async function store(due: DueRecord, { writes, sends = [] }: DueResult): Promise<RefusedWrite | null> {
    if (sends.length > 0) return storeWithSends(due, writes, sends)
    const [answer] = writes.length === 0 ? [] : await storage.records.write([writes])
    if (answer?.kind === 'failed') throw answer.error
    return answer === undefined || answer.kind === 'written' ? null : answer
  }

  async function storeWithSends(
    due: DueRecord,
    writes: readonly RecordWrite[],
    sends: readonly SendInput[],
  ): Promise<RefusedWrite | null> {
    const { organizationId } = due.record
    if (organizationId === null) throw new Error('It sends, and belongs to no organization.')
    // They would be sent again after each lease.
    if (!writes.some((write) => isUnder(due, write)))
      throw new Error('It sends, and does not write the record.')
    const answer = await accept.withRecords(organizationId, sends, writes)
    return 'kind' in answer ? answer : null
  }

  /** Never rejects. */
  async function handle(due: DueRecord, signal: AbortSignal): Promise<void> {
    try {
      const result = (await byKind.get(due.kind.name)?.handle(due, signal)) ?? { writes: [] }
      const refused = await store(due, result)
      if (refused === null) for (const at of dueTimesOf(result.writes)) wake(at)
      else if (!isOvertaken(due, result.writes, refused))
        throw new Error(`A write was refused as "${refused.kind}".`)
    } catch (error) {
      if (!stopping.signal.aborted) onError(failed(due, error))
    }
  }

  return {
    start(handlers, given) {
      accept = given
      for (const handler of handlers) byKind.set(handler.kind.name, handler)
      active = handlers.length > 0
      look()
    },
    wake,
    async stop(deadline) {
      active = false
      cancelTimer()
      stopping.abort()
      await deadline.within(Promise.all([round, ...running]))
      cancelTimer()
    },
  }
}

function shuffled<Item>(items: readonly Item[], random: () => number): readonly Item[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item)
}

/** Another write of the record came before the result of its claim. It decides. */
function isOvertaken(due: DueRecord, set: readonly RecordWrite[], { kind, at }: RefusedWrite): boolean {
  const write = set[at]
  return (kind === 'stale' || kind === 'unknown') && write !== undefined && isUnder(due, write)
}

/** Whether a write is of the claimed record, under its token. */
function isUnder({ kind, record, token }: DueRecord, write: RecordWrite): boolean {
  if (write.do === 'insert') return false
  return write.kind.name === kind.name && write.id === record.id && write.token === token
}

function failed({ kind, record, claims, leaseMs }: DueRecord, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  // Ids may begin with that of the organization, on a line of its own.
  const shownId = record.id.slice(record.id.lastIndexOf('\n') + 1)
  return new Error(
    `The record "${shownId}" of "${kind.name}" fell due, and its handler stored nothing (attempt ${claims}): ${sentence(reason)} It ` +
      `is handed out again in ${Math.round(leaseMs / 1_000)} seconds.`,
    { cause },
  )
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
