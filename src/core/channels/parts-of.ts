import type { ParsedSend } from '../accept/input.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { ChannelKind } from './channel-kind.ts'
import type { Kinds } from './kinds.ts'

/**
 * The parts of a message for its channel.
 *
 * @throws NotifierError `invalid_parameter` if it has parts for another channel
 */
export function partsOf(
  kind: ChannelKind,
  input: Readonly<Record<string, unknown>>,
  { known }: Kinds,
): unknown {
  for (const { name, parts } of known.values()) {
    if (name === kind.name || parts === undefined || input[name] === undefined) continue
    throw new NotifierError('invalid_parameter', {
      message: `"${name}" is for the channel ${name}; this notification uses ${kind.name}.`,
      details: { field: name, channel: kind.name },
    })
  }
  return kind.parts === undefined ? undefined : input[kind.name]
}

/** The parts of a message for a channel. Undefined: nothing, or it names another channel, which is a separate fault. */
export function partsFor(name: string, input: ParsedSend): unknown {
  const { channel = name, channels } = input
  return channel === name && channels?.includes(name) !== false ? input[name] : undefined
}
