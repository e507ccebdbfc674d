import * as z from 'zod'
import { type ChannelKind, isPlainLine, MAX_RECIPIENT_LENGTH } from '../channels/channel-kind.ts'
import { HIGHEST_BOUNDS } from '../input/bounds.ts'
import { channel, instant, jsonObject, text } from '../input/fields.ts'
import { isFields } from '../input/json.ts'
import { localeName, timeZoneName } from '../input/locale-fields.ts'
import { type Metadata, metadataInput } from '../input/metadata.ts'
import { categoryId } from '../notification/category-id.ts'
import { MAX_RECIPIENT_ID } from '../notification/labels.ts'
import type { BodyFormat, Priority } from '../notification/notification.ts'
import { namedInput } from '../rest/named.ts'
import { MAX_SUBJECT_LENGTH } from '../text/compile.ts'
import { assertOneText } from '../text/text-fields.ts'
import type {
  AnyTemplate,
  DeclaredTemplates,
  OfTemplate,
  OfTemplates,
  TemplateByChannel,
  TemplateFields,
  WithoutTemplate,
} from './declared-templates.ts'

/**
 * The parts of messages by channel: `{ email: EmailInput; sms: never }`. The type of a notifier contains those of its
 * channels.
 */
export type ChannelParts = object

/** For channels unknown at compile time: any name and any parts. */
export type AnyChannel = { readonly [channel: string]: unknown }

/**
 * A message to send: a template, or a channel with `html`, `text` or both, a `body`, or parts that stand in for a text. Or
 * such a text, or a template for each, on several channels of a person. Where the channels are known, a message that has none does not compile, nor does one for a channel that is not configured,
 * or with parts of another channel. Where templates are declared in code, a message with another name, or other values,
 * does not compile.
 */
export type SendInput<
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
> = string extends keyof Channels ? LooseSend<Templates> : SendOf<Channels, Templates>

type Text =
  | { readonly html: string; readonly body?: undefined }
  | { readonly text: string; readonly body?: undefined }
  | { readonly body: string; readonly html?: undefined; readonly text?: undefined }

type LooseSend<Templates extends DeclaredTemplates> = TextFields &
  (
    | (Addressed &
        (
          | (OfTemplate<Templates, string> & { readonly channel?: string | undefined })
          | (WithoutTemplate<Templates> & { readonly channel: string })
        ))
    | (OnChannels<string> & (Untemplated | OfTemplates<Templates, string>))
  ) & {
    readonly [parts: string]: unknown
  }

type SendOf<Channels extends ChannelParts, Templates extends DeclaredTemplates> =
  | {
      [Name in keyof Channels & string]: TextFields &
        (
          | OfTemplate<Templates, Name>
          | (WithoutTemplate<Templates> & (Text | { readonly [Own in Name]: Channels[Name] }))
        ) & {
          readonly channel: Name
        } & Addressed &
        PartsFor<Channels, Name>
    }[keyof Channels & string]
  // For a variable channel: no parts, and no template in code, which has its channel.
  | (TextFields &
      Addressed &
      (OfTemplate<Templates, never> | (WithoutTemplate<Templates> & Text)) & {
        readonly channel: keyof Channels & string
      } & { readonly [Name in keyof Channels & string]?: undefined })
  | (TextFields & Addressed & { readonly channel?: undefined } & WithoutChannel<Channels, Templates>)
  | (TextFields &
      OnChannels<keyof Channels & string> &
      AnyParts<Channels> &
      (
        | OfTemplates<Templates, keyof Channels & string>
        | (Untemplated &
            (
              | Text
              | {
                  [Own in keyof Channels & string]: { readonly [Name in Own]: Channels[Own] }
                }[keyof Channels & string]
            ))
      ))

/** Fields of a message without a template. */
type Untemplated = Omit<TemplateFields, 'template'> & { readonly template?: undefined }

/** On several channels of a person. */
type OnChannels<Name> = {
  readonly channel?: undefined
  /**
   * 1 to 8 different channels. The message goes to every address that the person has on them, as one group. `template`
   * names a template for each of them, or for none.
   */
  readonly channels: readonly Name[]
  /** The application's id of a person: 1 to 255 characters, one line. */
  readonly recipient: string
  readonly to?: undefined
}

/** Parts of any channel. */
type AnyParts<Channels extends ChannelParts> = {
  readonly [Name in keyof Channels & string]?: Channels[Name] | undefined
}

