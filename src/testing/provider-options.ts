import { type OptionNames, type OptionRule, ofType, oneOf } from '../core/errors/option-names.ts'
import type { Provider } from '../core/ports/provider.ts'

export const TEXT: OptionRule = ofType('string', 'a text')
const NUMBER = ofType('number', 'a number')

/** The options of every provider; `createNotifier` checks their values. */
export const COMMON_RULES: OptionNames<
  Pick<Provider, 'name' | 'maxConcurrent' | 'maxPerSecond' | 'timeoutMs' | 'retry' | 'onAmbiguous'>
> = {
  name: TEXT,
  maxConcurrent: NUMBER,
  maxPerSecond: NUMBER,
  timeoutMs: NUMBER,
  retry: {
    expected: 'an object',
    holds: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  },
  onAmbiguous: oneOf('retry', 'fail'),
}
