import type { ChannelName } from '../../src/domain/channel.ts'
import type { Channel, Message, SendContext } from '../../src/ports/channel.ts'

/** What a test's provider does with one message; the answer is not typed, because plug-ins may answer anything. */
export type Behaviour = (message: Message, context: SendContext) => unknown

export interface RecordingChannel extends Channel {
  /** Every hand-over, in order. */
  readonly calls: { readonly message: Message; readonly context: SendContext }[]
  /** Replaces what it does from now on. */
  behave(behaviour: Behaviour): void
}

/** A provider that remembers what it was asked, and accepts unless told otherwise. */
export function recordingChannel(
  options: Partial<Omit<Channel, 'channel' | 'send'>> & {
    readonly channel?: ChannelName
    readonly send?: Behaviour
  } = {},
): RecordingChannel {
  const calls: RecordingChannel['calls'] = []
  let behaviour: Behaviour =
    options.send ??
    ((_message, context) => ({ kind: 'accepted', providerMessageId: `m-${context.notificationId}` }))
  return {
    name: 'recorder',
    channel: 'email',
    ...options,
    calls,
    behave(next) {
      behaviour = next
    },
    send(message, context) {
      calls.push({ message, context })
      return behaviour(message, context) as ReturnType<Channel['send']>
    },
  }
}
