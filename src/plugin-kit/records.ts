import type { SendInput } from '../core/accept/input.ts'
import type { SendsWithRecords } from '../core/accept/with-records.ts'
import type { DueHandler, DueResult } from '../core/due/due-records.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import { bytesOf } from '../core/input/bounds.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { DueRecord, RecordInsert, RecordWrite, StoredRecord } from '../core/ports/storage/records.ts'
import { type List, type ListQuery, listOf, listReader } from '../core/records/list.ts'
import type { RecordKind } from '../core/records/record-kind.ts'
import type { RecordReads, RecordStore } from '../core/records/record-stores.ts'

/** The people that a record is about: by the application's id, and by addresses on channels. */
export interface Concerned {
  readonly recipients?: readonly string[] | undefined
  readonly addresses?: readonly { readonly channel: string; readonly to: string }[] | undefined
}

/**
 * A kind of records of a plug-in, each of one organization. Its name is that of the plug-in, or begins with it and `_`. A
 * value is a JSON object of at most 64 KiB.
 */
export interface PluginRecords<Value extends object = object>
  extends Pick<RecordKind<Value>, 'name' | 'version' | 'upgrade' | 'due'> {
  /**
   * The people that a record is about, so that it can be erased and exported with them. Null: none. Must not throw for any
   * stored value.
   */
  concerns(value: Value): Concerned | null
}

/** A record of an organization. */
export interface PluginRecord<Value extends object = object> {
  /** Unique in the organization. */
  readonly id: string
  readonly organizationId: string
  readonly value: Value
  /** Epoch milliseconds. */
  readonly createdAt: number
}

/** The records of one kind. No method finds or changes a record of another organization. */
export interface PluginStore<Value extends object> {
  /** Null: none. */
  find(organizationId: string, id: string): Promise<PluginRecord<Value> | null>
  /** A page of 1 to 100 records, newest first. @throws NotifierError `invalid_parameter` */
  list(organizationId: string, query?: ListQuery): Promise<List<PluginRecord<Value>>>
  /**
   * Stores a record. `taken`: the organization has one with this id, which stays.
   *
   * @param id 1 to 120 characters
   * @throws NotifierError `not_found` if the organization does not exist; `storage_quota_exceeded`; `invalid_parameter` for a
   *   value that is too long, or that falls due in more than ten years
   */
  insert(organizationId: string, id: string, value: Value): Promise<PluginRecord<Value> | 'taken'>
  /**
   * Replaces the value. `decide` is called again if the record is changed concurrently. A handler that has claimed the record
   * since it fell due stores nothing then.
   *
   * @returns `unknown`: there is no such record
   * @throws NotifierError as {@link insert}
   */
  change(
    organizationId: string,
    id: string,
    decide: (value: Value) => Value,
  ): Promise<PluginRecord<Value> | 'unknown'>
  /**
   * Removes a record, and so cancels its timer: either the handler has stored its result before, or it never will.
   *
   * @returns false: there is no such record
   */
  remove(organizationId: string, id: string): Promise<boolean>
}

/** Records of a plug-in by kind, organization and id. */
export interface PluginReads {
  /** In order, in one query for the kind. Null: none. */
  find<Value extends object>(
    kind: PluginRecords<Value>,
    refs: readonly { readonly organizationId: string; readonly id: string }[],
  ): Promise<readonly (PluginRecord<Value> | null)[]>
}

/** A record to store beside others. One with its id stays. */
export interface PluginInsert<Value extends object = object> {
  readonly kind: PluginRecords<Value>
  readonly id: string
  readonly value: Value
}

/** What is stored in one commit, or not at all. */
export interface PluginWrites {
  /** Messages of the organization, checked as `send` checks them. Files are given by the id of an upload, or as bytes. */
  readonly sends?: readonly SendInput[] | undefined
  readonly inserts?: readonly PluginInsert[] | undefined
  readonly removes?: readonly Pick<PluginInsert, 'kind' | 'id'>[] | undefined
}

/** A record that fell due. */
export interface DuePluginRecord<Value extends object = object> extends PluginRecord<Value> {
  /** How often it was handed out since its last change, with this time. Above 1: the earlier handlers stored nothing. */
  readonly claims: number
}

/** What becomes of a record that fell due. */
export interface DuePluginResult<Value extends object = object> extends PluginWrites {
  /** The new value, which may fall due again. Null: the record is removed. */
  readonly next: Value | null
}

/** What is done with the records of a kind when they fall due. Made by {@link onDue}. */
export interface PluginDueHandler<Value extends object = object> {
  readonly kind: PluginRecords<Value>
  handle(
    record: DuePluginRecord<Value>,
    signal: AbortSignal,
  ): Promise<DuePluginResult<Value>> | DuePluginResult<Value>
}

/**
 * Handles the records of a kind when they fall due, in one process, also after a crash. Its result is stored in one commit, and
 * only if the record was not changed or removed meanwhile. If the handler throws, or a message of its result is refused,
 * nothing is stored, the fault is reported, and the record comes again: after a minute, then after twice as long each time, up
 * to two hours. What a handler does besides its result may happen twice.
 *
 * @param handle its signal aborts when the lease of the record ends, and when the notifier stops
 *
 * @example
 * const reminding = onDue(reminders, async ({ value }) => ({
 *   next: null,
 *   sends: [{ channel: 'sms', to: value.phone, body: 'Your appointment is in an hour.' }],
 * }))
 */
