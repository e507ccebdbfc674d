// Writes the generated parts of docs/ between their markers: npm run docs [-- --check]
import { readFileSync, writeFileSync } from 'node:fs'
import ts from 'typescript'
import { ERRORS } from '../src/domain/errors/catalogue.ts'
import { EVENT_TYPE_OF, EVENT_TYPES, SPEC_EVENT_TYPES } from '../src/domain/facts.ts'
import { GAUGES, METRICS } from '../src/domain/metrics.ts'
import { ROUTES } from '../src/http/routes/table.ts'
import {
  SIMULATED_CASES,
  SIMULATED_CODES,
  SIMULATED_FORMS,
  simulatedRecipient,
} from '../src/testing/simulator/recipients.ts'
import { fromRoot } from './entries.mjs'

/** @type {Record<string, Record<string, () => string>>} file → part → text */
const parts = {
  'docs/errors.md': { catalogue },
  'docs/events.md': {
    types,
    receiver: options('src/webhook-receiver/receive.ts', 'ReceiverOptions'),
    verify: options('src/webhook-receiver/verify.ts', 'VerifyOptions'),
  },
  'docs/dashboard.md': { dashboard: options('src/dashboard/index.ts', 'DashboardOptions') },
  'docs/rest-api.md': { routes },
  'docs/testing.md': { simulator, 'simulated codes': simulatedCodes },
  'docs/observability.md': {
    metrics,
    gauges,
    prometheus: options('adapters/telemetry/prometheus.ts', 'PrometheusOptions'),
    opentelemetry: options('adapters/telemetry/opentelemetry.ts', 'OpenTelemetryOptions'),
  },
  'docs/options.md': {
    notifier: options('src/options.ts', 'NotifierOptions'),
    webhooks: options('src/options.ts', 'WebhookEventOptions'),
    email: options('src/options.ts', 'EmailOptions'),
    sms: options('src/options.ts', 'SmsOptions'),
    retention: options('src/options.ts', 'RetentionOptions'),
    delivery: options('src/options.ts', 'DeliveryOptions'),
    overuse: options('src/services/limits/request-limits.ts', 'OverusePolicy'),
    plan: options('src/domain/plans.ts', 'Plan'),
    start: options('src/services/notifier.ts', 'StartOptions'),
    stop: options('src/services/notifier.ts', 'StopOptions'),
    http: options('src/http/options.ts', 'HttpApiOptions'),
    sqlite: options('adapters/storage/sqlite/index.ts', 'SqliteOptions'),
    postgres: options('adapters/storage/postgres/options.ts', 'PostgresOptions'),
    memory: options('src/memory/memory-storage.ts', 'MemoryStorageOptions'),
    'memory-rate-limiter': options(
      'src/memory/rate-limiter/memory-rate-limiter.ts',
      'MemoryRateLimiterOptions',
    ),
    redis: options('adapters/rate-limit/redis/index.ts', 'RedisRateLimiterOptions'),
    'graphile-worker': options('adapters/queue/graphile-worker/index.ts', 'GraphileWorkerQueueOptions'),
    bullmq: options('adapters/queue/bullmq/index.ts', 'BullmqQueueOptions'),
    smtp: options('adapters/channels/smtp/options.ts', 'SmtpOptions'),
    timeouts: options('adapters/channels/smtp/options.ts', 'SmtpTimeouts'),
    'mail-api': options('adapters/channels/kit/mail/mail-api.ts', 'MailApiOptions'),
    mail: options('adapters/channels/kit/mail/mail-frame.ts', 'MailOptions'),
    provider: options('adapters/channels/kit/http/provider-options.ts', 'ProviderOptions'),
    ses: options('adapters/channels/ses/send.ts', 'SesOptions'),
    'ses-receipts': options('adapters/channels/ses/receipts.ts', 'SesReceiptOptions'),
    sendgrid: options('adapters/channels/sendgrid/send.ts', 'SendgridOptions'),
    'sendgrid-receipts': options('adapters/channels/sendgrid/receipts.ts', 'SendgridReceiptOptions'),
    postmark: options('adapters/channels/postmark/send.ts', 'PostmarkOptions'),
    resend: options('adapters/channels/resend/send.ts', 'ResendOptions'),
    'resend-receipts': options('adapters/channels/resend/receipts.ts', 'ResendReceiptOptions'),
    mailgun: options('adapters/channels/mailgun/send.ts', 'MailgunOptions'),
    'mailgun-receipts': options('adapters/channels/mailgun/receipts.ts', 'MailgunReceiptOptions'),
    paced: options('adapters/channels/kit/http/paced-options.ts', 'PacedProviderOptions'),
    'twilio-account': options('adapters/channels/twilio/messaging.ts', 'TwilioAccountOptions'),
    'twilio-whatsapp': options('adapters/channels/twilio/whatsapp.ts', 'TwilioWhatsAppOptions'),
    twilio: options('adapters/channels/twilio/send.ts', 'TwilioOptions'),
    'twilio-receipts': options('adapters/channels/twilio/receipts.ts', 'TwilioReceiptOptions'),
    whatsapp: options('adapters/channels/whatsapp/send.ts', 'WhatsAppOptions'),
    'whatsapp-receipts': options('adapters/channels/whatsapp/receipts.ts', 'WhatsAppReceiptOptions'),
    vonage: options('adapters/channels/vonage/send.ts', 'VonageOptions'),
    'vonage-receipts': options('adapters/channels/vonage/receipts.ts', 'VonageReceiptOptions'),
    sns: options('adapters/channels/sns/send.ts', 'SnsOptions'),
    slack: options('adapters/channels/slack/send.ts', 'SlackOptions'),
    'slack-receipts': options('adapters/channels/slack/receipts.ts', 'SlackReceiptOptions'),
    'slack-webhook': options('adapters/channels/slack/webhook.ts', 'SlackWebhookOptions'),
    telegram: options('adapters/channels/telegram/send.ts', 'TelegramOptions'),
    'telegram-receipts': options('adapters/channels/telegram/receipts.ts', 'TelegramReceiptOptions'),
    discord: options('adapters/channels/discord/send.ts', 'DiscordOptions'),
    apns: options('adapters/channels/apns/options.ts', 'ApnsOptions'),
    fcm: options('adapters/channels/fcm/options.ts', 'FcmOptions'),
    'web-push': options('adapters/channels/web-push/options.ts', 'WebPushOptions'),
    webhook: options('adapters/channels/webhook/send.ts', 'WebhookOptions'),
  },
}

