import type { SendInput } from '../core/accept/input.ts'
import type { SendsWithRecords } from '../core/accept/with-records.ts'
import type { Kinds } from '../core/channels/kinds.ts'
import { suppressedAddress } from '../core/channels/recipient.ts'
import type { DueHandler, DueResult } from '../core/due/due-records.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import { bytesOf } from '../core/input/bounds.ts'
import type { PersonAddress, PersonalRecords } from '../core/people/personal-records.ts'
import type { Clock } from '../core/ports/clock.ts'
import type { DueRecord, RecordInsert, RecordWrite, StoredRecord } from '../core/ports/storage/records.ts'
import { type List, type ListQuery, listOf, listReader } from '../core/records/list.ts'
import type { RecordKind } from '../core/records/record-kind.ts'
import type { RecordReads, RecordStore } from '../core/records/record-stores.ts'
import { wrong } from './wrong.ts'

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

/** A record to store beside others. If its id is taken, nothing is stored. */
export interface PluginInsert<Value extends object = object> {
  readonly kind: PluginRecords<Value>
  readonly id: string
  readonly value: Value
}

/** What is stored in one commit, or not at all. */
export interface PluginWrites {
  /** Messages of the organization, checked as `send` checks them. Files are given by the id of an upload, or as bytes. */
  readonly sends?: readonly SendInput[] | undefined
  /** Before the inserts. */
  readonly removes?: readonly Pick<PluginInsert, 'kind' | 'id'>[] | undefined
  readonly inserts?: readonly PluginInsert[] | undefined
}

/** A record that fell due. */
export interface DuePluginRecord<Value extends object = object> extends PluginRecord<Value> {
  /** How often it was handed out since its last change, with this time. Above 1: the earlier handlers stored nothing. */
  readonly claims: number
}

