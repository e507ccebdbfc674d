import type * as z from 'zod'
import type { ErrorCode } from '../errors/catalogue.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { assertKnownFields } from '../input/known-fields.ts'
import { parseInput } from '../input/parse.ts'
import { ALL_ORGANIZATIONS } from './all-organizations.ts'

/**
 * Parses the options of a call.
 *
 * @param schema a strict object
 * @throws NotifierError `invalid_parameter`
 */
export function parseOptions<Options>(schema: z.ZodType<Options>, options: unknown): Options {
  return parseInput(schema, options === undefined ? {} : options, 'options')
}

/**
 * Parses the subject of a call. Unknown fields are refused, because a misspelt one would change the meaning.
 *
 * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
 */
export function parseSubject<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  assertKnownFields(schema, input)
  return parseInput(schema, input)
}

/**
 * Refuses an input with the name of another organization: a likely mistake in JavaScript, where it would be ignored.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function assertSameOrganization(input: unknown, organizationId: string): void {
  const { organizationId: named } = (input ?? {}) as { readonly organizationId?: unknown }
  if (named === undefined || named === organizationId) return
  throw new NotifierError('invalid_parameter', {
    message:
      `The input names another organization than "${organizationId}". Call the same method of ` +
      'notifier.organization(id); over HTTP the API key determines the organization, or with an operator key X-Organization-ID.',
    details: { field: 'organizationId' },
  })
}

/** The id of an organization, or of all. Null: none. */
export type Owner = string | null

/**
 * Limits access to the resources of an owner. Those of none, or of all, are invisible to organizations.
 *
 * @throws NotifierError `absent` if there is none, `organization_mismatch` if it belongs to another organization
 */
export function owned<Resource extends { readonly organizationId: Owner }>(
  resource: Resource | null,
  owner: Owner,
  absent: ErrorCode | (() => NotifierError),
): Resource {
  const visible =
    resource !== null &&
    (resource.organizationId === null) === (owner === null) &&
    (resource.organizationId !== ALL_ORGANIZATIONS || owner === ALL_ORGANIZATIONS)
  if (!visible) throw typeof absent === 'function' ? absent() : new NotifierError(absent)
  if (resource.organizationId !== owner) throw new NotifierError('organization_mismatch')
  return resource
}

/**
 * Finds a resource by id.
 *
 * @throws NotifierError `invalid_parameter`: in JavaScript the id may be any value, such as the whole record
 */
export async function byId<Resource>(
  id: unknown,
  get: (id: string) => Promise<Resource | null>,
): Promise<Resource | null> {
  if (typeof id !== 'string')
    throw wrong('id', 'a string: give the id of the resource, not the resource itself')
  return get(id)
}

/** The error of an invalid parameter. @param expected the valid values, to follow "must be" */
export function wrong(field: string, expected: string): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `"${field}" must be ${expected}.`,
    details: { field, expected },
  })
}

/** ISO 8601 UTC; null stays null. */
export function isoOrNull(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
