import { expect, it } from 'vitest'
import { resendChannel } from '../../../../adapters/channels/email/resend.ts'
import { smtpChannel } from '../../../../adapters/channels/email/smtp.ts'
import { apnsChannel } from '../../../../adapters/channels/push/apns.ts'
import { fcmChannel } from '../../../../adapters/channels/push/fcm.ts'
import { slackChannel } from '../../../../adapters/channels/slack/slack.ts'
import { snsChannel } from '../../../../adapters/channels/sms/sns.ts'
import { vonageChannel } from '../../../../adapters/channels/sms/vonage.ts'
import { webhookChannel } from '../../../../adapters/channels/webhook/webhook.ts'

const smtp = { host: 'mail.example.org', from: 'no-reply@example.org' }
const resend = { apiKey: 're_1', from: 'no-reply@example.org' }
const sns = { region: 'eu-west-1' }
const vonage = { apiKey: 'k', apiSecret: 's', from: 'Example' }

it.each<[string, (options: never) => unknown, unknown, string]>([
  ['smtpChannel', smtpChannel, undefined, '"options": must be given'],
  ['smtpChannel', smtpChannel, 'smtp://mail.example.org', '"options": must be an object'],
  ['smtpChannel', smtpChannel, {}, '"host": must be given'],
  ['smtpChannel', smtpChannel, { ...smtp, from: null }, '"from": must be a text'],
  ['smtpChannel', smtpChannel, { ...smtp, port: '25' }, '"port": must be a number'],
  ['smtpChannel', smtpChannel, { ...smtp, port: 2.5 }, '"port": must be a whole number'],
  ['smtpChannel', smtpChannel, { ...smtp, port: 0 }, '"port": must be at least 1'],
  ['smtpChannel', smtpChannel, { ...smtp, secure: 'yes' }, '"secure": must be true or false'],
  ['smtpChannel', smtpChannel, { ...smtp, auth: { user: 'u' } }, '"auth.pass": must be given'],
  ['smtpChannel', smtpChannel, { ...smtp, auth: { user: '', pass: 'p' } }, '"auth.user": must not be empty'],
  [
    'smtpChannel',
    smtpChannel,
    { ...smtp, auth: { username: 'u', user: 'u', pass: 'p' } },
    '"auth.username": is not an option: use auth.user, auth.pass',
  ],
  [
    'smtpChannel',
    smtpChannel,
    { ...smtp, timeouts: { connect: 5, dns: 5 } },
    '"timeouts.connect": is not an option: use timeouts.dnsMs, timeouts.connectMs, timeouts.greetingMs, timeouts.socketMs',
  ],
  ['smtpChannel', smtpChannel, { ...smtp, headers: [] }, '"headers": must be an object'],
  ['smtpChannel', smtpChannel, { ...smtp, tls: true }, '"tls": must be an object'],
  ['smtpChannel', smtpChannel, { ...smtp, retry: 3 }, '"retry": must be an object'],
  [
    'smtpChannel',
    smtpChannel,
    { ...smtp, onAmbiguous: true },
    '"onAmbiguous": must be one of "retry", "fail"',
  ],
  ['webhookChannel', webhookChannel, { allow: 'localhost' }, '"allow": must be a list'],
  ['webhookChannel', webhookChannel, { ca: 5 }, '"ca": must be a text, or must be a list'],
  ['webhookChannel', webhookChannel, { secret: [] }, '"secret": must not be empty'],
  ['webhookChannel', webhookChannel, { maxConcurrent: 1e6 }, '"maxConcurrent": must be at most 10000'],
  ['apnsChannel', apnsChannel, { key: 'k' }, '"keyId": must be given'],
  ['fcmChannel', fcmChannel, { serviceAccount: 'key.json' }, '"serviceAccount": must be an object'],
  [
    'slackChannel',
    slackChannel,
    { token: 'xoxb-1', signingSecret: '' },
    '"signingSecret": must be a text of printable ASCII without spaces, or must be a list',
  ],
  [
    'resendChannel',
    resendChannel,
    { ...resend, webhookSecret: 'secret' },
    '"webhookSecret": must be the signing secret of the webhook, whsec_…, or must be a list',
  ],
  [
    'snsChannel',
    snsChannel,
    { ...sns, credentials: 'x' },
    '"credentials": must be an object, or must be a function',
  ],
  [
    'snsChannel',
    snsChannel,
    { ...sns, credentials: { accessKeyId: 'x' } },
    '"credentials": "secretAccessKey" must be given, or must be a function',
  ],
  ['vonageChannel', vonageChannel, { ...vonage, receiptsUrl: 'x' }, '"receiptsUrl": must be an address'],
])('%s says what is right (%#)', (maker, make, options, what) => {
  expect(() => make(options as never)).toThrow(
    expect.objectContaining({ code: 'invalid_configuration', message: `${maker}: ${what}.` }),
  )
})
