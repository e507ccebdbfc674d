import type * as z from 'zod'
import type { ErrorCode } from '../errors/catalogue.ts'
import {
  assertOptionNames,
  BOOLEAN,
  COUNT,
  FUNCTION,
  type OptionNames,
  objectWith,
  ofType,
} from '../errors/option-names.ts'
import type { BodyFormat } from '../notification/notification.ts'
import type { LintFault, LintRule } from './lint.ts'

/**
 * A channel as a value: all rules of a channel. A provider of a channel that is not built in carries its kind. The REST
 * API, templates, suppressions, limits, logs and receipts use it. See docs/tasks/custom-channel.md.
 *
 * `Input` is the type of a message's parts in a call, `Stored` their form in the storage, `Parts` their form for
 * providers.
 */
export interface ChannelKind<Name extends string = string, Input = unknown, Stored = Input, Parts = Stored> {
  /** Exists in types only: the parts of a message under the channel's name. */
  readonly '~parts'?: { readonly [Key in Name]?: Parts | undefined } | undefined
  /** 1 to 32 lower-case letters, digits and hyphens, starting with a letter. Not the name of a message's field. */
  readonly name: Name
  /** Describes a recipient in error messages and OpenAPI: `an e-mail address`. */
  readonly recipient: string
  /**
   * Checks the form of a recipient; null: valid. Default: one line without spaces at its ends. Recipients of more than
   * 4,096 characters are refused before.
   */
  checkRecipient?(to: string): RecipientFault | null
  /** The same for all spellings of a recipient, for suppressions and preferences. Default: the recipient unchanged. */
  canonical?(to: string): string
  /**
   * Checks that an organization may send to the recipient, at the accept and before each attempt. @throws NotifierError
   * `region_not_permitted`
   */
  assertPermitted?(to: string, organization: OrganizationLimits): void
  /** Checks that an organization may send as the result of `senderOf`. @throws NotifierError `invalid_sender` */
  assertSender?(sender: string, organization: OrganizationLimits): void
  /** Whether a refused recipient is suppressed as a hard bounce, because it stays invalid. Default: false. */
  readonly suppressesRefused?: boolean | undefined
  /**
   * Whether an opt-out stops the whole channel, as STOP does for text messages: the recipient then gets nothing, not even of
   * a required category. Default false: it counts as an unsubscription.
   */
  readonly stops?: boolean | undefined
  /** Where the subject appears, in words: `the title`. Absent: subjects are not sent. */
  readonly subject?: string | undefined
  /** The body may be HTML, with tracking of opens and clicks. Default false. */
  readonly html?: boolean | undefined
  /** Escapes a template's value for its place in the body. Default: no escaping. */
  escape?(value: string, body: BodySource): string
  /**
   * The schema of a message's parts under the channel's name: a strict zod object whose fields have descriptions
   * (`describe`). Absent: no parts.
   */
  readonly parts?: z.ZodType<Stored, Input> | undefined
  /**
   * The parts may have a list `attachments` of files with a `content`, of at most `maxBytes` in total, decoded. Calls
   * from code may give streams and paths there; the schema then gets bytes, or an `UnreadableFile`. A file with an `id`
   * instead of `content` is an upload: after the schema it gets `filename`, `contentType` and `size`, and for
   * `renderParts` also its `content` as bytes, which messages share: do not change them. So it does for `showParts` of a
   * stored message, if `isShown` is true for it. Default: none.
   */
  readonly files?: { readonly maxBytes: number; isShown?(file: object): boolean } | undefined
  /** Further checks of the parts, at accept and at a resend. @throws NotifierError */
  assertParts?(parts: Stored): void
  /** The sender that the parts name, in canonical form, for `assertSender`. Default: none. */
  senderOf?(parts: Stored): string | undefined
  /** The recipients of copies that the parts name. Suppressed ones are left out before each attempt. Default: none. */
  copiesOf?(parts: Stored): readonly string[]
  /** The parts for providers without some of the recipients of `copiesOf`. Required with it. */
  leaveOut?(parts: Parts, addresses: ReadonlySet<string>): Parts
  /** Id of the notification that the message answers, in whose thread it is shown. Default: none. */
  answers?(parts: Stored): string | undefined
  /** Whether the parts ask for a one-click unsubscription link. Default: false. */
  wantsUnsubscribe?(parts: Stored): boolean
  /**
   * Whether a message that does not ask for such a link may carry one, because it has one addressee. Messages of a category
   * get it then, unless the category is required. Undefined: the message has no parts. Default: false.
   */
  mayUnsubscribe?(parts: Stored | undefined): boolean
  /** The parts with the sender of the category, unless they name one. Default: unchanged. */
  withSender?(parts: Stored | undefined, sender: string): Stored
  /** The parts for providers; `{}` means none. Default: as stored. */
  renderParts?(parts: Stored, links: PartLinks): Parts
  /** The parts for callers. Default: as stored. */
  showParts?(parts: Stored): unknown
  /**
   * Whether a recipient would see nothing of a message, so that it is refused. A message without a text is passed with
   * an empty body: parts that the kind does not call blank then replace the text. Default: no, and every message needs
   * a text.
   */
  isBlank?(message: CheckedMessage<Stored>): boolean
  /**
   * Checks the rendered text, at accept and before each attempt. @throws NotifierError `message_too_large`
   *
   * @param parts of the message; undefined: none
   */
  assertText?(text: RenderedText, parts?: Stored): void
  /** The charged segments of a text. Shown in previews under the channel's name. */
  measure?(text: RenderedText): { readonly segments: number }
  /** Rules of the channel for `templates.lint`. Default: none. */
  readonly lint?: ChannelLint<Stored> | undefined
}

