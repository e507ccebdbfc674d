import { isNotifierError, NotifierError } from '../core/errors/notifier-error.ts'
import type { RunInSlices } from '../core/loop/processor.ts'
import type { BodyLimits, HttpRequest } from '../core/rest/message.ts'
import { type JsonLimits, mayExceed, parseIncrementally } from './incremental-json.ts'

const JSON_TYPE = /^application\/(?:json|[\w.!#$&^-]+\+json)\s*(?:;(.*))?$/i
const CHARSET = /^\s*charset\s*=\s*"?([^";\s]+)"?\s*$/i
/** Deepest nesting of a body: recursive code must not overflow its stack. */
const MAX_DEPTH = 64
/**
 * Most values and names of a body, or of each item in a batch. Names and short texts are costly to parse because V8
 * interns each distinct one. The largest `variables` have 10 000 of each.
 */
const MAX_VALUES = 25_000
/** Most values and names of a whole batch. A value takes up to 40 times its bytes, so the bytes do not bound the memory. */
const MAX_BATCH_VALUES = 500_000
const NOTHING = Object.freeze({})
const decoder = new TextDecoder('utf-8', { fatal: true })

export function tooLarge(limit: number): NotifierError {
  return new NotifierError('payload_too_large', {
    message: `The request body is larger than ${limit} bytes. Send less in one request.`,
    details: { limit },
  })
}

/**
 * Reads the JSON object in a request. If a body parser of the host application ran first, its result counts.
 *
 * A body without Content-Type is parsed as JSON: the API accepts nothing else, and a wrong guess ends with
 * `invalid_json`.
 *
 * @param share runs the parsing of a body with many values
 * @param optional an empty body is an empty object
 * @throws NotifierError `unsupported_media_type`, `payload_too_large`, `invalid_json`, `invalid_parameter` if the JSON
 *   is not an object, and the errors of `readBody`
 */
export async function readJsonObject(
  request: HttpRequest,
  limits: BodyLimits,
  share: RunInSlices,
  optional = false,
): Promise<Readonly<Record<string, unknown>>> {
  assertJson(request.header('content-type'))
  const parsed = request.parsedBody
  if (parsed !== undefined) {
    assertDeclaredSize(request, limits)
    limits.arrived?.(declaredSize(request))
    return asObject(parsed)
  }
  assertNotEncoded(request.header('content-encoding'))
  const bytes = await request.readBody(limits)
  limits.arrived?.(bytes.length)
  if (optional && bytes.length === 0) return NOTHING
  return mayExceed(bytes, MAX_VALUES) ? parseLong(bytes, share) : asObject(parseJson(bytes))
}

/**
 * Reads a body byte for byte, because signatures cover its bytes, and files consist of them.
 *
 * @throws NotifierError the errors of `readBody`
 */
export async function readRaw(request: HttpRequest, limits: BodyLimits): Promise<Uint8Array> {
  assertNotEncoded(request.header('content-encoding'))
  return request.readBody(limits)
}

/**
 * Reads a form byte for byte, or re-encodes the result of a host's parser: forms are not signed.
 *
 * @throws NotifierError `payload_too_large`, and the errors of `readBody`
 */
export async function readForm(request: HttpRequest, limits: BodyLimits): Promise<Uint8Array> {
  const { parsedBody } = request
  if (parsedBody === undefined) return readRaw(request, limits)
  assertDeclaredSize(request, limits)
  return Buffer.from(new URLSearchParams(entriesOf(parsedBody).flatMap(textsOf)).toString())
}

function entriesOf(value: unknown): [name: string, value: unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/** A repeated field is a list to parsers, and to some of them an object of its positions if it is long. */
function textsOf([name, value]: readonly [string, unknown]): [string, string][] {
  const values = typeof value === 'string' ? [value] : entriesOf(value).map(([, each]) => each)
  return values.flatMap((each): [string, string][] => (typeof each === 'string' ? [[name, each]] : []))
}

/** Applies the limit to bodies that the host has already read. */
function assertDeclaredSize(request: HttpRequest, { bytes: limit }: BodyLimits): void {
  if (declaredSize(request) > limit) throw tooLarge(limit)
}

function declaredSize(request: HttpRequest): number {
  return Number(request.header('content-length') ?? 0)
}

function assertJson(contentType: string | undefined): void {
  if (contentType === undefined || contentType === 'application/json') return
  const match = JSON_TYPE.exec(contentType)
  if (match === null) throw new NotifierError('unsupported_media_type')
  for (const parameter of match[1]?.split(';') ?? []) {
    const charset = CHARSET.exec(parameter)?.[1]?.toLowerCase()
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
      throw new NotifierError('unsupported_media_type', {
        message: 'JSON must be encoded in UTF-8.',
      })
    }
  }
}

/** Refuses compressed bodies: a small one could inflate to any size. */
function assertNotEncoded(encoding: string | undefined): void {
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new NotifierError('unsupported_media_type', {
      message: 'The request body must not be compressed. Remove the header Content-Encoding.',
    })
  }
}

/** Drops the cause: V8 quotes the input in it. */
function parseJson(bytes: Uint8Array): unknown {
  if (bytes.length === 0) {
    throw new NotifierError('invalid_json', { message: 'The request has no body. Send one JSON object.' })
  }
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch (cause) {
    throw new NotifierError('invalid_json', { cause })
  }
}

/** Parses a body with so many values that parsing it at once would block the event loop. */
async function parseLong(bytes: Uint8Array, share: RunInSlices): Promise<Readonly<Record<string, unknown>>> {
  const limits = { values: MAX_VALUES, total: MAX_BATCH_VALUES, depth: MAX_DEPTH }
  const refuse = (limit: keyof JsonLimits): never => {
    throw REFUSALS[limit]()
  }
  try {
    return fieldsOf(await share(parseIncrementally(decoder.decode(bytes), limits, refuse)))
  } catch (cause) {
    throw isNotifierError(cause) ? cause : new NotifierError('invalid_json', { cause })
  }
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  const fields = fieldsOf(value)
  if (isShallow(fields, MAX_DEPTH)) return fields
  throw tooDeep()
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new NotifierError('invalid_parameter', {
      message: `The request body must be a JSON object${Array.isArray(value) ? ', such as { "notifications": [ … ] } for a batch' : ''}.`,
      details: { field: 'body', expected: 'object' },
    })
  }
  return value as Readonly<Record<string, unknown>>
}

const REFUSALS: Readonly<Record<keyof JsonLimits, () => NotifierError>> = {
  values: () =>
    new NotifierError('invalid_parameter', {
      message: `The request body, or an item of a list in it, has more than ${MAX_VALUES} values and names. Send fewer.`,
      details: { field: 'body' },
    }),
  total: () =>
    new NotifierError('invalid_parameter', {
      message: `The items of the request body have more than ${MAX_BATCH_VALUES} values and names in all. Send fewer items.`,
      details: { field: 'body' },
    }),
  depth: tooDeep,
}

function tooDeep(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The request body is nested more than ${MAX_DEPTH} levels deep.`,
    details: { field: 'body' },
  })
}

function isShallow(value: object, left: number): boolean {
  if (left === 0) return false
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof member === 'object' && member !== null && !isShallow(member, left - 1)) return false
  }
  return true
}
