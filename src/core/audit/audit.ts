import { AsyncLocalStorage } from 'node:async_hooks'
import type { RecordInsert } from '../ports/storage/records.ts'
import type { IdGenerator } from '../records/ids.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { RecordStores } from '../records/record-stores.ts'
import { ALL_ORGANIZATIONS } from '../tenancy/all-organizations.ts'
import { type AuditAction, targetKindOf } from './actions.ts'
import { type AuditedField, changedFields } from './changed.ts'

/** Who made a change. */
export interface AuditActor {
  /**
   * `key`: an API key. `operator`: an operator key, or a person who sees all organizations on the dashboard. `session`: a
   * person on the dashboard. `code`: the application.
   */
  readonly type: 'key' | 'operator' | 'session' | 'code'
  /** The id of the key, or the name of the person; of code, the actor that it names, otherwise `code`. */
  readonly id: string
  /** The name of the key. Null: it has none. */
  readonly name: string | null
}

/** Where a request came from. */
export interface AuditOrigin {
  /** Null: unknown. */
  readonly ip: string | null
  /** Its beginning. Null: the request had none. */
  readonly userAgent: string | null
}

/** The author of what a call changes. */
export interface Author {
  readonly actor: AuditActor
  /** Null: a call from code. */
  readonly from: AuditOrigin | null
}

/** The stored value of an entry. It belongs to no organization as a record, so that it outlives its own. */
export interface AuditValue extends Author {
  /** Null: it concerns operators. */
  readonly organizationId: string | null
  readonly action: AuditAction
  readonly target: { readonly id: string; readonly name: string | null }
  readonly changed: readonly AuditedField[]
}

/** The list of the entries of an organization. */
export const auditListOf = (organizationId: string | null): string => organizationId ?? 'operators'

export const auditKind: RecordKind<AuditValue> = {
  name: 'audit_entries',
  version: 1,
  notPersonal: 'names people by hashes, and its authors on purpose',
  list: ({ organizationId }) => auditListOf(organizationId),
}

/** A change of something, or a use of it that is recorded. */
export interface Audited {
  /** Null, or `ALL_ORGANIZATIONS`: it concerns operators. */
  readonly organizationId: string | null
  readonly action: AuditAction
  /** The id of the target, without an address. */
  readonly target: string
  /** Its name at that time. Absent: it has none. */
  readonly name?: string | undefined
  /** The value before. Absent: there was none. */
  readonly before?: object | undefined
  /** The value after. Absent: there is none. */
  readonly after?: object | undefined
}

/** Makes entries of the audit log, for the commits of the changes. */
export interface Audit {
  /** Who makes the present call. */
  actor(): AuditActor
  /** The insert of an entry. Its author is that of the present call. */
  entry(audited: Audited): RecordInsert<AuditValue>
  /** Calls a function, and makes the author that of all its calls, whenever they come. */
  actingAs<Result>(author: Author, work: () => Result): Result
  /** The same for a request: for what comes before its answer. */
  onBehalfOf<Result>(author: Author, work: () => Promise<Result>): Promise<Result>
}

const CODE: Author = { actor: { type: 'code', id: 'code', name: null }, from: null }

const MAX_ID = 250
const MAX_NAME = 200

export function createAudit(ids: Pick<IdGenerator, 'random'>, stores: RecordStores): Audit {
  // For the storage's start.
  stores.always(auditKind)
  // A request runs in one asynchronous context. Otherwise every method of every feature would take its author.
  const present = new AsyncLocalStorage<Author>()
  /** Requests under way, and whether the application names actors. */
  let requests = 0
  let isNaming = false

  function ended(): void {
    requests -= 1
    // Before Node.js 24 every await is slower while it is enabled, also those of sends.
    if (requests === 0 && !isNaming) present.disable()
  }

  function entry({
    organizationId,
    action,
    target,
    name,
    before = {},
    after,
  }: Audited): RecordInsert<AuditValue> {
    const { actor, from } = present.getStore() ?? CODE
    const value = {
      organizationId: organizationId === ALL_ORGANIZATIONS ? null : organizationId,
      actor,
      from,
      action,
      target: { id: target.slice(0, MAX_ID), name: name?.slice(0, MAX_NAME) ?? null },
      changed: after === undefined ? [] : changedFields(targetKindOf(action), before, after),
    }
    return { kind: auditKind, do: 'insert', id: ids.random('aud'), organizationId: null, value }
  }

  return {
    actor: () => (present.getStore() ?? CODE).actor,
    entry,
    actingAs(author, work) {
      isNaming = true
      return present.run(author, work)
    },
    onBehalfOf(author, work) {
      requests += 1
      return present.run(author, work).finally(ended)
    },
  }
}
