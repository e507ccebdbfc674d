import { expect, it } from 'vitest'
import { apns } from '../../../../adapters/channels/apns/send.ts'
import { fcm } from '../../../../adapters/channels/fcm/send.ts'
import { postmark } from '../../../../adapters/channels/postmark/send.ts'
import { resend } from '../../../../adapters/channels/resend/send.ts'
import { sendgrid } from '../../../../adapters/channels/sendgrid/send.ts'
import { slack } from '../../../../adapters/channels/slack/send.ts'
import { smtp } from '../../../../adapters/channels/smtp/send.ts'
import { sns } from '../../../../adapters/channels/sns/send.ts'
import { vonage } from '../../../../adapters/channels/vonage/send.ts'
import { webhook } from '../../../../adapters/channels/webhook/send.ts'

const smtpProvider = { host: 'mail.example.org', from: 'no-reply@example.org' }
const resendProvider = { apiKey: 're_1', from: 'no-reply@example.org' }
const snsProvider = { region: 'eu-west-1' }
const vonageProvider = { apiKey: 'k', apiSecret: 's', from: 'Example' }

it.each<[string, (options: never) => unknown, unknown, string]>([
  ['smtp', smtp, undefined, '"options": must be given'],
  [
    'smtp',
    smtp,
    'smtp://mail.example.org',
    '"options": must be an object; its fields are "host", "port", "secure", "requireTls", "auth", "from", "senders", "replyTo", "headers", "toText" and 10 more',
  ],
  ['smtp', smtp, {}, '"host": must be given'],
  ['smtp', smtp, { ...smtpProvider, from: null }, '"from": must be a text'],
  ['smtp', smtp, { ...smtpProvider, port: '25' }, '"port": must be a number'],
  ['smtp', smtp, { ...smtpProvider, port: 2.5 }, '"port": must be a whole number'],
  ['smtp', smtp, { ...smtpProvider, port: 0 }, '"port": must be at least 1'],
  ['smtp', smtp, { ...smtpProvider, secure: 'yes' }, '"secure": must be true or false'],
  ['smtp', smtp, { ...smtpProvider, auth: { user: 'u' } }, '"auth.pass": must be given'],
  ['smtp', smtp, { ...smtpProvider, auth: { user: '', pass: 'p' } }, '"auth.user": must not be empty'],
  [
    'smtp',
    smtp,
    { ...smtpProvider, auth: { username: 'u', user: 'u', pass: 'p' } },
    '"auth.username": is not an option: use auth.user, auth.pass',
  ],
  [
    'smtp',
    smtp,
    { ...smtpProvider, timeouts: { connect: 5, dns: 5 } },
    '"timeouts.connect": is not an option: use timeouts.dnsMs, timeouts.connectMs, timeouts.greetingMs, timeouts.socketMs',
  ],
  ['smtp', smtp, { ...smtpProvider, headers: [] }, '"headers": must be an object'],
  ['smtp', smtp, { ...smtpProvider, tls: true }, '"tls": must be an object'],
  ['smtp', smtp, { ...smtpProvider, retry: 3 }, '"retry": must be an object'],
  ['smtp', smtp, { ...smtpProvider, onAmbiguous: true }, '"onAmbiguous": must be one of "retry", "fail"'],
  ['webhook', webhook, { allow: 'localhost' }, '"allow": must be a list'],
  ['webhook', webhook, { ca: 5 }, '"ca": must be a text, or must be a list'],
  ['webhook', webhook, { secret: [] }, '"secret": must not be empty'],
  ['webhook', webhook, { maxConcurrent: 1e6 }, '"maxConcurrent": must be at most 10000'],
  ['apns', apns, { key: 'k' }, '"keyId": must be given'],
  [
    'fcm',
    fcm,
    { serviceAccount: 'key.json' },
    '"serviceAccount": must be an object; its fields are "client_email", "private_key", "private_key_id", "project_id", "token_uri"',
  ],
  [
    'slack',
    slack,
    { token: 'xoxb-1', receipts: { secret: '' } },
    '"receipts.secret": must be printable ASCII without spaces, or must be a list',
  ],
  [
    'resend',
    resend,
    { ...resendProvider, receipts: { secret: 'secret' } },
    '"receipts.secret": must be the signing secret of the webhook, whsec_…, or must be a list',
  ],
  [
    'sns',
    sns,
    { ...snsProvider, credentials: 'x' },
    '"credentials": must be an object; its fields are "accessKeyId", "secretAccessKey", "sessionToken", or must be a function',
  ],
  [
    'sns',
    sns,
    { ...snsProvider, credentials: { accessKeyId: 'x' } },
    '"credentials": "secretAccessKey" must be given, or must be a function',
  ],
  [
    'vonage',
    vonage,
    { ...vonageProvider, receipts: { secret: 's', url: 'x' } },
    '"receipts.url": must be an address',
  ],
  ['vonage', vonage, { ...vonageProvider, receipts: {} }, '"receipts.secret": must be given'],
  ['slack', slack, { token: 'xoxb-1', receipts: { secret: [] } }, '"receipts.secret": must not be empty'],
  [
    'slack',
    slack,
    { token: 'xoxb-1', receipts: { secret: 's', signingSecret: 's' } },
    '"receipts.signingSecret": is not an option: use receipts.secret',
  ],
  [
    'postmark',
    postmark,
    { serverToken: 't', from: 'a@example.org', receipts: { user: 'u', password: 'short' } },
    '"receipts": must be { user, password } or { header, secret }, the password or secret of at least 8 characters',
  ],
  [
    'sendgrid',
    sendgrid,
    { apiKey: 'k', from: 'a@example.org', receipts: { publicKey: ['AAAA'] } },
    '"receipts.publicKey": must be a text, or "0" must be a public key in base64',
  ],
])('%s says what is right (%#)', (maker, make, options, what) => {
  expect(() => make(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', message: `${maker}: ${what}.` }),
  )
})
