import { invalidOption } from './invalid-option.ts'

/** The type of an option, and the valid values to follow "must be". */
export interface OptionRule {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
  readonly required?: true
}

/** All options of a type; a missing one does not compile. True: the function checks it itself. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true | OptionRule }

export const ofType = (type: string, expected: string): OptionRule => ({
  expected,
  holds: (value) => typeof value === type,
})

export const BOOLEAN: OptionRule = ofType('boolean', 'true or false')
export const FUNCTION: OptionRule = ofType('function', 'a function')
export const TEXT: OptionRule = {
  expected: 'non-empty text',
  holds: (value) => typeof value === 'string' && value !== '',
}
export const COUNT: OptionRule = {
  expected: 'a whole number of at least 1',
  holds: (value) => Number.isInteger(value) && Number(value) >= 1,
}

export function oneOf(...values: readonly string[]): OptionRule {
  const [last, ...others] = values.map((value) => `"${value}"`).reverse()
  return {
    expected: `${others.reverse().join(', ')} or ${last}`,
    holds: (value) => values.some((each) => each === value),
  }
}

export function objectWith(...methods: readonly string[]): OptionRule {
  return {
    expected: `an object with the ${methods.length === 1 ? 'method' : 'methods'} ${methods.join(', ')}`,
    holds(value) {
      const found = Object(value) as Readonly<Record<string, unknown>>
      return methods.every((method) => typeof found[method] === 'function')
    },
  }
}

/**
 * Refuses values that are not objects, unknown options (a misspelt option would keep its default), and options of the
 * wrong type (`'false'` would be truthy).
 *
 * @param maker the function that takes the options
 * @throws NotifierError `invalid_configuration`
 */
export function assertOptionNames<Options>(
  maker: string,
  options: Options,
  names: OptionNames<Options>,
): void {
  if (typeof options !== 'object' || options === null)
    throw invalidOption('options', `${maker}: the options must be an object with ${listed(names)}.`)
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(names, name))
      throw invalidOption(name, `${maker}: "${name}" is not an option: use ${listed(names)}.`)
  }
  for (const [name, rule] of Object.entries<true | OptionRule>(names)) {
    const value: unknown = options[name as keyof Options]
    if (rule === true || (value === undefined ? !rule.required : rule.holds(value))) continue
    throw invalidOption(name, `${maker}: "${name}" must be ${rule.expected}.`)
  }
}

function listed(names: object): string {
  return Object.keys(names).join(', ')
}
