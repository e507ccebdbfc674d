import * as z from 'zod'
import type { ChannelKind, StoredParts } from '../../../src/core/channels/channel-kind.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Message, Provider } from '../../../src/core/ports/provider.ts'
import { httpProvider } from '../kit/http/http-provider.ts'
import { member, type ProviderAnswer, refuse, textMember } from '../kit/http/provider-answer.ts'
import { credential, type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions, wrongOption } from '../kit/options.ts'
import { ofOwnSender, onlySenders } from '../kit/sms/sender.ts'
import { twilioOutcome } from './errors.ts'
import {
  OUR_ID,
  type ResolvedCallbackOptions,
  receiptOptions,
  type TwilioReceiptOptions,
  twilioReceipts,
} from './receipts.ts'

/** Options of `twilio` and `twilioWhatsApp`. */
export interface TwilioAccountOptions extends ProviderOptions {
  /** SID of the account: `AC` and 32 hexadecimal digits. */
  readonly accountSid: string
  /** The account's auth token. Optional with `apiKey`. */
  readonly authToken?: string | undefined
  /** An API key instead of the auth token. */
  readonly apiKey?: { readonly sid: string; readonly secret: string } | undefined
  /** SID of a messaging service, which chooses the sender, instead of `from`: `MG` and 32 hexadecimal digits. */
  readonly messagingServiceSid?: string | undefined
  /**
   * Verification of reports and incoming messages.
   *
   * @default none: no receipts are accepted
   */
  readonly receipts?: TwilioReceiptOptions | undefined
  /**
   * Seconds after which Twilio gives up a message that it could not pass on, 1 to 36 000.
   *
   * @default Twilio's own
   */
  readonly validitySeconds?: number | undefined
}

/** Fields of a form; a list is a repeated field. */
type FormFields = Readonly<Record<string, string | readonly string[]>>

/** A channel of Twilio's Programmable Messaging. */
export interface TwilioChannel<Kind extends ChannelKind> {
  /** Name of the provider's function, for errors in its options. */
  readonly plugin: string
  readonly kind: Kind
  /** Prefix of phone numbers on this channel. */
  readonly scheme: '' | 'whatsapp:'
  /** Schema of the option `from`. */
  readonly from: z.ZodType<string>
  /** A message's content as form fields, or the refusal of a message without content. */
  contentOf(message: Message<Kind>): FormFields | Outcome
  /** The sender that a message names. */
  fromOf(parts: StoredParts<Kind> | undefined): string | undefined
  /** The parts of a message. */
  partsOf(message: Message<Kind>): StoredParts<Kind> | undefined
}

