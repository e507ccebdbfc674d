import * as z from 'zod'
import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames, MOST_NAMES, shortName } from '../listed-names.ts'

/**
 * Refuses fields that a schema does not name. Only the object itself is looked at: what is nested in an input is free
 * (`variables`) or a list of inputs, whose items are judged one by one.
 *
 * @throws NotifierError `invalid_parameter`, naming them
 */
export function assertKnownFields(schema: z.ZodType, input: unknown): void {
  if (!(schema instanceof z.ZodObject) || typeof input !== 'object' || input === null) return
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(schema.shape, name))
  if (unknown.length === 0) return
  const names = unknown.slice(0, MOST_NAMES).map(shortName)
  throw new NotifierError('invalid_parameter', {
    message: `Unknown ${unknown.length === 1 ? 'field' : 'fields'}: ${listedNames(unknown)}.`,
    details: { field: names[0], fields: names, expected: Object.keys(schema.shape) },
  })
}
