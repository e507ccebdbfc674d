import type { ChannelName } from '../domain/channel.ts'
import type { BodyFormat } from '../domain/notification.ts'
import type { Outcome } from '../domain/outcome.ts'
import type { RetryPolicy } from '../domain/retry.ts'
import type { Logger } from './logger.ts'
import type { ParsedReceipts, ReceiptRequest } from './receipts.ts'

/**
 * One way to deliver one channel's messages: an SMTP server, an SMS account, a Slack app.
 * A plug-in is a function that returns an object like this; see docs/custom-provider.md.
 */
export interface Provider {
  /**
   * Instance id: unique among the providers of its channel, stable over restarts, because attempts and receipts
   * refer to it. Lower-case letters, digits and hyphens, at most 64 characters.
   */
  readonly name: string
  readonly channel: ChannelName
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
  send(message: Message, context: SendContext): Promise<Outcome>
  /**
   * Reads what the provider reports after the hand-over (`POST /receipts/{channel}/{name}`). Verifies the signature over
   * the raw bytes before it reads anything else; compares in constant time. Answers `refused` for what is not proven to
   * come from the provider; never throws over what it cannot read: an unknown report is a `reported` fact.
   */
  parseReceipts?(request: ReceiptRequest): Promise<ParsedReceipts>
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

/** A rendered message. */
export interface Message {
  /** The recipient, whose form was validated for the channel. */
  readonly to: string
  /** Without line breaks; null where none was given. */
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** Present only for what the caller gave, on `email`. */
  readonly email?: EmailParts | undefined
  /** Present only for what the caller gave, on `push`. */
  readonly push?: PushParts | undefined
  /** Present only for what the caller gave, on `slack`. */
  readonly slack?: SlackParts | undefined
}

/** What an e-mail may carry beside its text. */
export interface EmailParts {
  /** A plain address. */
  readonly replyTo?: string | undefined
  /** More headers, names and values already judged: no line breaks, none that the mail system owns. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly attachments?: readonly Attachment[] | undefined
  /** HTTPS address of the one-click unsubscription (RFC 8058): goes into List-Unsubscribe and List-Unsubscribe-Post. */
  readonly unsubscribeUrl?: string | undefined
  /**
   * The HTML of the body before its opening and its links were counted: what a text alternative is made of. Absent: the
   * body is it.
   */
  readonly untracked?: string | undefined
}

/** A file in an e-mail. */
export interface Attachment {
  readonly filename: string
  /** A media type. */
  readonly contentType: string
  readonly content: Uint8Array
}

/** What a push message may carry beside its text; its `subject` is the title. */
export interface PushParts {
  /** For the application on the device. */
  readonly data?: Readonly<Record<string, string>> | undefined
}

/** What a Slack message may carry beside its text, which stays the fallback. */
export interface SlackParts {
  /** Block Kit blocks. */
  readonly blocks?: readonly Readonly<Record<string, unknown>>[] | undefined
}

/** What a channel may use during one `send`. */
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
