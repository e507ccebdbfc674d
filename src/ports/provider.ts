import type { EmailParts } from '../channels/email-parts.ts'
import type { PushContent } from '../channels/push.ts'
import type { SlackContent } from '../channels/slack.ts'
import type { ChannelKind } from '../domain/channel-kind.ts'
import type { BodyFormat } from '../domain/notification.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { RetryPolicy } from '../domain/retry.ts'
import type { Logger } from './logger.ts'
import type { ConfirmedReceipts, ParsedReceipts, ReceiptRequest } from './receipts.ts'

/**
 * One way to deliver one channel's messages: an SMTP server, an SMS account, a Slack app.
 * A plug-in is a function that returns an object like this; see docs/custom-provider.md.
 */
export interface Provider<out Kind extends ChannelKind = AnyKind> {
  /** The channel that it serves. Left out, the key of the option `channels` says it, for a channel that is built in. */
  readonly kind?: Kind | undefined
  /**
   * Instance id: unique among the providers of its channel, stable over restarts, because attempts and receipts
   * refer to it. Lower-case letters, digits and hyphens, at most 64 characters.
   */
  readonly name: string
  /** Most messages that may be under way at one time. Default 10. */
  readonly maxConcurrent?: number | undefined
  /**
   * Most messages that may be handed over in any second, by all processes together that share the rate limiter: a whole
   * number, or a fraction below 1 (0.5: one in two seconds). Default: no limit.
   */
  readonly maxPerSecond?: number | undefined
  /** How long one `send` may take, in milliseconds, before its signal aborts. Default 30 000. */
  readonly timeoutMs?: number | undefined
  /** When failed attempts are tried again. Default: 8 attempts, exponential with full jitter, 1 s to 15 min. */
  readonly retry?: RetryPolicy | undefined
  /**
   * What follows when nobody knows whether the provider acted. `retry` where a duplicate is harmless or the
   * provider deduplicates; `fail` ends the notification as `delivery_unknown`. Default `retry`.
   */
  readonly onAmbiguous?: 'retry' | 'fail' | undefined
  /**
   * Tells whether this provider can reach the recipient at all (a kind of device token). MUST answer true or false at once,
   * not a promise. Default: yes.
   */
  accepts?(to: string): boolean
  /**
   * Hands one message to the provider.
   *
   * MUST answer with an outcome for everything that a provider can do; an exception is taken as `ambiguous`.
   * MUST NOT retry by itself. MUST stop soon after `context.signal` aborts. Is called at most `maxConcurrent`
   * times in parallel. Only `accepted` may be answered once the provider has taken responsibility.
   */
  send(message: Message<Kind>, context: SendContext): Promise<Outcome>
  /**
   * Reads what the provider reports after the hand-over (`POST /receipts/{channel}/{name}`). Verifies the signature over
   * the raw bytes before it reads anything else; compares in constant time. Answers `refused` for what is not proven to
   * come from the provider; never throws over what it cannot read: an unknown report is a `reported` fact.
   */
  parseReceipts?(request: ReceiptRequest): Promise<ParsedReceipts>
  /**
   * Answers a provider that asks, before it reports, whether this address takes its reports (`GET
   * /receipts/{channel}/{name}`). Compares in constant time. Null: it did not prove itself, and the answer is 401. Left out:
   * such requests are 404.
   */
  confirmReceipts?(request: ReceiptRequest): ConfirmedReceipts | null
  /**
   * Gets what it needs of this machine, such as an optional package; asks nobody outside. Awaited before the first `send`;
   * what it rejects with, the start of the notifier rejects with. One that takes longer than 30 seconds ends the start with
   * `service_unavailable`.
   */
  open?(): Promise<void>
  /** Asks the provider, without sending, whether the configuration works. Rejects with the reason. */
  check?(): Promise<void>
  /** Releases sockets and timers. Called once, after the last `send` has ended. */
  close?(): Promise<void> | void
}

/** A rendered message, with the parts of its channel under the channel's name. */
export type Message<Kind extends ChannelKind = AnyKind> = MessageText & NonNullable<Kind['~parts']>

/** A kind that the compiler does not know. */
export interface AnyKind extends ChannelKind {
  readonly '~parts'?: BuiltInParts | undefined
}

/** What every message has. */
export interface MessageText {
  /** The recipient, whose form was validated for the channel. */
  readonly to: string
  /** Without line breaks; null where none was given. */
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** The text alternative that was given beside HTML. Absent: none was, so that one is to be made. */
  readonly text?: string | undefined
  /**
   * The HTML of the body before its opening and its links were counted, to make a text alternative of. Absent: the body is
   * it.
   */
  readonly untracked?: string | undefined
}

/** The parts of the channels that are built in; present only what the caller gave. */
export interface BuiltInParts {
  readonly email?: EmailParts | undefined
  readonly push?: PushContent | undefined
  readonly slack?: SlackContent | undefined
  readonly [channel: string]: unknown
}

/** What a provider may use during one `send`. */
export interface SendContext {
  readonly notificationId: string
  readonly organizationId: string
  /** Number of this attempt, from 1. */
  readonly attempt: number
  /**
   * The same for all attempts of one notification, until it is retried: for providers that deduplicate, and for stable message
   * ids. The notification's id, with a suffix after a retry: letters, digits, `_` and `-`, at most 64 characters.
   */
  readonly idempotencyKey: string
  /** When the notification was accepted; epoch milliseconds. */
  readonly createdAt: number
  /** Aborts when the time for this attempt is over or the notifier stops. */
  readonly signal: AbortSignal
  readonly logger: Logger
  /**
   * Runs synchronous work on a large message, such as composing a mail, without holding up the messages of others: a
   * generator that yields after each piece of a fraction of a millisecond. The pieces run in slices of a few milliseconds, in
   * which organizations take turns. Work that is small ends at once. Throws or rejects as the generator does, and
   * between two pieces with the reason of `signal` once that has aborted.
   */
  readonly runInSlices: <Result>(steps: Iterator<undefined, Result>) => Result | Promise<Result>
}
