import { NotifierError } from './notifier-error.ts'

/** Every option of a type by its name: one that is missing here does not compile. */
export type OptionNames<Options> = { readonly [Name in keyof Options]-?: true }

/**
 * Refuses what is no object, and options that nobody knows: a slip would silently leave the default.
 *
 * @param maker the function that takes the options
 * @throws NotifierError `invalid_configuration`
 */
export function assertOptionNames<Options>(
  maker: string,
  options: Options,
  names: { readonly [Name in keyof Options]-?: unknown },
): void {
  if (typeof options !== 'object' || options === null)
    throw wrong('options', `${maker}: the options must be an object with ${listed(names)}.`)
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(names, name))
      throw wrong(name, `${maker}: "${name}" is not an option: use ${listed(names)}.`)
  }
}

function listed(names: object): string {
  return Object.keys(names).join(', ')
}

function wrong(option: string, message: string): NotifierError {
  return new NotifierError('invalid_configuration', { message, details: { option } })
}
