import { email, push, slack, sms, webhook } from '../../src/core/channels/built-in.ts'
import type { ChannelKind } from '../../src/core/channels/channel-kind.ts'
import type { EmailKind } from '../../src/core/channels/email.ts'
import type { PushKind } from '../../src/core/channels/push.ts'
import type { SlackKind } from '../../src/core/channels/slack.ts'
import type { SmsKind } from '../../src/core/channels/sms.ts'
import type { WebhookKind } from '../../src/core/channels/webhook.ts'
import { invalidOption } from '../../src/core/errors/invalid-option.ts'
import { assertOptionNames, BOOLEAN, COUNT, type OptionNames } from '../../src/core/errors/option-names.ts'
import type { Served } from '../../src/core/lifecycle/notifier-internals.ts'
import type { Provider } from '../../src/core/ports/provider.ts'
import { notBegun } from '../channels/kit/unsent.ts'
import { createServer } from './server.ts'
import { type CaughtMessage, createStore } from './store.ts'

export type { CaughtMessage } from './store.ts'

export interface DevMailboxOptions {
  /** Most messages that are kept; older ones are dropped. @default 500 */
  readonly maxMessages?: number | undefined
  /** Most bytes of all messages with their files, roughly; older ones are dropped. @default 67 108 864 (64 MiB) */
  readonly maxBytes?: number | undefined
  /**
   * Answers requests from everywhere and under every host name: in a container, or behind a proxy. All its clients can
   * then read every message. @default false: this machine alone, as `localhost` or by an IP address
   */
  readonly allowRemote?: boolean | undefined
  /** Works although `NODE_ENV` is `production`, such as in a staging environment. @default false */
  readonly allowInProduction?: boolean | undefined
}

/** A mailbox for development. Give it to an HTTP adapter instead of a notifier, to view it in a browser. */
export interface DevMailbox extends Served {
  /** The option `channels` of a notifier: providers of all built-in channels, which send nothing. */
  readonly channels: {
    readonly email: Provider<EmailKind>
    readonly sms: Provider<SmsKind>
    readonly push: Provider<PushKind>
    readonly slack: Provider<SlackKind>
    readonly webhook: Provider<WebhookKind>
  }
  /** A provider of another channel: `telegram: mailbox.provider(telegramChannel)`. */
  provider<Kind extends ChannelKind>(kind: Kind): Provider<Kind>
  /**
   * The messages that it has, newest first.
   *
   * @param filter those to this address and of this channel alone
   */
  messages(filter?: {
    readonly to?: string | undefined
    readonly channel?: string | undefined
  }): readonly CaughtMessage[]
  /** Drops all messages. */
  clear(): void
}

const OPTIONS: OptionNames<DevMailboxOptions> = {
  maxMessages: COUNT,
  maxBytes: COUNT,
  allowRemote: BOOLEAN,
  allowInProduction: BOOLEAN,
}

/**
 * Creates a mailbox that catches what is sent in development, and shows it in a browser. It keeps messages in memory.
 *
 * @throws NotifierError `invalid_configuration` for an invalid option, and where `NODE_ENV` is `production`
 *
 * @example
 * const mailbox = devMailbox()
 * const notifier = createNotifier({ channels: mailbox.channels })
 * app.use('/mailbox', notifierRouter(mailbox))
 */
export function devMailbox(options: DevMailboxOptions = {}): DevMailbox {
  assertOptionNames('devMailbox()', options, OPTIONS)
  const { maxMessages = 500, maxBytes = 64 * 1024 * 1024 } = options
  const { allowRemote = false, allowInProduction = false } = options
  if (process.env.NODE_ENV === 'production' && !allowInProduction) {
    throw invalidOption(
      'allowInProduction',
      'devMailbox() sends nothing, so it refuses to work where NODE_ENV is "production". Use real providers there; for a ' +
        'staging environment set allowInProduction: true.',
    )
  }
  const store = createStore({ maxMessages, maxBytes })

  function provider<Kind extends ChannelKind>(kind: Kind): Provider<Kind> {
    return {
      name: 'dev-mailbox',
      kind,
      // It answers at once.
      timeoutMs: 1_000,
      async send(message, context) {
        if (context.signal.aborted) return notBegun()
        const { id } = store.add(kind, message, context)
        return { kind: 'accepted', providerMessageId: `dev-${id}` }
      },
    }
  }

  return {
    internals: createServer(store, allowRemote),
    channels: {
      email: provider(email),
      sms: provider(sms),
      push: provider(push),
      slack: provider(slack),
      webhook: provider(webhook),
    },
    provider,
    messages: ({ to, channel } = {}) =>
      store
        .entries()
        .map(({ caught }) => caught)
        .filter(
          (caught) =>
            (to === undefined || caught.message.to === to) &&
            (channel === undefined || caught.channel === channel),
        ),
    clear: store.clear,
  }
}