/** What becomes of a record that fell due. */
export interface DuePluginResult<Value extends object = object> extends PluginWrites {
  /** The new value, which may fall due again later. Null: the record is removed. */
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
 * only if the record was not changed or removed meanwhile, and no id of an insert is taken. If the handler throws, or a message of its result is refused,
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

/** The rules for the records of a plug-in. */
export interface RecordRules {
  /** @throws NotifierError `invalid_configuration` for a kind that is not the plug-in's */
  assertOwn(kind: Pick<PluginRecords, 'name'>): void
  /** When a value falls due. Null: never. @throws NotifierError `invalid_parameter` for a value that cannot be stored */
  assertSound<Value extends object>(kind: PluginRecords<Value>, value: Value): number | null
}

export function recordRules(
  plugin: string,
  records: readonly Pick<PluginRecords, 'name'>[],
  clock: Pick<Clock, 'now'>,
): RecordRules {
  const names = new Set(records.map(({ name }) => name))
  return {
    assertOwn(kind) {
      if (names.has(kind?.name)) return
      throw wrong(plugin, `names the records "${kind?.name}", which are not in its "records"`)
    },
    assertSound(kind, value) {
      const { name } = kind
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        throw unsound(`A record of "${name}" must be a JSON object.`)
      const bytes = bytesOf(jsonOf(name, value))
      if (bytes > MOST_BYTES)
        throw unsound(
          `A record of "${name}" may have ${MOST_BYTES} bytes as JSON, and this one has ${bytes}.`,
        )
      assertConcerned(name, kind.concerns(value))
      const at = kind.due?.(value) ?? null
      if (at === null) return null
      if (!Number.isInteger(at))
        throw unsound(
          `The time at which a record of "${name}" falls due must be a whole number of epoch milliseconds.`,
        )
      if (at > clock.now() + MOST_AHEAD_MS)
        throw unsound(`A record of "${name}" may fall due within ten years, and this one falls due later.`)
      return at
    },
  }
}

function unsound(message: string, cause?: unknown): NotifierError {
  return new NotifierError('invalid_parameter', { message, cause })
}

function jsonOf(name: string, value: object): string {
  try {
    return JSON.stringify(value)
  } catch (cause) {
    throw unsound(`A record of "${name}" cannot be written as JSON: see \`cause\`.`, cause)
  }
}

function assertConcerned(name: string, concerned: Concerned | null): void {
  const { recipients = [], addresses = [], ...others } = concerned ?? {}
  const isSound =
    Object.keys(others).length === 0 &&
    Array.isArray(recipients) &&
    recipients.every((id) => typeof id === 'string') &&
    Array.isArray(addresses) &&
    addresses.every((one) => typeof one?.channel === 'string' && typeof one.to === 'string')
  if (!isSound)
    throw unsound(
      `concerns() of "${name}" must answer { recipients: ['…'], addresses: [{ channel, to }] } or null.`,
    )
}

export function pluginStore<Value extends object>(
  kind: PluginRecords<Value>,
  store: RecordStore<Value>,
  { assertSound }: RecordRules,
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

export function pluginReads(records: RecordReads, { assertOwn }: RecordRules): PluginReads {
  return {
    async find(kind, refs) {
      assertOwn(kind)
      const ids = refs.map(({ organizationId, id }) => ({ id: scoped(organizationId, id) }))
      const found = ids.length === 0 ? [] : await records.get(kind, ids)
      return found.map((record) => record && shown(record))
    },
  }
}

const MEMBERS = ['sends', 'inserts', 'removes']

function assertMembers(given: object, members: readonly string[]): void {
  const unknown = Object.keys(given).find((member) => !members.includes(member))
  if (unknown !== undefined) throw unsound(`"${unknown}" is unknown here. It can have ${members.join(', ')}.`)
}

function writesOf(
  organizationId: string,
  { inserts = [], removes = [] }: PluginWrites,
  { assertOwn, assertSound }: RecordRules,
): { readonly writes: readonly RecordWrite[]; readonly dueAt: readonly number[] } {
  const dueAt = inserts.flatMap(({ kind, value }) => {
    assertOwn(kind)
    return assertSound(kind, value) ?? []
  })
  for (const { kind } of removes) assertOwn(kind)
  const writes = [
    ...removes.map(({ kind, id }) => ({ kind, do: 'remove', id: scoped(organizationId, id) }) as const),
    ...inserts.map(({ kind, id, value }): RecordInsert => {
      return { kind, do: 'insert', id: scoped(organizationId, id), organizationId, value }
    }),
  ]
  return { writes, dueAt }
}

/** Stores messages with records. @param fallsDue called with the times at which stored records fall due */
export async function sendWith(
  organizationId: string,
  given: PluginWrites,
  accept: SendsWithRecords,
  rules: RecordRules,
  fallsDue: (at: number) => void,
): Promise<readonly string[] | 'taken'> {
  assertMembers(given, MEMBERS)
  const { writes, dueAt } = writesOf(organizationId, given, rules)
  const answer = await accept.withRecords(organizationId, given.sends ?? [], writes)
  if ('kind' in answer) {
    if (answer.kind === 'taken') return 'taken'
    throw new Error(`A record was refused as "${answer.kind}".`)
  }
  for (const at of dueAt) fallsDue(at)
  return answer
}

/** What erasure and export do with the records of a kind. */
export function personalPluginRecords(kind: PluginRecords, { known }: Pick<Kinds, 'known'>): PersonalRecords {
  function isOf(
    one: { readonly channel: string; readonly to: string },
    { kind: of, to }: PersonAddress,
  ): boolean {
    const own = known.get(one.channel)
    if (own === undefined || of.name !== one.channel) return false
    return suppressedAddress(own, one.to) === suppressedAddress(of, to)
  }

  return {
    kind,
    concerns(value, { recipient, address }) {
      const { recipients = [], addresses = [] } = kind.concerns(value) ?? {}
      return (
        recipients.some((id) => id === recipient) ||
        addresses.some((one) => address !== null && isOf(one, address))
      )
    },
    erased: () => null,
    exported(record) {
      const createdAt = new Date(record.createdAt).toISOString()
      return { type: 'record', kind: kind.name, ...shown(record), createdAt }
    },
  }
}

/** A handler as the core calls it. */
export function dueHandler(
  { kind, handle }: PluginDueHandler,
  rules: RecordRules,
  clock: Pick<Clock, 'now'>,
): DueHandler {
  return {
    kind,
    async handle(due, signal): Promise<DueResult> {
      const record = shown(due.record)
      const result = await handle({ ...record, claims: due.claims }, signal)
      if (typeof result !== 'object' || result === null || result.next === undefined)
        throw new Error('A handler answers what becomes of the record: { next: null } removes it.')
      assertMembers(result, ['next', ...MEMBERS])
      const { next, sends } = result
      const again = next === null ? null : rules.assertSound(kind, next)
      // It would be handed out at once, for ever.
      if (again !== null && again <= clock.now())
        throw new Error('The new value must fall due later, or never. Its time is in the past.')
      const { writes } = writesOf(record.organizationId, result, rules)
      return { writes: [ended(due, next), ...writes], sends }
    },
  }
}

function ended({ kind, record, token }: DueRecord, next: object | null): RecordWrite {
  const { id, revision } = record
  if (next === null) return { kind, do: 'remove', id, token }
  return { kind, do: 'replace', id, revision, token, value: next }
}
