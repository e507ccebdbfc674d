import * as z from 'zod'
import { NotifierError } from '../errors/notifier-error.ts'
import { isFields, isWellFormed } from './json.ts'

export type Metadata = Readonly<Record<string, string>>

const MAX_PAIRS = 20
const MAX_VALUE = 500
/** Bytes of all names and values in UTF-8. */
const MAX_BYTES = 4_096
/** Not `__proto__`: copies and parsers of objects lose that name. */
const NAME = /^(?!__proto__$)[A-Za-z0-9_.-]{1,40}$/
const NAMES = '1 to 40 letters, digits, "_", "." and "-", other than "__proto__"'
/** Of a name in an error. */
const MAX_SHOWN = 60

/** Metadata of a send or a template. Wrong metadata is 422, and the error names the pair. */
export const metadataInput: z.ZodType<Metadata, Metadata> = z
  .custom<Metadata>((value) => isFields(value), { message: 'must be a plain object' })
  .transform((given) => soundMetadata(given, 422))
  .meta({
    type: 'object',
    maxProperties: MAX_PAIRS,
    propertyNames: { pattern: NAME.source },
    additionalProperties: { type: 'string', maxLength: MAX_VALUE },
  })

/** Pairs to filter by. Checked before they are a record, which would drop the name `__proto__`. */
export const metadataFilter: z.ZodType<Metadata, Metadata> = z.preprocess(
  (given) => (isFields(given) ? soundMetadata(given, 400) : given),
  z.record(z.string(), z.string().max(MAX_VALUE)),
) as unknown as z.ZodType<Metadata, Metadata>

/** A copy of metadata. @throws NotifierError `invalid_parameter`, which names the pair */
function soundMetadata(given: Readonly<Record<string, unknown>>, status: 400 | 422): Metadata {
  const refused = (field: string, rule: string): NotifierError => refusal(field, rule, status)
  const names = Object.keys(given)
  if (names.length > MAX_PAIRS) throw refused('metadata', `must have at most ${MAX_PAIRS} pairs`)
  const pairs = names.map((name): [string, string] => {
    const field = `metadata.${name.slice(0, MAX_SHOWN)}`
    if (!NAME.test(name)) throw refused(field, `must have a name of ${NAMES}`)
    const value = given[name]
    if (typeof value !== 'string') throw refused(field, 'must be a text')
    if (value.length > MAX_VALUE) throw refused(field, `must have at most ${MAX_VALUE} characters`)
    if (!isWellFormed(value)) throw refused(field, 'must be well-formed Unicode')
    return [name, value]
  })
  return withinSize(Object.fromEntries(pairs), status)
}

function withinSize(metadata: Metadata, status: 400 | 422): Metadata {
  const bytes = Object.entries(metadata).reduce(
    (sum, [name, value]) => sum + name.length + Buffer.byteLength(value),
    0,
  )
  if (bytes > MAX_BYTES)
    throw refusal('metadata', `must have at most ${MAX_BYTES} bytes of names and values`, status)
  return metadata
}

/**
 * The metadata of a notification: the pairs of its send win over those of its template. Undefined: none.
 *
 * @throws NotifierError `invalid_parameter` (422) if both together are too many
 */
export function mergedMetadata(
  template: Metadata | null | undefined,
  own: Metadata | undefined,
): Metadata | undefined {
  const merged =
    template == null || own === undefined ? (own ?? template ?? undefined) : { ...template, ...own }
  if (merged === undefined) return undefined
  const count = Object.keys(merged).length
  if (count > MAX_PAIRS)
    throw refusal('metadata', `must have at most ${MAX_PAIRS} pairs together with that of the template`, 422)
  return count === 0 ? undefined : withinSize(merged, 422)
}

function refusal(field: string, rule: string, status: 400 | 422): NotifierError {
  return new NotifierError('invalid_parameter', {
    status,
    message: `"${field}": ${rule}.`,
    details: { field },
  })
}
