import type { ChannelName } from './channel.ts'
import { NotifierError } from './errors/notifier-error.ts'
import type { JsonFields } from './json-fields.ts'
import { isObeyedHeader } from './mail-parts.ts'

/** What a message may carry beside its text, by channel. Sent as it is: placeholders in it are not expanded. */
export interface MessageParts {
  /** On `email` only. */
  readonly email?: EmailContent | undefined
  /** On `push` only. */
  readonly push?: PushContent | undefined
  /** On `slack` only. */
  readonly slack?: SlackContent | undefined
}

/** What an e-mail may carry beside its text. */
export interface EmailContent {
  /** Where answers go: one plain address. Default: as the provider's options say. */
  readonly replyTo?: string | undefined
  /**
   * More headers, at most 20, on one line each and at most 900 characters long. Those that mail itself is made of are
   * refused, and those that relays obey (`X-SMTPAPI`, `X-SES-…`) unless the option `email.allowedHeaders` names them.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** At most 10, and 7 MiB in all. Over HTTP the limit of bodies (`maxBodyBytes`, 1 MiB) comes first. */
  readonly attachments?: readonly AttachmentContent[] | undefined
  /**
   * True: the mail carries a signed link for a one-click unsubscription (RFC 8058), which suppresses the recipient. Needs
   * the option `publicUrl`, with https. Default false.
   */
  readonly unsubscribe?: boolean | undefined
}

/** A file in an e-mail. */
export interface AttachmentContent {
  /** Without a path; at most 255 characters. */
  readonly filename: string
  /** A media type such as `application/pdf`. */
  readonly contentType: string
  /** Base64, padded, without line breaks. */
  readonly content: string
}

/** An {@link EmailContent} as a call takes it. */
export interface EmailInput extends Omit<EmailContent, 'attachments'> {
  /** At most 10, and 7 MiB in all. Over HTTP the limit of bodies (`maxBodyBytes`, 1 MiB) comes first. */
  readonly attachments?: readonly AttachmentInput[] | undefined
}

/** An {@link AttachmentContent} as a call takes it. */
export interface AttachmentInput extends Omit<AttachmentContent, 'content'> {
  /** Bytes (a `Buffer` is a `Uint8Array`), or base64, padded, without line breaks; over HTTP base64. Copied by the call. */
  readonly content: string | Uint8Array | ArrayBuffer
}

/** What a push message may carry beside its text. */
export interface PushContent {
  /** For the application on the device; at most 4 KB of keys and values. */
  readonly data?: Readonly<Record<string, string>> | undefined
}

/** What a Slack message may carry beside its text, which stays the text of notifications. */
export interface SlackContent {
  /** Block Kit blocks, 1 to 50, at most 100 000 characters of JSON. */
  readonly blocks?: readonly JsonFields[] | undefined
}

const PARTS = ['email', 'push', 'slack'] as const satisfies readonly ChannelName[]

/**
 * The parts for a channel.
 *
 * @throws NotifierError `invalid_parameter` when there are parts for another one
 */
export function partsFor(channel: ChannelName, parts: MessageParts): MessageParts {
  for (const name of PARTS) {
    if (parts[name] === undefined || name === channel) continue
    throw new NotifierError('invalid_parameter', {
      message: `"${name}" is for the channel ${name}; this notification goes by ${channel}.`,
      details: { field: name, channel },
    })
  }
  return partsIn(parts)
}

/**
 * Refuses headers that mail relays obey: they could choose another sender, recipients or templates.
 *
 * @param allowed names in lower case that may be set all the same
 * @throws NotifierError `invalid_parameter`
 */
export function assertHeaders({ email }: MessageParts, allowed: ReadonlySet<string>): void {
  for (const name of Object.keys(email?.headers ?? {})) {
    if (!isObeyedHeader(name) || allowed.has(name.toLowerCase())) continue
    throw new NotifierError('invalid_parameter', {
      message: `"email.headers": mail relays obey "${name}". Leave it out, or name it in the option "email.allowedHeaders".`,
      details: { field: 'email.headers', header: name, option: 'email.allowedHeaders' },
    })
  }
}

/** The parts in something larger; empty where it has none. */
export function partsIn({ email, push, slack }: MessageParts): MessageParts {
  return {
    ...(email === undefined ? {} : { email }),
    ...(push === undefined ? {} : { push }),
    ...(slack === undefined ? {} : { slack }),
  }
}
