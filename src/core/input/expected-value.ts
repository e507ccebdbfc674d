import * as z from 'zod'
import { listedNames } from './listed-names.ts'
import { nearestName } from './nearest-name.ts'

/** For calls from code. */
export const OF_ORGANIZATION = 'call the same method of notifier.organization(id)'

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
  date: 'a Date',
}

/** The valid values for faults without a message in their schema: zod's own messages say only what was received. */
export function expectedValue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.input === undefined) return 'must be given'
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? issue.expected}${fieldsIn(namesOf(issue.inst))}`
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`
    case 'too_small':
      return bound('at least', issue.origin, Number(issue.minimum))
    case 'too_big':
      return bound('at most', issue.origin, Number(issue.maximum))
    case 'invalid_union':
      return issue.errors.map(([first]) => messageOf(first)).join(', or ')
    case 'unrecognized_keys':
      return unknownFields(issue.keys, namesOf(issue.inst))
    case 'invalid_key':
      return `a name in it ${messageOf(issue.issues[0])}`
    default:
      return undefined
  }
}

/** The names of an object's fields. Empty: the schema is not of an object. */
function namesOf(schema: unknown): readonly string[] {
  return schema instanceof z.ZodObject ? Object.keys(schema.shape) : []
}

function fieldsIn(names: readonly string[]): string {
  return names.length === 0 ? '' : `; its fields are ${listedNames(names)}`
}

function unknownFields(unknown: readonly string[], known: readonly string[]): string {
  const listed = listedNames(unknown, (name) => {
    const nearest = nearestName(name, known)
    if (nearest !== null) return `did you mean "${nearest}"?`
    return name === 'organizationId' ? OF_ORGANIZATION : null
  })
  return `has no ${unknown.length === 1 ? 'field' : 'fields'} ${listed}${fieldsIn(known)}`
}

/** Units of lengths. */
const PARTS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  string: ['character', 'characters'],
  array: ['item', 'items'],
}

function bound(side: 'at least' | 'at most', origin: string, limit: number): string {
  const parts = PARTS[origin]
  if (parts === undefined) return `must be ${side} ${limit}`
  if (side === 'at least' && limit === 1) return 'must not be empty'
  return `must have ${side} ${limit} ${parts[limit === 1 ? 0 : 1]}`
}

/** The fault of a union, which may be nested. */
function messageOf(issue: z.core.$ZodIssue | undefined): string {
  const within = issue?.path.map(String).join('.') ?? ''
  return within === '' ? (issue?.message ?? 'is wrong') : `"${within}" ${issue?.message}`
}
