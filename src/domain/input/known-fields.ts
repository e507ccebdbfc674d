import * as z from 'zod'
import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames, MOST_NAMES, shortName } from '../listed-names.ts'

const KEY =
  'give it as "idempotencyKey" in the second argument of `send`, over HTTP in the header Idempotency-Key'
const SENDER = 'the sender is an option of the provider'
const COPY = 'a notification has one recipient: send one for each'
const EMAIL = 'it belongs into "email"'

/** Where fields belong that are easily written into a message, and would be missed without a word. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ['idempotencyKey', KEY],
  ['idempotency_key', KEY],
  ['from', SENDER],
  ['sender', SENDER],
  ['cc', COPY],
  ['bcc', COPY],
  ['tags', 'there are none'],
  ['replyTo', EMAIL],
  ['reply_to', 'it is "replyTo" in "email"'],
  ['headers', EMAIL],
  ['attachments', EMAIL],
  ['unsubscribe', EMAIL],
  ['blocks', 'it belongs into "slack"'],
  ['send_at', 'it is "sendAt"'],
  ['expires_at', 'it is "expiresAt"'],
  ['templateId', 'it is "template"'],
  ['template_id', 'it is "template"'],
])
const NO_PLACES: ReadonlyMap<string, string> = new Map()
/** In code alone. */
const ORGANIZATION = 'call the same method of notifier.organization(id)'

/**
 * Refuses fields that a schema does not name. Only the object itself is looked at: what is nested in an input is free
 * (`variables`) or a list of inputs, whose items are judged one by one.
 *
 * @param which `misplaced`: only those that belong elsewhere
 * @throws NotifierError `invalid_parameter`, naming them
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
 * A body without the fields that its schema does not name; a schema that refuses them sees them. The organization that a body
 * may repeat has been compared before.
 *
 * @param strict refuses them, as {@link assertKnownFields}
 */
export function knownFields(
  schema: z.ZodType | undefined,
  { organizationId: _judged, ...body }: Readonly<Record<string, unknown>>,
  strict: boolean,
): Readonly<Record<string, unknown>> {
  // One that takes all leaves them to what reads the body next.
  if (!(schema instanceof z.ZodObject) || schema.def.catchall instanceof z.ZodUnknown) return body
  assertKnownFields(schema, body, strict ? 'all' : 'misplaced')
  if (schema.def.catchall !== undefined) return body
  const known = Object.keys(schema.shape).filter((name) => Object.hasOwn(body, name))
  return Object.fromEntries(known.map((name) => [name, body[name]]))
}