export function onDue<Value extends object>(
  kind: PluginRecords<Value>,
  handle: PluginDueHandler<Value>['handle'],
): PluginDueHandler<Value> {
  return { kind, handle }
}

const MOST_BYTES = 65_536
const MOST_AHEAD_MS = 10 * 366 * 86_400_000
const MOST_ID = 120

/** Ids of two organizations never meet. */
function scoped(organizationId: string, id: string): string {
  if (typeof id !== 'string' || id === '' || id.length > MOST_ID)
    throw new NotifierError('invalid_parameter', {
      message: `The id of a record has 1 to ${MOST_ID} characters.`,
      details: { field: 'id' },
    })
  return `${organizationId}\n${id}`
}

function shown<Value extends object>(record: StoredRecord<Value>): PluginRecord<Value> {
  const { id, organizationId, value, createdAt } = record
  return { id: id.slice(id.indexOf('\n') + 1), organizationId: organizationId ?? '', value, createdAt }
}

/** Whether a value may be stored. @throws NotifierError `invalid_parameter` */
type AssertSound = <Value extends object>(kind: PluginRecords<Value>, value: Value) => void

export function soundValues(clock: Pick<Clock, 'now'>): AssertSound {
  return ({ name, due }, value) => {
    const bytes = bytesOf(JSON.stringify(value))
    if (bytes > MOST_BYTES)
      throw new NotifierError('invalid_parameter', {
        message: `A record of "${name}" has at most ${MOST_BYTES} bytes as JSON, and this one ${bytes}.`,
      })
    const at = due?.(value) ?? null
    if (at !== null && !(at <= clock.now() + MOST_AHEAD_MS))
      throw new NotifierError('invalid_parameter', {
        message: `A record of "${name}" falls due within ten years, as a number of epoch milliseconds, and this one at ${at}.`,
      })
  }
}

export function pluginStore<Value extends object>(
  kind: PluginRecords<Value>,
  store: RecordStore<Value>,
  assertSound: AssertSound,
): PluginStore<Value> {
  const readList = listReader(kind.name, {})
  return {
    async find(organizationId, id) {
      const record = await store.find({ id: scoped(organizationId, id) })
      return record && shown(record)
    },
    async list(organizationId, query) {
      const { page } = readList(query)
      return listOf(kind.name, await store.list({ organizationId }, page), page, shown)
    },
    async insert(organizationId, id, value) {
      assertSound(kind, value)
      const inserted = await store.insert({ id: scoped(organizationId, id), organizationId, value })
      return inserted === 'taken' ? inserted : shown(inserted)
    },
    async change(organizationId, id, decide) {
      const changed = await store.change(scoped(organizationId, id), ({ value }) => {
        const after = decide(value)
        assertSound(kind, after)
        return after
      })
      return typeof changed === 'string' ? 'unknown' : shown(changed)
    },
    remove: (organizationId, id) => store.remove(scoped(organizationId, id)),
  }
}

export function pluginReads(records: RecordReads): PluginReads {
  return {
    async find(kind, refs) {
      const ids = refs.map(({ organizationId, id }) => ({ id: scoped(organizationId, id) }))
      const found = ids.length === 0 ? [] : await records.get(kind, ids)
      return found.map((record) => record && shown(record))
    },
  }
}

function writesOf(
  organizationId: string,
  { inserts = [], removes = [] }: PluginWrites,
  assertSound: AssertSound,
): readonly RecordWrite[] {
  return [
    ...inserts.map(({ kind, id, value }): RecordInsert => {
      assertSound(kind, value)
      return { kind, do: 'insert', id: scoped(organizationId, id), organizationId, value, ifTaken: 'keep' }
    }),
    ...removes.map(({ kind, id }) => ({ kind, do: 'remove', id: scoped(organizationId, id) }) as const),
  ]
}

/** Stores messages with records. */
export async function sendWith(
  organizationId: string,
  writes: PluginWrites,
  accept: SendsWithRecords,
  assertSound: AssertSound,
): Promise<void> {
  const { sends = [] } = writes
  const refused = await accept.withRecords(
    organizationId,
    sends,
    writesOf(organizationId, writes, assertSound),
  )
  if (refused !== null) throw new Error(`A record was refused as "${refused.kind}".`)
}

/** A handler as the core calls it. */
export function dueHandler({ kind, handle }: PluginDueHandler, assertSound: AssertSound): DueHandler {
  return {
    kind,
    async handle(due, signal): Promise<DueResult> {
      const record = shown(due.record)
      const result = await handle({ ...record, claims: due.claims }, signal)
      if (typeof result !== 'object' || result === null || result.next === undefined)
        throw new Error('A handler answers what becomes of the record: { next: null } removes it.')
      const { organizationId } = record
      return {
        writes: [ended(due, result.next, assertSound), ...writesOf(organizationId, result, assertSound)],
        sends: result.sends,
      }
    },
  }
}

function ended(
  { kind, record, token }: DueRecord,
  next: object | null,
  assertSound: AssertSound,
): RecordWrite {
  const { id, revision } = record
  if (next === null) return { kind, do: 'remove', id, token }
  assertSound(kind as PluginRecords, next)
  return { kind, do: 'replace', id, revision, token, value: next }
}
