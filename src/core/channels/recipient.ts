import { invalidOption } from '../errors/invalid-option.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { ERASED_ADDRESS } from '../notification/erased-fact.ts'
import { type ChannelKind, isPlainLine, MAX_RECIPIENT_LENGTH, type RecipientFault } from './channel-kind.ts'

/**
 * Checks a recipient's form.
 *
 * @throws NotifierError `invalid_email`, `invalid_phone` or `invalid_recipient`, with the field in `details`
 */
export function assertRecipient(kind: ChannelKind, to: string): void {
  const fault = faultOf(kind, to)
  if (fault === null) return
  const { code = 'invalid_recipient', message, expected } = fault
  throw new NotifierError(code, {
    message:
      message ?? (code === 'invalid_recipient' ? `The recipient must be ${kind.recipient}.` : undefined),
    details: {
      field: 'to',
      channel: kind.name,
      received: to.slice(0, 100),
      ...(expected === undefined ? {} : { expected }),
    },
  })
}

function faultOf(kind: ChannelKind, to: string): RecipientFault | null {
  // The storage would take the message for one of an erased person.
  if (to.length > MAX_RECIPIENT_LENGTH || to === ERASED_ADDRESS) return {}
  if (kind.checkRecipient === undefined) return isPlainLine(to) ? null : {}
  const fault: unknown = kind.checkRecipient(to)
  if (typeof fault === 'object' && !(fault instanceof Promise)) return fault
  throw wrongResult(kind, 'checkRecipient', 'null for a valid recipient, otherwise an object')
}

/**
 * The canonical form of a recipient in suppressions and preferences, so that other spellings match.
 *
 * @throws NotifierError `invalid_configuration`: with one address for all, a suppression would block every recipient
 */
export function suppressedAddress(kind: ChannelKind, to: string): string {
  if (kind.canonical === undefined) return to
  const address: unknown = kind.canonical(to)
  if (typeof address === 'string' && address !== '') return address
  throw wrongResult(kind, 'canonical', 'a text that is not empty')
}

function wrongResult({ name }: ChannelKind, hook: keyof ChannelKind, expected: string): NotifierError {
  const message = `The channel kind "${name}": ${hook}() must return ${expected}, at once.`
  return invalidOption(`${name}.kind.${hook}`, message)
}
