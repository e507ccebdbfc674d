import * as z from 'zod'
import { sms } from '../../../src/channels/built-in.ts'
import type { SmsKind } from '../../../src/channels/sms.ts'
import type { Provider, SendContext } from '../../../src/ports/provider.ts'
import { assertWorks } from '../kit/check.ts'
import { describeProvider } from '../kit/http/describe.ts'
import { maxPerSecond, type PacedProviderOptions } from '../kit/http/paced-options.ts'
import { member, refuse, textMember } from '../kit/http/provider-answer.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { credential, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions, wrongOption } from '../kit/options.ts'
import { judgeTwilio } from './errors.ts'
import { OUR_ID, type Proof, receiptOptions, type TwilioReceiptOptions, twilioReceipts } from './receipts.ts'

export type { TwilioReceiptOptions }

/** Options of `twilio`. */
export interface TwilioOptions extends PacedProviderOptions {
  /** `AC` and 32 hexadecimal digits. */
  readonly accountSid: string
  /** The account's auth token. May be left out with `apiKey`. */
  readonly authToken?: string | undefined
  /** An API key in place of the auth token. */
  readonly apiKey?: { readonly sid: string; readonly secret: string } | undefined
  /** The sender: a number of the account in E.164 form, a short code or an alphanumeric name. Or `messagingServiceSid`. */
  readonly from?: string | undefined
  /** `MG` and 32 hexadecimal digits: a messaging service, which chooses the sender. */
  readonly messagingServiceSid?: string | undefined
  /**
   * Reports and incoming messages.
   *
   * @default none: no receipts are taken
   */
  readonly receipts?: TwilioReceiptOptions | undefined
  /**
   * After how many seconds Twilio gives a message up that it could not pass on, 1 to 36 000.
   *
   * @default Twilio's own
   */
  readonly validitySeconds?: number | undefined
}

const PLUGIN = 'twilio'
const sid = (prefix: string) =>
  z.string().regex(new RegExp(`^${prefix}[0-9a-fA-F]{32}$`), `must be ${prefix} and 32 hexadecimal digits`)
const schema = z.strictObject({
  // A second message costs money and annoys.
  ...providerShape({ name: 'twilio', baseUrl: 'https://api.twilio.com', onAmbiguous: 'fail' }),
  maxPerSecond,
  accountSid: sid('AC'),
  authToken: credential.optional(),
  apiKey: z.strictObject({ sid: sid('SK'), secret: credential }).optional(),
  from: z
    .string()
    .regex(/^(?:\+?[0-9]{3,15}|[A-Za-z0-9 +_&-]{1,11})$/, 'must be a number, a short code or a name')
    .optional(),
  messagingServiceSid: sid('MG').optional(),
  receipts: receiptOptions.optional(),
  validitySeconds: z.int().min(1).max(36_000, 'must be at most 36000 seconds').optional(),
})

/**
 * Twilio's Programmable Messaging as an SMS provider. It knows no idempotency for messages: what nobody knows the end of
 * is not repeated unless `onAmbiguous` says so.
 *
 * @throws NotifierError `invalid_configuration`, naming the option that is wrong
 */
export function twilio(options: TwilioOptions): Provider<SmsKind> {
  const given = checkOptions(PLUGIN, schema, options)
  const { baseUrl, timeoutMs, maxConcurrent, accountSid, receipts } = given
  const sender = senderOf(given.from, given.messagingServiceSid)
  const login = loginOf(given)
  const basic = Buffer.from(login.join(':'), 'utf8').toString('base64')
  const proof = receipts === undefined ? null : proofOf(receipts, given.authToken)
  const account = `${baseUrl}/2010-04-01/Accounts/${accountSid}`
  const headers = { authorization: `Basic ${basic}`, accept: 'application/json' }
  const http = providerHttp({
    maxConnections: maxConcurrent,
    timeoutMs,
    secrets: [basic, login[1], ...(proof?.secret ?? [])],
  })

  function form(to: string, body: string, { notificationId }: SendContext): string {
    return new URLSearchParams({
      To: to,
      ...sender,
      Body: body,
      ...(receipts?.url === undefined
        ? {}
        : { StatusCallback: `${receipts.url}?${OUR_ID}=${encodeURIComponent(notificationId)}` }),
      ...(given.validitySeconds === undefined ? {} : { ValidityPeriod: String(given.validitySeconds) }),
    }).toString()
  }

  return {
    ...describeProvider(sms, given),
    send: ({ to, body }, context) =>
      http.send(
        {
          url: `${account}/Messages.json`,
          headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
          body: form(to, body, context),
          signal: context.signal,
        },
        (answer) => judgeTwilio(answer, given.from),
      ),
    ...(proof === null ? {} : { parseReceipts: twilioReceipts(proof) }),
    async check() {
      // A standard API key may not ask for the account, but for everything in it.
      const url = given.apiKey === undefined ? `${account}.json` : `${account}/Messages.json?PageSize=1`
      const outcome = await http.send({ method: 'GET', url, headers }, (answer) => {
        if (answer.status !== 200) return null
        if (Array.isArray(member(answer.json, 'messages'))) return { kind: 'accepted' }
        const status = textMember(answer.json, 'status')
        return status === 'active'
          ? { kind: 'accepted' }
          : refuse(answer, { code: status, message: `The account is ${status ?? 'not readable'}.` }, [
              'rejected',
              'provider_suspended',
              'account',
            ])
      })
      assertWorks(outcome, 'Twilio')
    },
    close: () => http.close(),
  }
}

function senderOf(
  from: string | undefined,
  messagingServiceSid: string | undefined,
): Readonly<Record<string, string>> {
  if (from !== undefined && messagingServiceSid === undefined) return { From: from }
  if (from === undefined && messagingServiceSid !== undefined)
    return { MessagingServiceSid: messagingServiceSid }
  throw wrongOption(PLUGIN, 'from', 'one of "from" and "messagingServiceSid" must be given')
}

function loginOf({
  accountSid,
  authToken,
  apiKey,
}: Pick<TwilioOptions, 'accountSid' | 'authToken' | 'apiKey'>): readonly [user: string, secret: string] {
  if (apiKey !== undefined) return [apiKey.sid, apiKey.secret]
  if (authToken !== undefined) return [accountSid, authToken]
  throw wrongOption(PLUGIN, 'authToken', 'must be given, or "apiKey" in its place')
}

function proofOf(receipts: z.output<typeof receiptOptions>, authToken: string | undefined): Proof {
  const secret = receipts.secret ?? (authToken === undefined ? undefined : [authToken])
  if (secret !== undefined) return { ...receipts, secret }
  throw wrongOption(PLUGIN, 'receipts.secret', 'must be given where "authToken" is not')
}
