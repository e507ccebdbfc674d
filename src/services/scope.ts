import { notACursor } from '../domain/cursor.ts'
import type { ErrorCode } from '../domain/errors/catalogue.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION } from '../domain/organization.ts'
import type { Page, PageRequest } from '../ports/storage/page.ts'

/** Which organization a call concerns. */
export interface Scope {
  /** Default `org_default`. */
  readonly organizationId?: string | undefined
}

export interface ListQuery extends Scope {
  /** 1 to 100; default 50. */
  readonly limit?: number | undefined
  /** Rows to skip; default 0. For deep pages use `cursor`. */
  readonly offset?: number | undefined
  /** `nextCursor` of an earlier page. */
  readonly cursor?: string | undefined
}

/** One page, newest first. */
export interface List<Item> {
  readonly items: readonly Item[]
  readonly limit: number
  readonly offset: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
}

/**
 * The organization that a call concerns. Null is not left out: it would mean the default one by mistake.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function organizationOf(scope: Scope | undefined): string {
  const id = scope?.organizationId
  if (id === undefined) return DEFAULT_ORGANIZATION
  if (typeof id === 'string') return id
  throw wrong('organizationId', 'a text, or left out')
}

/**
 * Refuses a message that names another organization than the one it would be sent for: a name beside the message's own
 * fields is easily written in JavaScript, and means nothing there.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function assertSameOrganization(message: unknown, organizationId: string): void {
  const { organizationId: named } = (message ?? {}) as { readonly organizationId?: unknown }
  if (named === undefined || named === organizationId) return
  throw new NotifierError('invalid_parameter', {
    message:
      `The message names another organization than "${organizationId}", which it would be sent for. Give its id as ` +
      '"organizationId" in the second argument; over HTTP the API key says whose a message is.',
    details: { field: 'organizationId' },
  })
}

/**
 * Lets a caller see a resource of its own organization only (DESIGN.md §4 "Permissions").
 *
 * @throws NotifierError `absent` when there is none, `organization_mismatch` when it is another's
 */
export function owned<Resource extends { readonly organizationId: string }>(
  resource: Resource | null,
  scope: Scope | undefined,
  absent: ErrorCode,
): Resource {
  if (resource === null) throw new NotifierError(absent)
  if (resource.organizationId !== organizationOf(scope)) throw new NotifierError('organization_mismatch')
  return resource
}

/** Largest page of every list (SPEC.md "Limits", rule 6). */
const MAX_LIMIT = 100
const DEFAULT_LIMIT = 50

/** What a list holds. Its cursors begin with it, since those of another list would lead to some page of this one. */
type ListName =
  | 'keys'
  | 'deliveries'
  | 'logs'
  | 'notifications'
  | 'organizations'
  | 'suppressions'
  | 'templates'
  | 'webhooks'

/** @throws NotifierError `invalid_parameter` */
export function pageRequest(list: ListName, query: ListQuery | undefined): PageRequest {
  const limit = query?.limit ?? DEFAULT_LIMIT
  const offset = query?.offset ?? 0
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw wrong('limit', `a whole number from 1 to ${MAX_LIMIT}`)
  if (!Number.isInteger(offset) || offset < 0 || offset > 1_000_000)
    throw wrong('offset', 'a whole number from 0 to 1000000')
  const cursor = query?.cursor
  if (cursor !== undefined && offset > 0) throw wrong('offset', 'left out beside "cursor"')
  return { limit, offset, ...(cursor === undefined ? {} : { cursor: cursorOf(list, cursor) }) }
}

function cursorOf(list: ListName, cursor: unknown): string {
  const prefix = `${list}.`
  if (typeof cursor === 'string' && cursor.startsWith(prefix)) return cursor.slice(prefix.length)
  throw notACursor()
}

/** A parameter that is not what it must be. @param expected what is right, to follow "must be" */
export function wrong(field: string, expected: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `"${field}" must be ${expected}.`,
    details: { field, expected },
  })
}

/** A page in its public form. */
export function listOf<Row, Item>(
  list: ListName,
  page: Page<Row>,
  request: PageRequest,
  view: (row: Row) => Item,
): List<Item> {
  return {
    items: page.items.map(view),
    limit: request.limit,
    offset: request.offset,
    hasMore: page.nextCursor !== null,
    nextCursor: page.nextCursor === null ? null : `${list}.${page.nextCursor}`,
  }
}

/** ISO 8601 UTC; null stays null. */
export function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
