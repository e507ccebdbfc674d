import type { ProviderReply, ProviderRow } from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'

export const ACCOUNT = `AC${'0123456789abcdef'.repeat(2)}`
export const sidOf = (number: number): string => `SM${String(number).padStart(32, '0')}`

/** As Twilio answers to a message that it takes, in all fields that its own client reads. */
export function created({ body }: ReceivedRequest, number: number): ProviderReply {
  const form = new URLSearchParams(body.toString('utf8'))
  return {
    status: 201,
    body: {
      sid: sidOf(number),
      account_sid: ACCOUNT,
      to: form.get('To'),
      from: form.get('From'),
      messaging_service_sid: form.get('MessagingServiceSid'),
      body: form.get('Body'),
      status: 'queued',
      num_segments: '1',
      num_media: '0',
      direction: 'outbound-api',
      api_version: '2010-04-01',
      price: null,
      price_unit: 'USD',
      error_code: null,
      error_message: null,
      uri: `/2010-04-01/Accounts/${ACCOUNT}/Messages/${sidOf(number)}.json`,
      date_created: 'Sat, 21 Nov 2026 12:00:00 +0000',
      date_updated: 'Sat, 21 Nov 2026 12:00:00 +0000',
      date_sent: null,
      subresource_uris: {},
    },
  }
}

export const refusal = (status: number, code: number | string, message = 'No.'): ProviderReply => ({
  status,
  body: { status, code: Number(code), message, more_info: `https://www.twilio.com/docs/errors/${code}` },
})

/** Every row of the table, as Twilio would answer with it; the reference says what each must mean. */
const EXPECTED: readonly (readonly [codes: string, kind: string, code: string, scope?: string])[] = [
  ['20003 63001', 'rejected', 'provider_auth_failed', 'account'],
  ['20404 21609', 'rejected', 'provider_error', 'account'],
  ['20429 14107 21611 30001 63017 63018', 'retry', 'provider_rate_limited', 'account'],
  ['20500 30410 30500 63010 63012', 'ambiguous', 'provider_unavailable'],
  ['20503 30017 63009', 'retry', 'provider_unavailable', 'provider'],
  ['21211 21217 21265 21266 21401 21604 30005', 'rejected', 'invalid_phone_number', 'recipient'],
  ['21614 21635 30006', 'rejected', 'landline', 'recipient'],
  ['21408', 'rejected', 'region_not_permitted', 'recipient'],
  ['21219 21608 63014 63015 63032 63049', 'rejected', 'blocked_recipient', 'recipient'],
  ['21610 30630', 'rejected', 'unsubscribed', 'recipient'],
  ['21268 21612 63024', 'rejected', 'recipient_unreachable', 'recipient'],
  ['30003', 'retry', 'recipient_unreachable', 'recipient'],
  [
    '21212 21267 21601 21603 21606 21607 21616 21659 21660 21661 21701 21702 21703 21704 21705 21709 21910 30042 63002 63007 63008',
    'rejected',
    'invalid_sender',
    'account',
  ],
  ['21657', 'rejected', 'invalid_sender', 'recipient'],
  ['21602 21605 21618 21619 21654 21655 21656', 'rejected', 'content_rejected', 'message'],
  ['63005 63006 63013 63016 63019 63021 63025 63030', 'rejected', 'content_rejected', 'message'],
  ['63027 63028 63029 63040 63041 63042', 'rejected', 'template_error', 'message'],
  ['21617 30019 30044', 'rejected', 'message_too_large', 'message'],
  ['10001 20005 20403 90010 30002 30033 30037', 'rejected', 'provider_suspended', 'account'],
  ['30004 30450 30453 30485', 'rejected', 'carrier_blocked', 'recipient'],
  ['30007', 'rejected', 'carrier_blocked', 'message'],
  ['30008 63023', 'retry', 'provider_error', 'message'],
  ['30010 63011', 'rejected', 'provider_error', 'message'],
  ['30018 30024 30032 30034 30035 30040 30041 63020 63022', 'rejected', 'sender_not_registered', 'account'],
  ['30022 30023 30027 30454 63038', 'retry', 'provider_quota_exceeded', 'account'],
  ['30036', 'rejected', 'expired', 'message'],
  ['63003 63031', 'rejected', 'invalid_recipient', 'recipient'],
]

export const ROWS: readonly ProviderRow[] = [
  ...EXPECTED.flatMap(([codes, kind, code, scope]) =>
    codes.split(' ').map((twilioCode) => ({
      row: `error ${twilioCode}`,
      reply: refusal(400, twilioCode),
      outcome: {
        kind: kind as 'rejected' | 'retry' | 'ambiguous',
        code,
        ...(scope === undefined ? {} : { scope, message: 'No.' }),
        providerCode: twilioCode,
      },
    })),
  ),
  {
    row: 'a code that nobody knows',
    reply: refusal(400, 99999),
    outcome: { kind: 'rejected', code: 'provider_error', scope: 'message', providerCode: '99999' },
  },
  {
    row: 'a wrong token, repeated',
    reply: refusal(401, 20003, 'Authenticate, not by $credentials'),
    outcome: {
      kind: 'rejected',
      code: 'provider_auth_failed',
      scope: 'account',
      message: 'Authenticate, not by Basic [secret]',
    },
  },
  {
    row: 'a fault without a code',
    reply: { status: 500, body: 'Oops' },
    outcome: { kind: 'ambiguous', providerCode: '500' },
  },
  {
    row: 'a queue that is full: a minute at least',
    reply: refusal(400, 21611),
    outcome: { kind: 'retry', code: 'provider_rate_limited', retryAfterMs: 60_000 },
  },
  {
    row: 'a message that is taken and has failed at once',
    reply: {
      status: 201,
      body: { sid: sidOf(1), status: 'failed', error_code: 30007, error_message: 'Filtered' },
    },
    outcome: { kind: 'rejected', code: 'carrier_blocked', providerCode: '30007', message: 'Filtered' },
  },
]

/** The codes that {@link ROWS} cover. */
export const CODES: readonly string[] = EXPECTED.flatMap(([codes]) => codes.split(' '))

export const account =
  (status: string) =>
  (request: ReceivedRequest): ProviderReply | undefined =>
    request.method === 'GET' ? { status: 200, body: { sid: ACCOUNT, status } } : undefined

/** What a form that came asks for. */
export function asked({ body }: ReceivedRequest): { to: string; body: string; id: string | null } {
  const form = new URLSearchParams(body.toString('utf8'))
  const callback = new URL(form.get('StatusCallback') ?? '')
  return {
    to: form.get('To') ?? '',
    body: form.get('Body') ?? '',
    id: callback.searchParams.get('carillon_id'),
  }
}