/** Without declared templates, parts may be of any channel. */
type WithoutChannel<
  Channels extends ChannelParts,
  Templates extends DeclaredTemplates,
> = string extends keyof Templates
  ? OfTemplate<Templates, string> & AnyParts<Channels>
  : {
      [Name in keyof Channels & string]: OfTemplate<Templates, Name> & PartsFor<Channels, Name>
    }[keyof Channels & string]

/** The parts of one channel; those of others do not compile. */
type PartsFor<Channels extends ChannelParts, Own extends keyof Channels> = {
  readonly [Name in keyof Channels & string]?: (Name extends Own ? Channels[Name] : never) | undefined
}

/** An address, or the id of a person whose addresses the option `recipients` looks up. */
type Addressed =
  | {
      /** E-mail address, E.164 phone number, device token, Slack channel or https URL, depending on the channel. */
      readonly to: string
      readonly recipient?: undefined
      readonly channels?: undefined
    }
  | {
      /** The application's id of a person: 1 to 255 characters, one line. */
      readonly recipient: string
      readonly to?: undefined
      readonly channels?: undefined
    }

/** The fields of a {@link SendInput} without parts. */
export interface SendFields extends TextFields, Omit<TemplateFields, 'template'> {
  /** Id or name of a template; with `channels` one for each. */
  readonly template?: string | TemplateByChannel | undefined
  /** The address. Exactly one of `to` and `recipient` is required. */
  readonly to?: string | undefined
  /** The application's id of a person. */
  readonly recipient?: string | undefined
  /** Required without a template and `channels`; otherwise the template's. */
  readonly channel?: string | undefined
  /** In place of `channel`, with a `recipient`: 1 to 8 different channels. */
  readonly channels?: readonly string[] | undefined
}

/** A type instead of an interface, so that it is assignable to records. */
type TextFields = {
  /** The subject of a mail, the title of a push message, or a field of a webhook. Literal; replaces the template's. */
  readonly subject?: string | undefined
  /** The HTML of a mail, unchanged. `text` is its alternative; without it, one is made from the HTML. */
  readonly html?: string | undefined
  /** Plain text, unchanged; with `html` its alternative. */
  readonly text?: string | undefined
  /**
   * Instead of `html` and `text`: sent as it is, and of a mail HTML where it has a document or a closing tag. One of
   * the three is required unless a template is named, whose text is used in their place, or the channel has parts that
   * stand in for a text, such as `whatsapp.approvedTemplate`.
   */
  readonly body?: string | undefined
  /** The locale of a template's text, as BCP 47: `de`, `fr-BE`. Default: that of the recipient, else of the organization. */
  readonly locale?: string | undefined
  /** The IANA time zone of dates in a template's messages. Default: that of the recipient, else of the organization. */
  readonly timeZone?: string | undefined
  /** Format of `body`, or of a template's body, in a mail. Default: the template's format, or else detected. */
  readonly format?: BodyFormat | undefined
  /**
   * For one-time codes: the content is never shown and is removed when the delivery has ended, so that the message
   * cannot be resent or retried. Default false.
   */
  readonly sensitive?: boolean | undefined
  /**
   * Id of the category, which people turn on and off. Default: that of the template, or else `default`. A message that
   * its recipient does not want is accepted, and ends as `skipped`.
   */
  readonly category?: string | undefined
  /** `high` overtakes bulk messages (one-time codes). Default `normal`. */
  readonly priority?: Priority | undefined
  /**
   * Short texts of the application, such as an order number: returned in records, logs and events, and to filter by. At
   * most 20 pairs and 4 KB; names of 1 to 40 letters, digits, `_`, `.` and `-`, values of at most 500 characters. They win
   * over those of the template. Default: none.
   */
  readonly metadata?: Metadata | undefined
  /** Earliest time: ISO 8601 with a zone, or a Date. Default: now. */
  readonly sendAt?: string | Date | undefined
  /** Latest time of a hand-over: ISO 8601 with a zone, or a Date. Default: never. */
  readonly expiresAt?: string | Date | undefined
}

interface ParsedFields extends Omit<SendFields, 'sendAt' | 'expiresAt' | 'template' | 'channels'> {
  /** The parts, under the channel's name. */
  readonly [parts: string]: unknown
  /** Epoch milliseconds. */
  readonly sendAt?: number | undefined
  /** Epoch milliseconds. */
  readonly expiresAt?: number | undefined
}