let stale = false
for (const [file, makers] of Object.entries(parts)) {
  const path = fromRoot(file)
  const before = readFileSync(path, 'utf8')
  let after = before
  for (const [name, make] of Object.entries(makers)) after = replacePart(file, after, name, make())
  if (after === before) continue
  stale = true
  if (process.argv.includes('--check')) console.error(`${file} is out of date: npm run docs`)
  else writeFileSync(path, after)
}
process.exitCode = stale && process.argv.includes('--check') ? 1 : 0

/**
 * @param {string} file
 * @param {string} text
 * @param {string} name
 * @param {string} part
 */
function replacePart(file, text, name, part) {
  const begin = `<!-- generated: ${name} -->`
  const end = `<!-- end of ${name} -->`
  const from = text.indexOf(begin)
  const to = text.indexOf(end)
  if (from < 0 || to < from) throw new Error(`${file} has no place for the part "${name}"`)
  return `${text.slice(0, from + begin.length)}\n\n${part}\n\n${text.slice(to)}`
}

function catalogue() {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, message, action, retryable }]) =>
      `| \`${code}\` | ${status} | ${retryable ? 'yes' : ''} | ${message} | ${action} |`,
  )
  return ['| Code | Status | Retry | What happened | What to do |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}

function types() {
  const rows = EVENT_TYPES.map((type) => {
    const facts = Object.entries(EVENT_TYPE_OF)
      .filter(([, published]) => published === type)
      .map(([fact]) => `\`${fact}\``)
    return `| \`${type}\` | ${SPEC_EVENT_TYPES.includes(type) ? 'yes' : 'on request'} | ${facts.join(', ')} |`
  })
  return ['| Event | Sent by default | Published for the fact |', '|---|---|---|', ...rows].join('\n')
}

function simulator() {
  const cases = SIMULATED_CASES.map(({ name, what }) => ({ name, what, sms: name }))
  const rows = [...cases, ...SIMULATED_FORMS].map(({ name, what, sms }) => {
    const number = simulatedRecipient('sms', sms)
    return `| \`${name}\` | ${what} | \`${number}\`${sms === name ? '' : ` (\`${sms}\`)`} |`
  })
  return ['| Name | What happens | `sms` |', '|---|---|---|', ...rows].join('\n')
}

function simulatedCodes() {
  const rows = SIMULATED_CODES.map(([code, scope]) => {
    const [rejected, retry] = ['rejected', 'retry'].map((kind) =>
      simulatedRecipient('sms', `${kind}-${code}`),
    )
    return `| \`${code}\` | ${scope} | \`${rejected}\` | \`${retry}\` |`
  })
  const head = ['| Code | Fault of the | `sms` rejected | `sms` retry |', '|---|---|---|---|']
  return [...head, ...rows].join('\n')
}

function metrics() {
  const rows = Object.entries(METRICS).map(
    ([key, { name, kind, labels, help }]) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | \`${key}\` | ${help} |`,
  )
  return ['| Metric | Kind | Labels | In a snapshot | What |', '|---|---|---|---|---|', ...rows].join('\n')
}

function gauges() {
  const rows = Object.values(GAUGES).map(
    ({ name, labels, help }) =>
      `| \`${name}\` | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  )
  return ['| Gauge | Labels | What |', '|---|---|---|', ...rows].join('\n')
}

function routes() {
  const rows = ROUTES.map(({ method, paths, permission, belongsTo, queryGrants = {}, summary }) => {
    const grants = Object.entries(queryGrants).map(
      ([parameter, grant]) => `; with \`${parameter}=true\` also the grant \`${grant}\``,
    )
    const forms = paths.map((path) => `\`${method} ${path}\``).join('<br>')
    const key = belongsTo === 'operator' ? 'operator key, ' : ''
    return `| ${forms} | ${key}${permission}${grants.join('')} | ${summary} |`
  })
  return ['| Request | Permission | What it does |', '|---|---|---|', ...rows].join('\n')
}

