import type { ChannelKind } from '../../domain/channel-kind.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { CHANNEL_NAME } from '../../domain/input/fields.ts'
import { assertMethods, assertObject, wrong } from '../option-checks.ts'

/** The known channel kinds: those of the configured channels and the built-in ones. */
export interface Kinds {
  readonly known: ReadonlyMap<string, ChannelKind>
  /** For a channel that is no longer configured, a kind of plain text: its stored notifications remain readable. */
  of(channel: string): ChannelKind
}

/** Fields of a message: a channel with such a name could have no parts. */
const FIELDS = ['channel', 'to', 'subject', 'body', 'html', 'text', 'template', 'variables', 'data', 'format']
const TAKEN: ReadonlySet<string> = new Set([
  ...FIELDS,
  'sensitive',
  'priority',
  'recipient',
  'category',
  'metadata',
])
const METHODS = [
  'checkRecipient',
  'canonical',
  'assertPermitted',
  'escape',
  'assertParts',
  'wantsUnsubscribe',
  'renderParts',
  'showParts',
  'isBlank',
  'assertText',
  'measure',
] as const satisfies readonly (keyof ChannelKind)[]

export function createKinds(known: ReadonlyMap<string, ChannelKind>): Kinds {
  return { known, of: (channel) => known.get(channel) ?? { name: channel, recipient: 'a text' } }
}

/** The error for an unknown channel. */
export function unknownChannel(channel: string, { known }: Kinds): NotifierError {
  return new NotifierError('invalid_channel', {
    message: `There is no channel "${channel}" here; known: ${[...known.keys()].join(', ')}.`,
    details: { field: 'channel' },
  })
}

/**
 * @param option name of the kind's source in errors
 * @throws NotifierError `invalid_configuration`
 */
export function assertKind(option: string, kind: ChannelKind): void {
  assertObject(`${option}.kind`, kind)
  if (typeof kind.name !== 'string' || !CHANNEL_NAME.test(kind.name) || TAKEN.has(kind.name)) {
    const right = '1 to 32 lower-case letters, digits and hyphens, beginning with a letter'
    throw wrong(`${option}.kind.name`, `${right}, and not the name of a message field`)
  }
  if (typeof kind.recipient !== 'string' || kind.recipient === '')
    throw wrong(`${option}.kind.recipient`, 'a text such as "a chat id"')
  for (const method of METHODS)
    if (kind[method] !== undefined) assertMethods(`${option}.kind`, kind, [method])
  const { parts } = kind
  if (parts !== undefined && typeof parts?.safeParse !== 'function')
    throw wrong(`${option}.kind.parts`, 'a schema of zod')
}
