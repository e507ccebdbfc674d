import * as z from 'zod'
import type { RetryPolicy } from '../../../src/core/delivery/retry-delay.ts'
import { invalidOption } from '../../../src/core/errors/invalid-option.ts'
import type { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { expectedValue } from '../../../src/core/input/expected-value.ts'

/**
 * Validates the options of a plug-in when it is created.
 *
 * @throws NotifierError `invalid_configuration` with the plug-in, the option and its valid values; never the given
 *   value
 */
export function checkOptions<Schema extends z.ZodType>(
  plugin: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  const result = schema.safeParse(options, { error: expectedValue })
  if (result.success) return result.data
  const issue = result.error.issues[0]
  const path = issue?.path.map(String) ?? []
  if (issue?.code === 'unrecognized_keys') {
    const named = (name: string): string => [...path, name].join('.')
    const known = namesAt(schema, path).map(named).join(', ')
    throw wrongOption(plugin, named(issue.keys[0] ?? ''), `is not an option: use ${known}`)
  }
  throw wrongOption(plugin, path.join('.') || 'options', issue?.message ?? 'is wrong')
}

/** Member names that a schema allows at a path. */
function namesAt(schema: unknown, path: readonly string[]): string[] {
  const object = schema instanceof z.ZodOptional || schema instanceof z.ZodPrefault ? schema.unwrap() : schema
  if (!(object instanceof z.ZodObject)) return []
  const [name, ...rest] = path
  return name === undefined ? Object.keys(object.shape) : namesAt(object.shape[name], rest)
}

/** The option `name`: the instance's name, unique among the providers of its channel. */
export const instanceName: z.ZodType<string> = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be lower-case letters, digits and hyphens, at most 64')

/** The option `timeoutMs`. */
export const timeout: z.ZodType<number> = z.int().min(1).max(600_000, 'must be at most 600000 milliseconds')

/** Secrets that prove the origin of receipts. During a rotation, the old one and the new one. */
export interface ReceiptSecrets {
  readonly secret: readonly string[]
}

/** An option that takes one value or a non-empty list. Returns a list. */
export function oneOrSeveral<One>(one: z.ZodType<One>): z.ZodType<One[]> {
  return z.union([one.transform((value) => [value]), z.array(one).min(1)])
}

/** The option `retry`. The notifier validates its fields. */
export const retryPolicy: z.ZodType<RetryPolicy> = z.custom<RetryPolicy>(
  (value) => typeof value === 'object' && value !== null,
  'must be an object',
)

/** True for a host name or address of this machine. */
export function isThisMachine(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i.test(host)
}

/** The error for an option whose fault a schema cannot express. */
export function wrongOption(plugin: string, option: string, what: string): NotifierError {
  return invalidOption(option, `${plugin}: "${option}": ${what}.`)
}
