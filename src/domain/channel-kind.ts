import type * as z from 'zod'
import type { ErrorCode } from './errors/catalogue.ts'
import type { BodyFormat } from './notification.ts'

/**
 * A channel as a value: everything that the service knows of it. A provider of a channel that is not built in carries its
 * kind; the REST API, templates, suppressions, limits, logs and receipts work from it. See docs/custom-channel.md.
 *
 * `Input` is what a call may give under the channel's name, `Stored` its form in the storage, `Parts` what providers get.
 */
export interface ChannelKind<Name extends string = string, Input = unknown, Stored = Input, Parts = Stored> {
  /** For types alone, and never there: the parts of a message under the channel's name. */
  readonly '~parts'?: { readonly [Key in Name]?: Parts | undefined } | undefined
  /** 1 to 32 lower-case letters, digits and hyphens, beginning with a letter, and no name of a field of a message. */
  readonly name: Name
  /** A recipient in words, for error messages and OpenAPI: `an e-mail address`. */
  readonly recipient: string
  /**
   * Judges the form of a recipient; null: it is sound. Default: one line without spaces at its ends. Longer ones than 4,096
   * characters are refused before.
   */
  checkRecipient?(to: string): RecipientFault | null
  /** The one spelling of a recipient, under which suppressions are kept and found. Default: as it is. */
  canonical?(to: string): string
  /** Judges where an organization may send to. @throws NotifierError `region_not_permitted` */
  assertPermitted?(to: string, organization: OrganizationLimits): void
  /** Whether a refused recipient stays refused, so that it is suppressed as a hard bounce. Default: no. */
  readonly suppressesRefused?: boolean | undefined
  /** What a subject becomes, in words: `the title`. Left out: subjects are not sent. */
  readonly subject?: string | undefined
  /** The body may be HTML; its opens and clicks can be counted. Default false. */
  readonly html?: boolean | undefined
  /** Escapes a template's value where it lands in the body. Default: not at all. */
  escape?(value: string, body: BodySource): string
  /**
   * What a message may carry beside its text, under the channel's name. An object schema of zod, strict, whose fields say
   * what they are (`describe`). Left out: nothing.
   */
  readonly parts?: z.ZodType<Stored, Input> | undefined
  /** Judges parts by more than their form, at accept and when a message is resent. @throws NotifierError */
  assertParts?(parts: Stored): void
  /** Whether the parts ask for a one-click unsubscription link. Default: no. */
  wantsUnsubscribe?(parts: Stored): boolean
  /** Parts as providers get them. Default: as they are stored. */
  renderParts?(parts: Stored, links: PartLinks): Parts
  /** Parts as callers are shown them. Default: as they are stored. */
  showParts?(parts: Stored): unknown
  /**
   * Whether a recipient would see nothing of a message, so that it is refused. A message without a text is asked about with
   * an empty body: parts that the kind does not call blank then stand in for the text. Default: no, and every message needs
   * a text.
   */
  isBlank?(message: JudgedMessage<Stored>): boolean
  /** Judges the rendered text, at accept and before each attempt. @throws NotifierError `message_too_large` */
  assertText?(text: RenderedText): void
  /** How the text travels and what it is charged as; shown in previews under the channel's name. */
  measure?(text: RenderedText): { readonly segments: number }
}

/** Why a recipient is refused. */
export interface RecipientFault {
  /** Default `invalid_recipient`. */
  readonly code?: Extract<ErrorCode, 'invalid_recipient' | 'invalid_email' | 'invalid_phone'> | undefined
  /** Default: the recipient must be what the kind's `recipient` says. */
  readonly message?: string | undefined
  /** The spelling that would be sound. */
  readonly expected?: string | undefined
}

/** Settings of an organization that limit where its messages go. */
export interface OrganizationLimits {
  /** Calling codes that text messages may go to; null: all. */
  readonly smsCountries: readonly string[] | null
}

/** The body that a value lands in. */
export interface BodySource {
  readonly format: BodyFormat
  /** The literal text that the body begins with, without white space before it; empty where a value comes first. */
  readonly beginning: string
}

/** The links that a message may carry. */
export interface PartLinks {
  /** Present where the parts want it. */
  readonly unsubscribeUrl?: string | undefined
}

/** Text ready for a channel. */
export interface RenderedText {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** The text alternative that was given beside HTML; absent: none was. */
  readonly text?: string | undefined
}

/** A rendered message without its recipient. */
export interface JudgedMessage<Stored = unknown> {
  readonly subject: string | null
  readonly body: string
  readonly parts: Stored | undefined
}

/** Longest recipient of any channel, in characters: a web push subscription is the longest that is known. */
export const MAX_RECIPIENT_LENGTH = 4096

const SURROGATE_OR_CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u

/** True for one line of well-formed text without spaces at its ends. */
export function isPlainLine(text: string): boolean {
  return text.trim() === text && !SURROGATE_OR_CONTROL.test(text)
}

/** Gives a kind its type: `defineChannel({ name: 'pager', recipient: 'a pager number', … })`. */
export function defineChannel<const Name extends string, Input = never, Stored = Input, Parts = Stored>(
  kind: ChannelKind<Name, Input, Stored, Parts>,
): ChannelKind<Name, Input, Stored, Parts> {
  return kind
}
