import type { ChannelKind, StoredParts } from '../channels/channel-kind.ts'
import type { EmailParts } from '../channels/email-content.ts'
import type { PushContent } from '../channels/push.ts'
import type { SlackContent } from '../channels/slack.ts'
import type { SmsContent } from '../channels/sms.ts'
import type { RetryPolicy } from '../delivery/retry-delay.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import type { BodyFormat } from '../notification/notification.ts'
import type { Outcome } from '../notification/outcome.ts'
import type { Logger } from './logger.ts'
import type { ProxyFor } from './outgoing.ts'
import type { ConfirmedReceipts, ParsedReceipts, ReceiptRequest } from './receipts.ts'

/**
 * Delivers the messages of one channel: an SMTP server, an SMS account, a Slack app. A plug-in is a function that
 * returns such an object; see docs/tasks/custom-provider.md.
 */
export interface Provider<out Kind extends ChannelKind = AnyKind> {
  /** The channel. Default: the built-in channel named by the key in the option `channels`. */
  readonly kind?: Kind | undefined
  /**
   * Instance id: unique in the channel, and stable over restarts because attempts and receipts refer to it. Lower-case
   * letters, digits and hyphens, at most 64 characters.
   */
  readonly name: string
  /** Maximum number of concurrent messages. Default 10. */
  readonly maxConcurrent?: number | undefined
  /**
   * Maximum number of messages per second, over all processes that share the rate limiter: a whole number, or a
   * fraction below 1 (0.5: one message every two seconds). Default: no limit.
   */
  readonly maxPerSecond?: number | undefined
  /** Timeout of a `send` in milliseconds; then its signal aborts. Default 30 000. */
  readonly timeoutMs?: number | undefined
  /**
   * Addresses and domains from which messages may come, in canonical form: those of mail are checked for SPF, DKIM and DMARC
   * by `carillon doctor`. Default: unknown.
   */
  readonly senders?: readonly string[] | undefined
  /** When to repeat failed attempts. Default: 8 attempts, exponential with full jitter, 1 s to 15 min. */
  readonly retry?: RetryPolicy | undefined
  /**
   * What to do if the result of an attempt is unknown. `retry` is right if a duplicate is harmless or the provider
   * deduplicates; `fail` ends the notification with `delivery_unknown`. Default `retry`.
   */
  readonly onAmbiguous?: 'retry' | 'fail' | undefined
  /**
   * Whether this provider can reach the recipient (a kind of device token). MUST return a boolean synchronously.
   * Default: true.
   */
  accepts?(to: string): boolean
  /**
   * Why this provider cannot carry the parts of a message to a recipient that it accepts, such as a foreign sender or
   * media; null: it can. Called only for messages with parts: at accept, where a message that no provider can carry is
   * refused with the first provider's reason, and before each attempt, where the others are not chosen. The parts are
   * as stored, before `renderParts`. MUST return synchronously. Default: null.
   */
  refuses?(parts: StoredParts<Kind>, to: string): PartsRefusal | null
  /**
   * What a later message names to be shown in the thread of one that this provider accepted, such as the Message-ID of a
   * mail. Null: unknown. MUST return synchronously. Default: null.
   */
  threadIdOf?(earlier: EarlierMessage<Kind>): string | null
  /**
   * Hands one message to the provider.
   *
   * MUST return an outcome for every answer of the provider; an exception counts as `ambiguous`. MUST NOT retry by
   * itself. MUST stop soon after `context.signal` aborts. At most `maxConcurrent` calls run in parallel. Return
   * `accepted` only if the provider has taken responsibility.
   */
  send(message: Message<Kind>, context: SendContext): Promise<Outcome>
  /**
   * Parses what the provider reports after the hand-over (`POST /receipts/{channel}/{name}`). Verifies the signature
   * over the raw bytes first, in constant time. Returns `refused` for a request of unproven origin. Never throws
   * because of the content: an unknown report becomes a `reported` fact.
   */
  parseReceipts?(request: ReceiptRequest): Promise<ParsedReceipts>
  /**
   * Answers a provider that verifies the address before it sends reports (`GET /receipts/{channel}/{name}`). Compares
   * in constant time. Null: the caller did not authenticate; the answer is 401. Absent: the answer is 404.
   */
  confirmReceipts?(request: ReceiptRequest): ConfirmedReceipts | null
  /**
   * Loads what the provider needs on this machine, such as an optional package, and takes the proxy; no network. Awaited
   * before the first `send`. If it rejects, `start()` of the notifier rejects with the same error; after 30 seconds with
   * `service_unavailable`.
   */
  open?(context: OpenContext): Promise<void>
  /** Checks the configuration with the provider, without sending. Rejects with the reason. */
  check?(): Promise<void>
  /** Releases sockets and timers. Called once, after the last `send`. */
  close?(): Promise<void> | void
}

