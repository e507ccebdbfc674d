import { isNotifierError, NotifierError } from '../domain/errors/notifier-error.ts'
import { mayHaveMore, parseInTurns } from './json-in-turns.ts'
import type { BodyLimits, HttpRequest } from './message.ts'

const JSON_TYPE = /^application\/(?:json|[\w.!#$&^-]+\+json)\s*(?:;(.*))?$/i
const CHARSET = /^\s*charset\s*=\s*"?([^";\s]+)"?\s*$/i
/** Deepest nesting of a body: whoever walks through it must not run out of stack. */
const MAX_DEPTH = 64
/**
 * Most values and names of a body, in a batch of each item. Names and short texts are costly to parse: V8 keeps each
 * distinct one in a table. The largest `variables` have 10 000 of each.
 */
const MAX_VALUES = 25_000
const NOTHING = Object.freeze({})
const decoder = new TextDecoder('utf-8', { fatal: true })

export function tooLarge(limit: number): NotifierError {
  return new NotifierError('payload_too_large', {
    message: `The request body is larger than ${limit} bytes. Send less in one request.`,
    details: { limit },
  })
}

/**
 * Reads the JSON object in a request. A host application's parser may have read it before; then its result counts.
 *
 * A body without Content-Type is taken for JSON: nothing else is ever accepted here, and a wrong guess is answered
 * with `invalid_json` anyway.
 *
 * @param optional an empty body is an empty object
 * @throws NotifierError `unsupported_media_type`, `payload_too_large`, `invalid_json`, `invalid_parameter` for JSON
 *   that is no object, and what `readBody` throws
 */
export async function readJsonObject(
  request: HttpRequest,
  limits: BodyLimits,
  optional = false,
): Promise<Readonly<Record<string, unknown>>> {
  assertJson(request.header('content-type'))
  const parsed = request.parsedBody
  if (parsed !== undefined) {
    assertDeclaredSize(request, limits)
    return asObject(parsed)
  }
  assertNotEncoded(request.header('content-encoding'))
  const bytes = await request.readBody(limits)
  if (optional && bytes.length === 0) return NOTHING
  return mayHaveMore(bytes, MAX_VALUES) ? parseLong(bytes) : asObject(parseJson(bytes))
}

/**
 * Reads a body as it came: signatures are made over its bytes.
 *
 * @throws NotifierError `invalid_configuration` when a parser of the host has turned it into something else, and what
 *   `readBody` throws
 */
export async function readRaw(request: HttpRequest, limits: BodyLimits): Promise<Uint8Array> {
  if (request.parsedBody !== undefined) {
    throw new NotifierError('invalid_configuration', {
      message:
        'A body parser of the host application has read this request, and its signature needs the bytes as they came. ' +
        'Mount Carillon before the parser, or let the parser leave out the paths below "/receipts".',
    })
  }
  assertNotEncoded(request.header('content-encoding'))
  return request.readBody(limits)
}

/**
 * Reads a form as it came, or as it is once more after a parser of the host: nobody signs it, so nothing is lost.
 *
 * @throws NotifierError `payload_too_large`, and what `readBody` throws
 */
export async function readForm(request: HttpRequest, limits: BodyLimits): Promise<Uint8Array> {
  const { parsedBody } = request
  if (parsedBody === undefined) return readRaw(request, limits)
  assertDeclaredSize(request, limits)
  const fields = typeof parsedBody === 'object' && parsedBody !== null ? Object.entries(parsedBody) : []
  const texts = fields.filter((field): field is [string, string] => typeof field[1] === 'string')
  return Buffer.from(new URLSearchParams(texts).toString())
}

/** The host has read it all the same; the limit says what is taken. */
function assertDeclaredSize(request: HttpRequest, { bytes: limit }: BodyLimits): void {
  if (Number(request.header('content-length') ?? 0) > limit) throw tooLarge(limit)
}

function assertJson(contentType: string | undefined): void {
  if (contentType === undefined || contentType === 'application/json') return
  const match = JSON_TYPE.exec(contentType)
  if (match === null) throw new NotifierError('unsupported_media_type')
  for (const parameter of match[1]?.split(';') ?? []) {
    const charset = CHARSET.exec(parameter)?.[1]?.toLowerCase()
    if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
      throw new NotifierError('unsupported_media_type', {
        message: 'JSON is sent in UTF-8 and nothing else.',
      })
    }
  }
}

/** Inflating is left out: a small body could then become any size. */
function assertNotEncoded(encoding: string | undefined): void {
  if (encoding !== undefined && encoding !== '' && encoding.toLowerCase() !== 'identity') {
    throw new NotifierError('unsupported_media_type', {
      message: 'The request body must not be compressed: leave Content-Encoding out.',
    })
  }
}

/** The cause stays out of the answer: V8 quotes the input in it. */
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

/** What may have so many values that everything else would wait while it is parsed. */
async function parseLong(bytes: Uint8Array): Promise<Readonly<Record<string, unknown>>> {
  const limits = { values: MAX_VALUES, depth: MAX_DEPTH }
  const refuse = (limit: 'values' | 'depth'): never => {
    throw limit === 'depth' ? tooDeep() : tooMany()
  }
  try {
    return fieldsOf(await parseInTurns(decoder.decode(bytes), limits, refuse))
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
      message: 'The request body must be a JSON object.',
      details: { field: 'body', expected: 'object' },
    })
  }
  return value as Readonly<Record<string, unknown>>
}

function tooDeep(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The request body is nested more than ${MAX_DEPTH} levels deep.`,
    details: { field: 'body' },
  })
}

function tooMany(): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The request body, or an item of a list in it, has more than ${MAX_VALUES} values and names. Send fewer.`,
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