/**
 * Table of an options interface, from its doc comments.
 *
 * @param {string} file
 * @param {string} name
 * @returns {() => string}
 */
function options(file, name) {
  return () => {
    const source = ts.createSourceFile(
      file,
      readFileSync(fromRoot(file), 'utf8'),
      ts.ScriptTarget.Latest,
      true,
    )
    const found = source.statements
      .filter(ts.isInterfaceDeclaration)
      .find((statement) => statement.name.text === name)
    if (found === undefined) throw new Error(`${file} has no interface ${name}`)
    const rows = found.members.filter(ts.isPropertySignature).map((member) => optionRow(member, source))
    return ['| Option | Type | |', '|---|---|---|', ...rows].join('\n')
  }
}

/**
 * @param {ts.PropertySignature} member
 * @param {ts.SourceFile} source
 */
function optionRow(member, source) {
  const type = (member.type?.getText(source) ?? '')
    .replace(/\s*\|\s*undefined$/, '')
    .replace(/\breadonly /g, '')
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|')
  const docs = ts.getJSDocCommentsAndTags(member).filter(ts.isJSDoc)
  const comment = docs.map((doc) => ts.getTextOfJSDocComment(doc.comment) ?? '').join(' ')
  const preset = ts.getJSDocTags(member).find((tag) => tag.tagName.text === 'default')
  const text = [
    member.questionToken === undefined ? '**Required.**' : '',
    comment,
    preset === undefined ? '' : `Default: ${ts.getTextOfJSDocComment(preset.comment) ?? ''}.`,
  ]
  const words = text.join(' ').replace(/\s+/g, ' ').trim().replaceAll('|', '\\|') || 'See below.'
  return `| \`${member.name.getText(source)}\` | \`${type}\` | ${words} |`
}
