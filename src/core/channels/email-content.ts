/** A mailbox: an address with an optional display name. */
export interface MailAddress {
  readonly address: string
  /** Display name, on one line. Absent: none. */
  readonly name?: string | undefined
}

/** A {@link MailAddress} as a call accepts it: also `ada@example.com` or `Ada <ada@example.com>`. */
export type MailAddressInput = string | MailAddress

/** Methods of a calendar invitation (RFC 5546). */
export const CALENDAR_METHODS = ['REQUEST', 'CANCEL', 'REPLY', 'PUBLISH'] as const

export type CalendarMethod = (typeof CALENDAR_METHODS)[number]

/** A calendar object in a mail (RFC 6047). Mail clients show its buttons next to the text. */
export interface CalendarContent {
  readonly method: CalendarMethod
  /** An iCalendar object (RFC 5545), from `BEGIN:VCALENDAR`, with the same `METHOD`. At most 256 KiB. */
  readonly content: string
}

interface CommonContent {
  /**
   * Additional headers: at most 20, each on one line of at most 900 characters. Own names begin with `X-`. Headers of
   * the mail format itself are refused. So are those on which mail systems may act (`X-SES-…`,
   * `Disposition-Notification-To`), unless the option `email.allowedHeaders` lists them. `In-Reply-To` and `References`
   * consist of message ids: `<id@example.com>`.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Id of an earlier mail of the organization (`notif_…`), in whose thread mail programs show this one: sets
   * `In-Reply-To` and `References`, unless `headers` has them. Without effect if the earlier mail is gone, or its provider
   * (Resend) does not tell its Message-ID.
   */
  readonly inReplyTo?: string | undefined
  /** A calendar invitation. */
  readonly calendar?: CalendarContent | undefined
  /**
   * True: adds a signed link for one-click unsubscription (RFC 8058), which suppresses the recipient. Requires the
   * option `publicUrl` with https, and one addressee: no `cc` and no `bcc`. Default: false.
   */
  readonly unsubscribe?: boolean | undefined
}

/** Parts of an e-mail besides its text. */
export interface EmailContent extends CommonContent {
  /** The sender. Default: the provider's `from` option. */
  readonly from?: MailAddress | undefined
  /** Addresses for replies. Default: the provider's `replyTo` option, if it has one. */
  readonly replyTo?: readonly MailAddress[] | undefined
  /** Recipients of a copy, whom all recipients see. */
  readonly cc?: readonly MailAddress[] | undefined
  /** Recipients of a hidden copy. */
  readonly bcc?: readonly MailAddress[] | undefined
  /** At most 10 files and 7 MiB in total. */
  readonly attachments?: readonly (AttachmentContent | AttachedUpload)[] | undefined
}

interface AttachmentFields {
  /** File name without a path, at most 255 characters. */
  readonly filename: string
  /** Media type, for example `application/pdf`. */
  readonly contentType: string
  /**
   * Id of an inline image, to which the HTML refers as `cid:…`: at most 100 letters, digits and `._+@-`, unique in the mail.
   * Absent: the file is an attachment.
   */
  readonly cid?: string | undefined
}

/** A file in an e-mail. */
export interface AttachmentContent extends AttachmentFields {
  /** Padded base64 without line breaks. */
  readonly content: string
}

/** An uploaded file in a stored e-mail. Each attempt reads its content. */
export interface AttachedUpload extends AttachmentFields {
  /** Id of the upload: `att_…`. */
  readonly id: string
  /** Size in bytes. */
  readonly size: number
  /** Only while a message is composed; other messages share the bytes. */
  readonly content?: Uint8Array | undefined
}

/** An {@link EmailContent} as a call accepts it. */
export interface EmailInput extends CommonContent {
  /**
   * The sender, instead of the provider's `from`. A provider of the channel must allow it (option `senders`), and so
   * must the organization if it has a list of senders.
   */
  readonly from?: MailAddressInput | undefined
  /** One address for replies, or at most 10. Default: the provider's `replyTo` option, if it has one. */
  readonly replyTo?: MailAddressInput | readonly MailAddressInput[] | undefined
  /** One recipient of a copy whom all recipients see, or at most 50. */
  readonly cc?: MailAddressInput | readonly MailAddressInput[] | undefined
  /** One recipient of a hidden copy, or at most 50. */
  readonly bcc?: MailAddressInput | readonly MailAddressInput[] | undefined
  /** At most 10 files and 7 MiB in total. Over HTTP, `maxBodyBytes` (1 MiB) limits what is not uploaded before. */
  readonly attachments?: readonly AttachmentInput[] | undefined
}

/** An {@link AttachmentContent} as a call accepts it. */
export type AttachmentInput = AttachmentWithContent | AttachmentFromFile | AttachmentFromUpload

/** A file whose content is given. */
export interface AttachmentWithContent extends AttachmentFields {
  /**
   * Bytes (a `Buffer` is a `Uint8Array`), copied by the call; padded base64 without line breaks; or a stream of bytes or
   * text, which the call reads to its end before it accepts. Do not change the message until then. Over HTTP: base64.
   */
  readonly content: string | Uint8Array | ArrayBuffer | AsyncIterable<Uint8Array | string>
  readonly path?: undefined
  readonly id?: undefined
}

/** A file that a call from code reads before it accepts the message. Refused over HTTP. */
export interface AttachmentFromFile extends Omit<AttachmentFields, 'filename'> {
  /** Path of a file. */
  readonly path: string
  /** Default: the name of the file. */
  readonly filename?: string | undefined
  readonly content?: undefined
  readonly id?: undefined
}

/** A file that `attachments.upload` or `POST /v1/attachments` has stored. It stays as long as the message. */
export interface AttachmentFromUpload extends Pick<AttachmentFields, 'cid'> {
  /** Id of the upload: `att_…`. */
  readonly id: string
  /** Default: that of the upload. */
  readonly filename?: string | undefined
  readonly contentType?: undefined
  readonly content?: undefined
  readonly path?: undefined
}

/** An {@link EmailContent} in responses: attachments have a size, and only inline images their content. */
export interface ShownEmail extends Omit<EmailContent, 'attachments'> {
  readonly attachments?: readonly AttachmentRecord[] | undefined
}

/** An attachment without its content, unless it is an inline image: a part of what the mail looks like. */
export interface AttachmentRecord extends AttachmentFields {
  /** Size in bytes. */
  readonly size: number
  /** In base64. Only of inline images, of up to 2 MiB in a mail; of an upload only in a stored message. */
  readonly content?: string | undefined
}

/** An {@link EmailContent} as providers receive it. */
export interface EmailParts extends Omit<EmailContent, 'attachments' | 'inReplyTo' | 'unsubscribe'> {
  readonly attachments?: readonly Attachment[] | undefined
  /** HTTPS address of the one-click unsubscription (RFC 8058), for List-Unsubscribe and List-Unsubscribe-Post. */
  readonly unsubscribeUrl?: string | undefined
}

/** A file in an e-mail. */
export interface Attachment extends AttachmentFields {
  readonly content: Uint8Array
}
