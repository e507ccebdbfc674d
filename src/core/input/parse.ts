import type * as z from 'zod'
import type { ErrorCode } from '../errors/catalogue.ts'
import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import { expectedValue } from './expected-value.ts'

/**
 * Parses input with a schema and converts the first fault to an error of the catalogue: a missing field is
 * `missing_required_field` (422), an unknown channel `invalid_channel` (422), everything else `invalid_parameter`
 * (400). The message and `details.field` name the field.
 *
 * @param root name of the input in errors; fields of a `query` are called query parameters
 */
export function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  root = 'input',
): z.output<Schema> {
  return reading(root, () => {
    const result = schema.safeParse(input, { error: expectedValue })
    if (result.success) return result.data
    throw inputError(result.error.issues, input, root)
  })
}

/**
 * Reads an input that may throw, for example in a getter or `toJSON`.
 *
 * @throws NotifierError of the reader, or `invalid_parameter` with any other exception as its `cause`
 */
export function reading<Result>(root: string, read: () => Result): Result {
  try {
    return read()
  } catch (cause) {
    if (isNotifierError(cause)) throw cause
    throw new NotifierError('invalid_parameter', {
      message: `"${root}" cannot be read: a getter or toJSON threw an exception, see \`cause\`.`,
      details: { field: root },
      cause,
    })
  }
}

/** The name of a channel, or one of a list. */
const CHANNEL_FIELD = /^channel(?:s\.\d+)?$/

function inputError(issues: readonly z.core.$ZodIssue[], input: unknown, root: string): NotifierError {
  const rows = issues.map((issue) => ({
    issue,
    field: issue.path.map(String).join('.'),
    value: valueAt(input, issue.path),
  }))
  // A missing field is the most useful error, so it comes first.
  const row = rows.find(({ value, field }) => value === undefined && field !== '') ?? rows[0]
  if (row === undefined) return new NotifierError('invalid_parameter')
  const { issue, value } = row
  const field = row.field === '' ? root : row.field
  if (value === undefined && row.field !== '') {
    return new NotifierError('missing_required_field', {
      message: `The ${root === 'query' ? 'query parameter' : 'field'} "${field}" ${required(issue)}.`,
      details: { field },
    })
  }
  const code: ErrorCode =
    CHANNEL_FIELD.test(field) && typeof value === 'string' ? 'invalid_channel' : 'invalid_parameter'
  const expected = 'expected' in issue ? String(issue.expected) : undefined
  return new NotifierError(code, {
    message:
      code === 'invalid_channel'
        ? `"${String(value).slice(0, 50)}" is not the name of a channel, such as email.`
        : `"${field}": ${issue.message}.`,
    details: { field, ...(expected === undefined ? {} : { expected }) },
  })
}

/** A schema may say when a field is required. */
function required({ message }: z.core.$ZodIssue): string {
  return message.startsWith('is required') ? message : 'is required'
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Readonly<Record<PropertyKey, unknown>>)[key]
  }
  return value
}