/** Rules of a channel for texts, in addition to those for every channel. */
export interface ChannelLint<Stored = unknown> {
  /** By name in snake case. */
  readonly rules: Readonly<Record<string, LintRule>>
  /** Finds what breaks the rules. A generator may yield undefined in a long text: other work runs then. */
  find(text: LintedText<Stored>): Iterable<LintFault | undefined>
}

/** A text for a lint. */
export interface LintedText<Stored = unknown> extends RenderedText {
  /** The parts of the message. Undefined: none are given. */
  readonly parts: Stored | undefined
  /**
   * True: the text as an example would be sent, or as near as possible. False: the same template again with all its
   * sections, and tags instead of values, whose length is meaningless.
   */
  readonly isMeasured: boolean
}

/** A message's parts under the name of its channel, as stored. */
export type StoredParts<Kind extends ChannelKind> = z.output<NonNullable<Kind['parts']>>

/** Why a recipient is refused. */
export interface RecipientFault {
  /** Default `invalid_recipient`. */
  readonly code?: Extract<ErrorCode, 'invalid_recipient' | 'invalid_email' | 'invalid_phone'> | undefined
  /** Default: says that the recipient must be of the form that the kind's `recipient` describes. */
  readonly message?: string | undefined
  /** The valid form of the recipient. */
  readonly expected?: string | undefined
}

/** Settings of an organization that limit its recipients and senders. */
export interface OrganizationLimits {
  /** Permitted calling codes of text messages. Null: all. */
  readonly smsCountries: readonly string[] | null
  /** Addresses and domains that its mails may come from, in canonical form. Null: as the providers allow. */
  readonly senders: readonly string[] | null
}

/** The body that contains a value. */
export interface BodySource {
  readonly format: BodyFormat
  /** The literal text at the start of the body, without leading white space. Empty if the body starts with a value. */
  readonly beginning: string
}

/** The links of a message. */
export interface PartLinks {
  /** Present if the parts ask for it, or the category of the message brings it. */
  readonly unsubscribeUrl?: string | undefined
  /** The list of the category, as in the header `List-Id` without angle brackets. Absent: none. */
  readonly listId?: string | undefined
  /** What the provider of the message that this one answers names its thread by. Absent: none, or unknown. */
  readonly threadId?: string | undefined
}

