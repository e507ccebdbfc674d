import * as z from 'zod'
import { NotifierError } from '../../src/domain/errors/notifier-error.ts'
import { whatIsRight } from '../../src/domain/input/what-is-right.ts'
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

/** The error for an option whose fault no schema can see. */
export function wrongOption(plugin: string, option: string, what: string): NotifierError {
  return new NotifierError('invalid_configuration', {
    message: `${plugin}: "${option}": ${what}.`,
    details: { option },
  })
}
