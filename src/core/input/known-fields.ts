import * as z from 'zod'
import { NotifierError } from '../errors/notifier-error.ts'
import { OF_ORGANIZATION } from './expected-value.ts'
import { listedNames, MOST_NAMES, shortName } from './listed-names.ts'
import { nearestName } from './nearest-name.ts'

const KEY =
  'give it as "idempotencyKey" in the second argument of `send`, over HTTP in the header Idempotency-Key'
/** Of a channel that is configured, the parts are a known field. */
const NO_CHANNEL = 'this channel is not configured here'
const EMAIL = 'it belongs in "email"'
const TEXT = 'it is "text", "html" or "body"'

const TIME_PLACES: ReadonlyMap<string, string> = new Map([
  ['send_at', 'it is "sendAt"'],
  ['scheduledAt', 'it is "sendAt"'],
  ['scheduled_at', 'it is "sendAt"'],
  ['delay', 'use "sendAt", a time'],
])

/** Of messages and templates. */
const LABEL_PLACES: ReadonlyMap<string, string> = new Map([
  ['tags', 'use "metadata", short texts by name: { campaign: \'spring\' }'],
])

/** The right places of fields that are often put into a message by mistake and would be ignored silently. */
const PLACES: ReadonlyMap<string, string> = new Map([
  ...TIME_PLACES,
  ['idempotencyKey', KEY],
  ['idempotency_key', KEY],
  ['from', EMAIL],
  ['sender', 'it is "from" in "email"'],
  ['cc', EMAIL],
  ['bcc', EMAIL],
  ['message', TEXT],
  ['content', TEXT],
  ['title', 'it is "subject"'],
  ...LABEL_PLACES,
  ['replyTo', EMAIL],
  ['inReplyTo', EMAIL],
  ['in_reply_to', 'it is "inReplyTo" in "email"'],
  ['calendar', EMAIL],
  ['reply_to', 'it is "replyTo" in "email"'],
  ['headers', EMAIL],
  ['attachments', EMAIL],
  ['unsubscribe', EMAIL],
  ['blocks', 'it belongs in "slack"'],
  ['expires_at', 'it is "expiresAt"'],
  ['templateId', 'it is "template"'],
  ['template_id', 'it is "template"'],
  ['user', 'it is "recipient"'],
  ['userId', 'it is "recipient"'],
  ['whatsapp', NO_CHANNEL],
  ['telegram', NO_CHANNEL],
  ['discord', NO_CHANNEL],
])
const NO_PLACES: ReadonlyMap<string, string> = new Map()
const placesOf = new WeakMap<z.ZodType, ReadonlyMap<string, string>>()

/** Tells the right places of fields that are often put into an object by mistake. */
export function withPlaces<Schema extends z.ZodType>(
  schema: Schema,
  places: Readonly<Record<string, string>>,
): Schema {
  placesOf.set(schema, new Map(Object.entries(places)))
  return schema
}

/**
 * Refuses unknown fields of an object. Nested objects are free-form (`variables`) or lists of inputs, which are checked
 * one by one.
 *
 * @param which `misplaced`: only fields that belong elsewhere, and in a send or a reschedule misspelt ones: `catgory`
 *   decides what people get
 * @throws NotifierError `invalid_parameter`, which names them
 */
export function assertKnownFields(
  schema: z.ZodType,
  input: unknown,
  which: 'all' | 'misplaced' = 'all',
): void {
  if (!(schema instanceof z.ZodObject) || typeof input !== 'object' || input === null) return
  const all = Object.keys(input).filter((name) => !Object.hasOwn(schema.shape, name))
  if (all.length === 0) return
  const expected = Object.keys(schema.shape)
  const places = placesFor(schema)
  const nearest = comparing(expected)
  const decides = 'sendAt' in schema.shape
  const unknown = which === 'all' ? all : misplacedOf(all, places, decides ? nearest : () => null)
  if (unknown.length === 0) return
  const names = unknown.slice(0, MOST_NAMES).map(shortName)
  // With a template, a name like no field is most often that of a value.
  const isOfTemplate = 'variables' in schema.shape && Object.hasOwn(input, 'template')
  const other = isOfTemplate ? 'the values of a template belong in "variables"' : null
  const title = unknown.length === 1 ? 'Unknown field' : 'Unknown fields'
  throw new NotifierError('invalid_parameter', {
    message: `${title}: ${listedNames(unknown)}.${hintsOf(names, places, nearest, other)}`,
    details: { field: names[0], fields: names, expected },
  })
}

function placesFor(schema: z.ZodObject): ReadonlyMap<string, string> {
  const { shape } = schema
  if ('template' in shape || 'notifications' in shape) return PLACES
  if ('sendAt' in shape) return TIME_PLACES
  if ('metadata' in shape) return LABEL_PLACES
  return placesOf.get(schema) ?? NO_PLACES
}

/** Most names that are compared with the known ones: an input may have a hundred thousand. */
const MOST_COMPARED = 50

type Nearest = (name: string) => string | null

/** Compares each name once. */
function comparing(known: readonly string[]): Nearest {
  const compared = new Map<string, string | null>()
  return (name) => {
    const earlier = compared.get(name)
    if (earlier !== undefined) return earlier
    const nearest = nearestName(name, known)
    compared.set(name, nearest)
    return nearest
  }
}

function misplacedOf(
  unknown: readonly string[],
  places: ReadonlyMap<string, string>,
  nearest: Nearest,
): readonly string[] {
  const misspelt = unknown.slice(0, MOST_COMPARED).filter((name) => nearest(name) !== null)
  return unknown.filter((name) => places.has(name) || misspelt.includes(name))
}

/** @param other the place of a field that has no place and is like no known one; null: unknown */
function hintsOf(
  names: readonly string[],
  places: ReadonlyMap<string, string>,
  nearest: Nearest,
  other: string | null,
): string {
  return names
    .map((name) => {
      const place = name === 'organizationId' ? OF_ORGANIZATION : places.get(name)
      if (place !== undefined) return ` "${name}": ${place}.`
      const known = nearest(name)
      if (known !== null) return ` "${name}": did you mean "${known}"?`
      return other === null ? '' : ` "${name}": ${other}.`
    })
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
  { organizationId: _checked, ...body }: Readonly<Record<string, unknown>>,
  strict: boolean,
): Readonly<Record<string, unknown>> {
  // A schema that accepts all fields leaves them to the next reader.
  if (!(schema instanceof z.ZodObject) || schema.def.catchall instanceof z.ZodUnknown) return body
  assertKnownFields(schema, body, strict ? 'all' : 'misplaced')
  if (schema.def.catchall !== undefined) return body
  const known = Object.keys(schema.shape).filter((name) => Object.hasOwn(body, name))
  return Object.fromEntries(known.map((name) => [name, body[name]]))
}