const sid = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}[0-9a-fA-F]{32}$`), `must be ${prefix} and 32 hexadecimal digits`)
const shape = {
  // A duplicate message costs money and annoys its recipient.
  ...providerShape({ name: 'twilio', baseUrl: 'https://api.twilio.com', onAmbiguous: 'fail' }),
  accountSid: sid('AC'),
  authToken: credential.optional(),
  apiKey: z.strictObject({ sid: sid('SK'), secret: credential }).optional(),
  messagingServiceSid: sid('MG').optional(),
  receipts: receiptOptions.optional(),
  validitySeconds: z.int().min(1).max(36_000, 'must be at most 36000 seconds').optional(),
}

/**
 * A provider over `POST …/Messages.json`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 */
export function twilioProvider<Kind extends ChannelKind>(
  { plugin, kind, scheme, from, contentOf, fromOf, partsOf }: TwilioChannel<Kind>,
  options: TwilioAccountOptions,
): Provider<Kind> {
  const given = checkOptions(
    plugin,
    z.strictObject({ ...shape, from: from.optional(), senders: z.array(from).max(1_000).default([]) }),
    options,
  )
  const { baseUrl, accountSid, receipts, validitySeconds } = given
  const sender = senderOf(plugin, scheme, given.from, given.messagingServiceSid)
  const refusesSender = onlySenders(given.from, ...given.senders)
  const login = loginOf(plugin, given)
  const basic = Buffer.from(login.join(':'), 'utf8').toString('base64')
  const callbacks = receipts === undefined ? null : resolveCallbackOptions(plugin, receipts, given.authToken)
  const account = `${baseUrl}/2010-04-01/Accounts/${accountSid}`
  const headers = { authorization: `Basic ${basic}`, accept: 'application/json' }

  return httpProvider(kind, given, {
    title: 'Twilio',
    secrets: [basic, login[1], ...(callbacks?.secret ?? [])],
    async send(message, { notificationId, signal }, http) {
      const content = contentOf(message)
      if (isOutcome(content)) return content
      const from = fromOf(partsOf(message))
      const form = formOf({
        To: scheme + message.to,
        ...(from === undefined ? sender : { From: scheme + from }),
        ...content,
        ...(receipts?.url === undefined
          ? {}
          : { StatusCallback: `${receipts.url}?${OUR_ID}=${encodeURIComponent(notificationId)}` }),
        ...(validitySeconds === undefined ? {} : { ValidityPeriod: String(validitySeconds) }),
      })
      const outcome = await http.send(
        {
          url: `${account}/Messages.json`,
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
          body: form.toString(),
          signal,
        },
        (answer) => twilioOutcome(answer, from === undefined ? given.from : undefined),
      )
      return ofOwnSender(from, outcome)
    },
    check(http) {
      // Standard API keys cannot read the account, only its resources.
      const url = given.apiKey === undefined ? `${account}.json` : `${account}/Messages.json?PageSize=1`
      return http.send({ method: 'GET', url, headers }, accountOutcome)
    },
    hooks: {
      refuses: (parts) => refusesSender(fromOf(parts)),
      ...(callbacks === null ? {} : { parseReceipts: twilioReceipts(callbacks, scheme) }),
    },
  })
}

function formOf(fields: FormFields): URLSearchParams {
  const form = new URLSearchParams()
  for (const [name, value] of Object.entries(fields)) for (const one of [value].flat()) form.append(name, one)
  return form
}

function isOutcome(content: FormFields | Outcome): content is Outcome {
  return 'kind' in content
}

function accountOutcome(answer: ProviderAnswer): Outcome | null {
  if (answer.status !== 200) return null
  if (Array.isArray(member(answer.json, 'messages'))) return { kind: 'accepted' }
  const status = textMember(answer.json, 'status')
  return status === 'active'
    ? { kind: 'accepted' }
    : refuse(answer, { code: status, message: `The account is ${status ?? 'unreadable'}.` }, [
        'rejected',
        'provider_suspended',
        'account',
      ])
}

function senderOf(
  plugin: string,
  scheme: string,
  from: string | undefined,
  messagingServiceSid: string | undefined,
): Readonly<Record<string, string>> {
  if (from !== undefined && messagingServiceSid === undefined) return { From: scheme + from }
  if (from === undefined && messagingServiceSid !== undefined)
    return { MessagingServiceSid: messagingServiceSid }
  throw wrongOption(plugin, 'from', 'must be given, or "messagingServiceSid" in its place')
}

function loginOf(
  plugin: string,
  { accountSid, authToken, apiKey }: Pick<TwilioAccountOptions, 'accountSid' | 'authToken' | 'apiKey'>,
): readonly [user: string, secret: string] {
  if (apiKey !== undefined) return [apiKey.sid, apiKey.secret]
  if (authToken !== undefined) return [accountSid, authToken]
  throw wrongOption(plugin, 'authToken', 'is required without "apiKey"')
}

function resolveCallbackOptions(
  plugin: string,
  receipts: z.output<typeof receiptOptions>,
  authToken: string | undefined,
): ResolvedCallbackOptions {
  const secret = receipts.secret ?? (authToken === undefined ? undefined : [authToken])
  if (secret !== undefined) return { ...receipts, secret }
  throw wrongOption(plugin, 'receipts.secret', 'is required without "authToken"')
}
