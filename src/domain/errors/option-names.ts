import { NotifierError } from './notifier-error.ts'

/** Of which type an option is, and what is right, to follow "must be". */
export interface OptionRule {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
  /** It cannot be left out. */
  readonly required?: true
}

/** Every option of a type by its name: one that is missing here does not compile. True: its maker judges it. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true | OptionRule }

export const ofType = (type: string, expected: string): OptionRule => ({
  expected,
  holds: (value) => typeof value === type,
})

export const BOOLEAN: OptionRule = ofType('boolean', 'true or false')
export const FUNCTION: OptionRule = ofType('function', 'a function')

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
 * Refuses what is no object, options that nobody knows, since a slip would silently leave the default, and those of a wrong
 * type, since `'false'` would count as true.
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
    throw wrong('options', `${maker}: the options must be an object with ${listed(names)}.`)
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(names, name))
      throw wrong(name, `${maker}: "${name}" is not an option: use ${listed(names)}.`)
  }
  for (const [name, rule] of Object.entries<true | OptionRule>(names)) {
    const value: unknown = options[name as keyof Options]
    if (rule === true || (value === undefined ? !rule.required : rule.holds(value))) continue
    throw wrong(name, `${maker}: "${name}" must be ${rule.expected}.`)
  }
}

function listed(names: object): string {
  return Object.keys(names).join(', ')
}

function wrong(option: string, message: string): NotifierError {
  return new NotifierError('invalid_configuration', { message, details: { option } })
}