/** Parsed {@link SendFields}. */
export interface ParsedSend extends ParsedFields {
  /** By channel if, and only if, there are `channels`: then it has one for each. */
  readonly template?: string | TemplateByChannel | undefined
  readonly channels?: readonly string[] | undefined
}

/** A message on one channel. */
export interface SingleSend extends ParsedFields {
  readonly template?: string | undefined
  readonly channels?: undefined
}

/** False: the message names `channels`. */
export function isSingle(input: ParsedSend): input is SingleSend {
  return input.channels === undefined
}

/** The template of a message on one of its channels. Undefined: it has none. */
export function templateOn({ template }: ParsedSend, channel: string): string | undefined {
  return typeof template === 'object' && Object.hasOwn(template, channel) ? template[channel] : undefined
}

/** The application's id of a person. */
export const recipientId: z.ZodType<string, string> = text(1, MAX_RECIPIENT_ID).refine(
  isPlainLine,
  'must be one line without spaces at its ends',
)

/** Most channels of a message. */
const MOST_CHANNELS = 8

/** Counts the names before each is checked: a body may have a hundred thousand. */
const channels = z.preprocess(
  (given, { addIssue }) => {
    if (!Array.isArray(given) || given.length <= MOST_CHANNELS) return given
    addIssue({ code: 'custom', message: `must name at most ${MOST_CHANNELS} channels` })
    return z.NEVER
  },
  z
    .array(channel)
    .min(1, 'must name at least one channel')
    .max(MOST_CHANNELS)
    .refine((names) => new Set(names).size === names.length, 'must name each channel once'),
) as unknown as z.ZodType<readonly string[], readonly string[]>

const oneRecipient = ({ input }: z.core.$ZodRawIssue): string | undefined =>
  Array.isArray(input)
    ? 'must be one address. For several people send a batch: sendBatch(), over HTTP POST /v1/notifications/batch'
    : undefined

const templateName = text(1, 128)

/** Counts the names before each is checked. */
const templateByChannel = z.preprocess(
  (given, { addIssue }) => {
    if (!isFields(given) || Object.keys(given).length <= MOST_CHANNELS) return given
    addIssue({ code: 'custom', message: `must name at most ${MOST_CHANNELS} templates` })
    return z.NEVER
  },
  z.record(channel, templateName),
) as unknown as z.ZodType<TemplateByChannel, TemplateByChannel>

const fields = {
  channel: channel
    .optional()
    .describe('Required without a template and `channels`; otherwise that of the template.'),
  channels: channels
    .optional()
    .describe(
      'In place of `channel`, with a `recipient`: 1 to 8 different channels. The message goes to every address that the person has on them, as one group.',
    ),
  to: text(1, MAX_RECIPIENT_LENGTH, oneRecipient)
    .optional()
    .describe(
      'E-mail address, E.164 phone number, device token, Slack channel or https URL. Exactly one of `to` and `recipient` is required.',
    ),
  recipient: recipientId
    .optional()
    .describe("In place of `to`: the application's id of a person, whose addresses it looks up."),
  subject: text(0, MAX_SUBJECT_LENGTH)
    .optional()
    .describe('The subject of a mail, or the title of a push message. Replaces that of the template.'),
  html: text(1, HIGHEST_BOUNDS.textBytes)
    .optional()
    .describe('The HTML of a mail. `text` is its alternative; without it, one is made from the HTML.'),
  text: text(1, HIGHEST_BOUNDS.textBytes).optional().describe('Plain text; with `html` its alternative.'),
  body: text(1, HIGHEST_BOUNDS.textBytes)
    .optional()
    .describe(
      'Instead of `html` and `text`; detected as HTML in a mail. One of the three is required without a template, unless parts replace the text.',
    ),
  template: z
    .union([templateName, templateByChannel])
    .optional()
    .describe(
      'Id or name of the template to use. With `channels` an object that names one for each of them, such as `{ "email": "welcome-mail", "push": "welcome-push" }`.',
    ),
  variables: jsonObject
    .optional()
    .describe(
      'Values for the placeholders of the template. Without a template, refused if the text contains `{{`.',
    ),
  data: jsonObject.optional().describe('The same as `variables`, which has precedence.'),
  locale: localeName
    .optional()
    .describe('The locale of the text of a template, such as `fr-BE`. Default: that of the organization.'),
  timeZone: timeZoneName
    .optional()
    .describe(
      'The time zone of dates in a template, such as `Europe/Vienna`. Default: that of the organization.',
    ),
  format: z
    .enum(['text', 'html'])
    .optional()
    .describe('Format of `body` in a mail. Default: that of the template, or else detected.'),
  sensitive: z
    .boolean()
    .optional()
    .describe('For one-time codes: the content is never shown, and is removed when the delivery has ended.'),
  category: categoryId
    .optional()
    .describe(
      'Id of the category, which people turn on and off. Default: that of the template, or `default`.',
    ),
  priority: z.enum(['normal', 'high']).optional().describe('`high` goes before bulk. Default `normal`.'),
  metadata: metadataInput
    .optional()
    .describe(
      'Short texts such as an order number, in records, logs and events. Win over those of the template.',
    ),
  sendAt: instant.optional().describe('Earliest time (ISO 8601).'),
  expiresAt: instant.optional().describe('Latest time of a hand-over to a provider (ISO 8601).'),
}