/** Context of `open`. */
export interface OpenContext {
  /**
   * Chooses the proxy of each request, by the notifier's option `proxy` or else by the environment. `providerHttp` takes
   * it with `through`.
   */
  readonly proxyFor: ProxyFor
}

/** A message that another one answers. */
export interface EarlierMessage<out Kind extends ChannelKind = AnyKind> {
  /** The idempotency key of its attempts, unless it was retried after it had failed. */
  readonly notificationId: string
  readonly to: string
  /** As stored, before `renderParts`. Undefined: it has none, or they are removed. */
  readonly parts: StoredParts<Kind> | undefined
  /** The provider's id for the message. Null: it is not accepted yet. */
  readonly providerMessageId: string | null
}

/** Why a provider cannot carry a message's parts. Shown to the caller: no secrets. */
export interface PartsRefusal {
  /** `invalid_sender` for a sender, otherwise usually `invalid_content`. */
  readonly code: ErrorCode
  /** What the provider cannot do, and what to do instead. */
  readonly message: string
  /** The part at fault, as a path below the channel's name: `from`. Absent: all of them. */
  readonly field?: string | undefined
}

/** A rendered message, with the parts of its channel under the channel's name. */
export type Message<Kind extends ChannelKind = AnyKind> = MessageText & NonNullable<Kind['~parts']>

/** A kind unknown at compile time. */
export interface AnyKind extends ChannelKind {
  readonly '~parts'?: BuiltInParts | undefined
}

/** The fields of every message. */
export interface MessageText {
  /** The recipient, in a form that is valid for the channel. */
  readonly to: string
  /** Without line breaks. Null: none. */
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** The text alternative of an HTML body. Absent: the provider makes one. */
  readonly text?: string | undefined
  /**
   * The HTML body without tracking of opens and clicks, as the source of a text alternative. Absent: the body is not
   * tracked.
   */
  readonly untracked?: string | undefined
  /**
   * Short texts of the application, such as an order number, for the provider's own reports and webhooks. Absent: the
   * message has none, or the notifier hands none over.
   */
  readonly metadata?: Readonly<Record<string, string>> | undefined
}

/** The parts of the built-in channels. A part is present only if the message has it. */
export interface BuiltInParts {
  readonly email?: EmailParts | undefined
  readonly push?: PushContent | undefined
  readonly slack?: SlackContent | undefined
  readonly sms?: SmsContent | undefined
  readonly [channel: string]: unknown
}

/** Context of one `send`. */
export interface SendContext {
  readonly notificationId: string
  readonly organizationId: string
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /**
   * The same for all attempts of a notification until a retry. For providers that deduplicate, and for stable message
   * ids. The notification's id, with a suffix after a retry: letters, digits, `_` and `-`, at most 64 characters.
   */
  readonly idempotencyKey: string
  /** Time of the accept, in epoch milliseconds. */
  readonly createdAt: number
  /** Milliseconds until the notification expires, from the hand-over. Null: it never expires. */
  readonly expiresInMs: number | null
  /** Aborts at the timeout of the attempt, or when the notifier stops. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /**
   * Runs synchronous work on a large message, such as composing a mail, without blocking other messages. The generator
   * yields after each piece of a fraction of a millisecond. The pieces run in slices of a few milliseconds, round-robin
   * over the organizations. Small work ends synchronously. Throws or rejects as the generator does, and with the reason
   * of `signal` once that has aborted.
   */
  readonly runInSlices: <Result>(steps: Iterator<undefined, Result>) => Result | Promise<Result>
}
