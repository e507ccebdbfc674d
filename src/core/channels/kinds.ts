import { NotifierError } from '../errors/notifier-error.ts'
import type { OptionRule } from '../errors/option-names.ts'
import { assertObject, wrong } from '../input/option-checks.ts'
import { type ChannelKind, KIND_MEMBERS } from './channel-kind.ts'

/** The known channel kinds: those of the configured channels and the built-in ones. */
export interface Kinds {
  readonly known: ReadonlyMap<string, ChannelKind>
  /** For a channel that is no longer configured, a kind of plain text: its stored notifications remain readable. */
  of(channel: string): ChannelKind
}

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
  for (const [name, rule] of Object.entries<true | OptionRule>(KIND_MEMBERS)) {
    if (rule === true) continue
    const value = kind[name as keyof ChannelKind]
    if (value === undefined ? rule.required : !rule.holds(value))
      throw wrong(`${option}.kind.${name}`, rule.expected)
  }
}
