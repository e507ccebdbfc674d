import * as z from 'zod'
import { NotifierError } from '../../src/domain/errors/notifier-error.ts'
import type { RetryPolicy } from '../../src/domain/retry.ts'

/**
 * Checks the options of a plug-in, once, when it is created.
 *
 * @throws NotifierError `invalid_configuration`, naming the plug-in, the option and what is right; never the value.
 */
export function checkOptions<Schema extends z.ZodType>(
  plugin: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  const result = schema.safeParse(options, { error: whatIsRight })
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const option =
    issue?.code === 'unrecognized_keys' ? issue.keys.join(', ') : (issue?.path.map(String).join('.') ?? '')
  const known = 'shape' in schema ? `: use ${Object.keys(schema.shape as object).join(', ')}` : ''
  const what =
    issue?.code === 'unrecognized_keys' ? `is not an option${known}` : (issue?.message ?? 'is wrong')
  throw wrongOption(plugin, option === '' ? 'options' : option, what)
}

/** The option `retry`, whose fields are judged with the notifier. */
export const retryPolicy: z.ZodType<RetryPolicy> = z.custom<RetryPolicy>(
  (value) => typeof value === 'object' && value !== null,
  'must be an object',
)

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

/** For the faults that a schema has no words of its own for; zod's say what was received, not what to do. */
function whatIsRight(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'must be given'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'too_small':
      if (issue.origin === 'number') return `must be at least ${issue.minimum}`
      return issue.minimum === 1 ? 'must not be empty' : undefined
    case 'too_big':
      return issue.origin === 'number' ? `must be at most ${issue.maximum}` : undefined
    case 'invalid_union':
      return issue.errors.map(([first]) => wordsOf(first)).join(', or ')
    default:
      return undefined
  }
}

/** The fault of one of several forms, which may lie within it. */
function wordsOf(issue: z.core.$ZodIssue | undefined): string {
  const within = issue?.path.map(String).join('.') ?? ''
  return within === '' ? (issue?.message ?? 'is wrong') : `"${within}" ${issue?.message}`
}

/** The error for an option whose fault no schema can see. */
export function wrongOption(plugin: string, option: string, what: string): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `${plugin}: "${option}": ${what}.`,
    details: { option },
  })
}
