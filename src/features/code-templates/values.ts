import { isNotifierError, NotifierError } from '../../core/errors/notifier-error.ts'
import { MOST_NAMES } from '../../core/input/listed-names.ts'
import type { SchemaIssue, SchemaResult, StandardSchema } from '../../core/input/standard-schema.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { answered, type CodePart } from './answered.ts'

/** Maximum length of a path, and of a sentence of a schema. */
const MOST_CHARACTERS = 200

/**
 * What the schema of a template makes of variables.
 *
 * @param sensitive true: sentences of the schema are left out, which may quote values
 * @throws NotifierError `invalid_template_variable` with the paths of the first faults, `template_error` if the schema
 *   itself fails or does not answer
 */
export async function readValues(
  name: string,
  schema: StandardSchema,
  given: Readonly<Record<string, unknown>>,
  sensitive: boolean,
  clock: Clock,
): Promise<unknown> {
  const result = await validated(name, schema, given, clock)
  if (result.issues === undefined) return result.value
  throw invalidValues(name, result.issues, sensitive)
}

async function validated(
  name: string,
  schema: StandardSchema,
  given: unknown,
  clock: Clock,
): Promise<SchemaResult<unknown>> {
  const part = { template: name, field: 'variables', what: 'The schema of the variables' }
  try {
    const result: unknown = await answered<unknown>(schema['~standard'].validate(given), part, clock)
    if (isResult(result)) return result
  } catch (cause) {
    throw isNotifierError(cause) ? cause : failed(part, cause)
  }
  throw failed(part, new TypeError('"validate" must return an object with "value" or a list of "issues".'))
}

/** A schema in plain JavaScript may forget to return. */
function isResult(result: unknown): result is SchemaResult<unknown> {
  if (typeof result !== 'object' || result === null) return false
  const { issues } = result as Partial<SchemaResult<unknown>>
  return issues === undefined ? 'value' in result : Array.isArray(issues)
}

function invalidValues(name: string, issues: readonly SchemaIssue[], sensitive: boolean): NotifierError {
  const shown = issues.slice(0, MOST_NAMES).map(({ path = [], message }) => ({
    field: shortened(`variables${path.map(segmentOf).join('')}`),
    ...(sensitive ? {} : { message: shortened(message) }),
  }))
  const [first = { field: 'variables' }] = shown
  const said = shown.map(
    (issue) => `"${issue.field}"${issue.message === undefined ? '' : `: ${issue.message}`}`,
  )
  const more = issues.length - shown.length
  return new NotifierError('invalid_template_variable', {
    message: `The template "${name}" does not take these variables: ${said.join('; ')}${more > 0 ? `; and ${more} more` : ''}.`,
    details: { field: first.field, issues: shown },
  })
}

/** As JavaScript writes it. */
function segmentOf(segment: NonNullable<SchemaIssue['path']>[number]): string {
  const key = typeof segment === 'object' ? segment.key : segment
  if (typeof key === 'number') return `[${key}]`
  const text = String(key)
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`
}

function shortened(text: string): string {
  const whole = String(text).replace(/\p{Cs}/gu, '\uFFFD')
  return whole.length > MOST_CHARACTERS
    ? `${whole.slice(0, MOST_CHARACTERS)}…`.replace(/\p{Cs}/gu, '')
    : whole
}

/** The error of a function of the application, whose own message may not be meant for callers of the REST API. */
export function failed({ template, field, what }: CodePart, cause: unknown): NotifierError {
  return new NotifierError('template_error', {
    message: `${what} of the template "${template}" failed. In code, its error is the \`cause\`.`,
    details: { template, field },
    cause,
  })
}