/** Fields that exclude or require each other. */
type Joined = Partial<Pick<SendFields, 'to' | 'recipient' | 'channel' | 'channels' | 'template'>>

const NOT_WITH_CHANNELS = [
  ['channel', 'for one'],
  ['to', 'an address on one channel'],
] as const

/** Checked with other faults, because an absent field is named first. */
const addressed = z.refine<Joined>(
  ({ to, recipient, channels }) => to !== undefined || recipient !== undefined || channels !== undefined,
  {
    path: ['to'],
    error: 'is required unless a "recipient" is named',
    when: ({ value }) => isFields(value),
  },
)

/** The schema of a send. */
export type SendSchema = z.ZodType<ParsedSend, SendFields>

/** The schema behind `notifier.send`, the REST API and its OpenAPI document, with the parts of the given kinds. */
export function sendInputOf(kinds: Iterable<ChannelKind>): SendSchema {
  return z.object({ ...fields, ...partsFields(kinds) }).check(assertOneText, addressed, assertOneTarget)
}

/** The fields for the parts of the given kinds, under the names of their channels. */
export function partsFields(kinds: Iterable<ChannelKind>): object {
  const parts = [...kinds].flatMap(({ name, parts }) =>
    parts === undefined ? [] : [[name, describedFor(name, parts)]],
  )
  return Object.fromEntries(parts)
}

function assertOneTarget({ value, issues }: z.core.ParsePayload<Joined>): void {
  const { to, recipient, channels, template } = value
  const refuse = (field: string, message: string): void =>
    void issues.push({ code: 'custom', input: value, path: [field], message })
  if (channels !== undefined) {
    if (recipient === undefined) refuse('recipient', 'is required with "channels"')
    for (const [field, why] of NOT_WITH_CHANNELS)
      if (value[field] !== undefined) refuse('channels', `cannot be given with "${field}", which is ${why}`)
    assertTemplates(template, channels, refuse)
    return
  }
  if (to !== undefined && recipient !== undefined) refuse('recipient', 'cannot be given with "to"')
  if (typeof template === 'object') refuse('template', 'names a template by channel, which needs "channels"')
}

function assertTemplates(
  template: Joined['template'],
  channels: readonly string[],
  refuse: (field: string, message: string) => void,
): void {
  if (template === undefined) return
  if (typeof template === 'string') {
    refuse('template', `is of one channel; with "channels" name one for each: { "${channels[0]}": "…" }`)
    return
  }
  const without = channels.filter((name) => !Object.hasOwn(template, name))
  const beyond = Object.keys(template).filter((name) => !channels.includes(name))
  if (without.length > 0) refuse('template', `names none for ${without.join(', ')}, which "channels" names`)
  if (beyond.length > 0)
    refuse('template', `names one for ${beyond.join(', ')}, which "channels" does not name`)
}

function describedFor(channel: string, parts: z.ZodType): z.ZodType {
  return parts.optional().describe(`On \`${channel}\` only. Sent unchanged, also with a template.`)
}

/** A placeholder for the schema of a send in the table of routes; each notifier adds the parts of its channels. */
export const sendInput: SendSchema = namedInput(
  'SendRequest',
  z.looseObject(fields).check(assertOneText, addressed, assertOneTarget),
)

/** Input of a batch. */
export function batchInputOf(
  send: SendSchema,
): z.ZodType<{ notifications: unknown[] }, { notifications: SendFields[] }> {
  return z.object({ notifications: z.array(send).min(1).max(10_000) })
}

/** Identifies the batch schema in the table of routes. */
export const batchInput: ReturnType<typeof batchInputOf> = namedInput('BatchRequest', batchInputOf(sendInput))
