import * as z from 'zod'
import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames, MOST_NAMES, shortName } from '../listed-names.ts'

const KEY =
  'give it as "idempotencyKey" in the second argument of `send`, over HTTP in the header Idempotency-Key'
const EMAIL = 'it belongs in "email"'

/** The right places of fields often put into a message by mistake, which would be ignored silently. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['idempotencyKey', KEY],
  ['idempotency_key', KEY],
  ['from', EMAIL],
  ['sender', 'it is "from" in "email"'],
  ['cc', EMAIL],
  ['bcc', EMAIL],
  ['tags', 'there are none'],
  ['replyTo', EMAIL],
  ['reply_to', 'it is "replyTo" in "email"'],
  ['headers', EMAIL],
  ['attachments', EMAIL],
  ['unsubscribe', EMAIL],
  ['blocks', 'it belongs in "slack"'],
  ['send_at', 'it is "sendAt"'],
  ['expires_at', 'it is "expiresAt"'],
  ['templateId', 'it is "template"'],
  ['template_id', 'it is "template"'],
])
const NO_PLACES: ReadonlyMap<string, string> = new Map()
/** For calls from code. */
const ORGANIZATION = 'call the same method of notifier.organization(id)'

/**
 * Refuses unknown fields of an object. Nested objects are free-form (`variables`) or lists of inputs, which are checked
 * one by one.
 *
 * @param which `misplaced`: only fields that belong elsewhere
 * @throws NotifierError `invalid_parameter`, which names them
 */
export function assertKnownFields(
  schema: z.ZodType,
  input: unknown,
  which: 'all' | 'misplaced' = 'all',
): void {
  if (!(schema instanceof z.ZodObject) || typeof input !== 'object' || input === null) return
  const places = 'template' in schema.shape || 'notifications' in schema.shape ? PLACES : NO_PLACES
  const unknown = Object.keys(input).filter(
    (name) => !Object.hasOwn(schema.shape, name) && (which === 'all' || places.has(name)),
  )
  if (unknown.length === 0) return
  const names = unknown.slice(0, MOST_NAMES).map(shortName)
  const title = unknown.length === 1 ? 'Unknown field' : 'Unknown fields'
  throw new NotifierError('invalid_parameter', {
    message: `${title}: ${listedNames(unknown)}.${placesOf(names, places)}`,
    details: { field: names[0], fields: names, expected: Object.keys(schema.shape) },
  })
}

function placesOf(names: readonly string[], places: ReadonlyMap<string, string>): string {
  return names
    .map((name) => [name, name === 'organizationId' ? ORGANIZATION : places.get(name)])
    .filter(([, place]) => place !== undefined)
    .map(([name, place]) => ` "${name}": ${place}.`)
    .join('')
}

/**
 * A body without unknown fields, unless its schema refuses those itself. A repeated organization id has been checked
 * before.
 *
 * @param strict refuses them, as {@link assertKnownFields} does
 */
export function knownFields(
  schema: z.ZodType | undefined,
  { organizationId: _judged, ...body }: Readonly<Record<string, unknown>>,
  strict: boolean,
): Readonly<Record<string, unknown>> {
  // A schema that accepts all fields leaves them to the next reader.
  if (!(schema instanceof z.ZodObject) || schema.def.catchall instanceof z.ZodUnknown) return body
  assertKnownFields(schema, body, strict ? 'all' : 'misplaced')
  if (schema.def.catchall !== undefined) return body
  const known = Object.keys(schema.shape).filter((name) => Object.hasOwn(body, name))
  return Object.fromEntries(known.map((name) => [name, body[name]]))
}