/** Rendered text. */
export interface RenderedText {
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat
  /** The given text alternative of HTML. Absent: none. */
  readonly text?: string | undefined
}

/** A rendered message without its recipient. */
export interface CheckedMessage<Stored = unknown> {
  readonly subject: string | null
  readonly body: string
  readonly parts: Stored | undefined
}

/** Maximum length of a recipient, in characters: web push subscriptions are the longest. */
export const MAX_RECIPIENT_LENGTH = 4096

const SURROGATE_OR_CONTROL = /[\p{Cc}\p{Cs}\u2028\u2029]/u

/** True: one line of well-formed text without spaces at its ends. */
export function isPlainLine(text: string): boolean {
  return text.trim() === text && !SURROGATE_OR_CONTROL.test(text)
}

/** Lower-case letters, digits and hyphens, starting with a letter. */
export const CHANNEL_NAME: RegExp = /^[a-z][a-z0-9-]{0,31}$/

/** Fields of a message: a channel with such a name could have no parts. */
const FIELDS: ReadonlySet<string> = new Set([
  ...[
    'channel',
    'channels',
    'to',
    'subject',
    'body',
    'html',
    'text',
    'template',
    'variables',
    'data',
    'format',
  ],
  ...['sensitive', 'priority', 'recipient', 'category', 'metadata', 'locale', 'timeZone'],
])

function isFreeName(name: unknown): boolean {
  if (typeof name !== 'string' || !CHANNEL_NAME.test(name)) return false
  return !FIELDS.has(name) && !(name in Object.prototype)
}

/** The members of a kind. */
export const KIND_MEMBERS: OptionNames<Omit<ChannelKind, '~parts'>> = {
  name: {
    expected:
      '1 to 32 lower-case letters, digits and hyphens, beginning with a letter, and not the name of a message field ' +
      'or of a member of every object',
    holds: isFreeName,
    required: true,
  },
  recipient: {
    expected: 'a text such as "a chat id"',
    holds: (text) => typeof text === 'string' && text !== '',
    required: true,
  },
  checkRecipient: FUNCTION,
  canonical: FUNCTION,
  assertPermitted: FUNCTION,
  assertSender: FUNCTION,
  suppressesRefused: BOOLEAN,
  stops: BOOLEAN,
  subject: ofType('string', 'a text such as "the title"'),
  html: BOOLEAN,
  escape: FUNCTION,
  parts: { ...objectWith('safeParse'), expected: 'a schema of zod' },
  files: {
    expected: 'an object with "maxBytes", a whole number of at least 1',
    holds: (value) => COUNT.holds((value as { readonly maxBytes?: unknown } | null)?.maxBytes),
  },
  assertParts: FUNCTION,
  senderOf: FUNCTION,
  copiesOf: FUNCTION,
  leaveOut: FUNCTION,
  answers: FUNCTION,
  wantsUnsubscribe: FUNCTION,
  mayUnsubscribe: FUNCTION,
  withSender: FUNCTION,
  renderParts: FUNCTION,
  showParts: FUNCTION,
  isBlank: FUNCTION,
  assertText: FUNCTION,
  measure: FUNCTION,
  lint: objectWith('find'),
}

/**
 * Types and checks a kind of channel.
 *
 * @throws NotifierError `invalid_configuration` for an unknown or invalid member
 *
 * @example
 * const pager = defineChannel({
 *   name: 'pager',
 *   recipient: 'a pager number of 4 to 8 digits',
 *   checkRecipient: (to) => (/^\d{4,8}$/.test(to) ? null : {}),
 * })
 */
export function defineChannel<const Name extends string, Input = never, Stored = Input, Parts = Stored>(
  kind: ChannelKind<Name, Input, Stored, Parts>,
): ChannelKind<Name, Input, Stored, Parts> {
  assertOptionNames<object>('defineChannel', kind, KIND_MEMBERS)
  return kind
}
