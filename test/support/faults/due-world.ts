import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { RecordInsert } from '../../../src/core/ports/storage/records.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../../src/core/tenancy/organization.ts'
import { unique } from '../../../src/testing/storage/fixtures.ts'
import {
  CONTRACT_START,
  type Item,
  itemKind,
  type Reminder,
  reminderKind,
} from '../../../src/testing/storage/record-fixtures.ts'
import type { DueProgram } from '../../integration/programs/due.ts'
import { eventually } from '../eventually.ts'
import { WAIT_MS } from '../patience.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../postgres.ts'
import { type Program, runProgram } from '../program.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { openStorage, type StorageLocation } from './store.ts'

/** What a process has left of a reminder that it handled. */
export interface Trace {
  readonly note: string
  readonly claims: number
  readonly process: number
}

/** One database, on which processes handle reminders. */
export interface DueWorld {
  readonly storage: Storage
  /** The storage with a clock that is off. */
  at(clockMs: number): Promise<Storage>
  /** Starts a process. */
  run(options?: Partial<DueProgram>): Program
  /** Ends processes in order. */
  stop(...programs: readonly Program[]): Promise<void>
  /** The time until the next reminder is due by a clock that is off; none is due now. */
  nextDueInMs(clockMs: number): Promise<number | null>
  /** Runs a process until it has died where it was to; returns what it said. */
  die(options: Partial<DueProgram>): Promise<readonly string[]>
  /** Resolves when none is left. */
  allHandled(reminders: readonly { readonly id: string }[]): Promise<unknown>
  /** By reminder. */
  traces(): Promise<ReadonlyMap<string, readonly Trace[]>>
}

/** No lease of a process that lives ends by itself, however slow the machine is. */
export const LEASE_MS = 60_000

export const DUE_STORAGES: readonly (readonly [name: string])[] = [['SQLite'], ['PostgreSQL']]
export const missingFor = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)

const directory = temporaryDirectory()

/** Must be called within a test, which ends it. */
export async function dueWorld(name: string): Promise<DueWorld> {
  const location: StorageLocation =
    name === 'SQLite'
      ? { sqlite: join(directory, `${unique()}.db`) }
      : { postgres: { url: await sharedPostgres(), schema: uniqueSchema() } }

  async function at(clockMs?: number): Promise<Storage> {
    const storage = openStorage(location, clockMs)
    onTestFinished(() => storage.stop())
    await storage.start(CONTRACT_START)
    return storage
  }

  const storage = await at()
  const run = (options: Partial<DueProgram> = {}): Program =>
    runProgram('due', { location, leaseMs: LEASE_MS, ...options } satisfies DueProgram)
  return {
    storage,
    at,
    run,
    async die(options) {
      const program = run(options)
      expect(await program.ended, program.errors.join('\n')).toBe('SIGKILL')
      return program.lines
    },
    async stop(...programs) {
      for (const program of programs) program.kill('SIGTERM')
      for (const program of programs) expect(await program.ended, program.errors.join('\n')).toBe(0)
    },
    async nextDueInMs(clockMs) {
      const { records } = await at(clockMs)
      const { due, nextDueInMs } = await records.claimDue({ kinds: [reminderKind], most: 1, leaseMs: 1 })
      expect(due).toEqual([])
      return nextDueInMs
    },
    allHandled: (reminders) =>
      eventually(
        async () => {
          const found = await storage.records.get(
            reminderKind,
            reminders.map(({ id }) => ({ id })),
          )
          return found.every((record) => record === null)
        },
        { withinMs: 3 * WAIT_MS },
      ),
    async traces() {
      const of = { organizationId: DEFAULT_ORGANIZATION, list: 'traces' }
      const { items } = await storage.records.list(itemKind, of, { limit: 1_000, offset: 0 })
      const traces = new Map<string, Trace[]>()
      for (const { value } of items) {
        const { reminder, ...trace } = value as Item & Trace & { readonly reminder: string }
        traces.set(reminder, [...(traces.get(reminder) ?? []), trace])
      }
      return traces
    },
  }
}

/** @param at epoch milliseconds */
export function reminder(
  at: number,
  organizationId: string | null = DEFAULT_ORGANIZATION,
): RecordInsert<Reminder> {
  const value = { at, note: 'first' }
  return { kind: reminderKind, do: 'insert', id: `reminder_${unique()}`, organizationId, value }
}
