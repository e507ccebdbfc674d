import { CHANNELS } from '../domain/channel.ts'
import { NotifierError } from '../domain/errors/notifier-error.ts'
import { assertOptionNames } from '../domain/errors/option-names.ts'
import type { Channel } from '../ports/channel.ts'

/** Of which type an option is, and what is right, to follow "must be". */
interface Rule {
  readonly expected: string
  readonly holds: (value: unknown) => boolean
  /** It cannot be left out. */
  readonly required?: true
}

export type OptionRules<Options> = { readonly [Name in keyof Options]-?: Rule }

const ofType = (type: string, expected: string): Rule => ({
  expected,
  holds: (value) => typeof value === type,
})

export const TEXT: Rule = ofType('string', 'a text')
export const FUNCTION: Rule = ofType('function', 'a function')
const NUMBER = ofType('number', 'a number')

export const CHANNEL: Rule = {
  expected: `one of ${CHANNELS.join(', ')}`,
  holds: (value) => CHANNELS.some((channel) => channel === value),
}

/** Those of every channel; which of their values are possible is judged by `createNotifier`. */
export const COMMON_RULES: OptionRules<
  Pick<Channel, 'name' | 'maxConcurrent' | 'maxPerSecond' | 'timeoutMs' | 'retry' | 'onAmbiguous'>
> = {
  name: TEXT,
  maxConcurrent: NUMBER,
  maxPerSecond: NUMBER,
  timeoutMs: NUMBER,
  retry: {
    expected: 'an object',
    holds: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
  onAmbiguous: {
    expected: '"retry" or "fail"',
    holds: (value) => value === 'retry' || value === 'fail',
  },
}

/**
 * Refuses options that nobody knows, those of a wrong type, and what is missing.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function assertOptions<Options extends object>(
  maker: string,
  options: Options,
  rules: OptionRules<Options>,
): void {
  assertOptionNames(maker, options, rules)
  for (const [name, { expected, holds, required }] of Object.entries<Rule>(rules)) {
    const value: unknown = options[name as keyof Options]
    if (value === undefined ? !required : holds(value)) continue
    throw new NotifierError('invalid_configuration', {
      message: `${maker}: "${name}" must be ${expected}.`,
      details: { option: name },
    })
  }
}
