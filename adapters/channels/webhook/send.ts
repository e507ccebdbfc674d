import * as z from 'zod'
import { interpretPost, type SuccessStatus } from '../../../src/core/channels/http-answer.ts'
import { type WebhookKind, webhook as webhookKind } from '../../../src/core/channels/webhook.ts'
import type { WebhookMessageEvent } from '../../../src/core/channels/webhook-message.ts'
import { type RetryPolicy, WEBHOOK_RETRY } from '../../../src/core/delivery/retry-delay.ts'
import type { Message, Provider, SendContext } from '../../../src/core/ports/provider.ts'
import { guardedHttp } from '../../../src/outgoing/guarded-http.ts'
import { isWebhookSecret, webhookSigner } from '../../../src/outgoing/webhook-signer.ts'
import { describeProvider } from '../kit/http/http-provider.ts'
import { checkOptions, instanceName, retryPolicy, timeout } from '../kit/options.ts'
import { webhookOutcome } from './errors.ts'

/** Options of `webhook`. */
export interface WebhookOptions {
  /**
   * Signing secrets, `whsec_…`, newest first. All receivers share them, and each could sign for the others.
   *
   * @default none: requests carry no signature
   */
  readonly secret?: string | readonly string[] | undefined
  /**
   * Instance id, unique among the providers of its channel.
   *
   * @default 'webhook'
   */
  readonly name?: string | undefined
  /**
   * Longest time for a receiver, including DNS lookup and connection, in milliseconds.
   *
   * @default 5_000
   */
  readonly timeoutMs?: number | undefined
  /**
   * CIDR blocks that are allowed although they are not public, for local receivers during development.
   *
   * @default none
   */
  readonly allow?: readonly string[] | undefined
  /**
   * Accept `http:` URLs. For development.
   *
   * @default false
   */
  readonly allowHttp?: boolean | undefined
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca?: string | readonly string[] | undefined
  /**
   * Statuses that count as success.
   *
   * @default '200'
   */
  readonly successStatus?: SuccessStatus | undefined
  /**
   * Additional headers for every request, for example an authorization. Headers of framing and signature are refused.
   * The headers go to every address that a sender chooses.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Most concurrent requests.
   *
   * @default 50
   */
  readonly maxConcurrent?: number | undefined
  /** Schedule of retries. Default: that of Standard Webhooks, eight attempts in a day. */
  readonly retry?: RetryPolicy | undefined
}

const RESERVED =
  /^(?:host|content-length|content-type|transfer-encoding|connection|expect|upgrade|te|trailer|keep-alive|proxy-.*|webhook-.*)$/i

const secret = z.custom<string>(
  isWebhookSecret,
  'must be whsec_ and the base64 of 24 to 64 bytes; `openssl rand -base64 32` makes one',
)
const schema = z.strictObject({
  secret: z
    .union([secret.transform((one) => [one]), z.array(secret).min(1)], {
      error: 'must be whsec_ and the base64 of 24 to 64 bytes',
    })
    .default([]),
  name: instanceName.default('webhook'),
  timeoutMs: timeout.default(5_000),
  allow: z.array(z.string()).default([]),
  allowHttp: z.boolean().default(false),
  ca: z.union([z.string(), z.array(z.string())]).optional(),
  successStatus: z.enum(['200', '2xx']).default('200'),
  headers: z
    .record(
      z
        .string()
        .regex(/^[A-Za-z0-9-]{1,64}$/)
        .refine((name) => !RESERVED.test(name)),
      z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/),
      { error: 'must have header names other than those of framing and signature, and values on one line' },
    )
    .default({}),
  maxConcurrent: z.int().min(1).max(10_000).default(50),
  retry: retryPolicy.default(WEBHOOK_RETRY),
})

/**
 * Posts notifications to the URL in their recipient, as the event `webhook.message` and signed by Standard Webhooks 1.0.0;
 * the receivers of `carillon/webhooks` verify it. Private addresses are refused. A receiver recognizes repeated attempts by
 * `webhook-id`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const posts = webhook({ secret: process.env.WEBHOOK_SECRET ?? '' })
 * const notifier = createNotifier({ channels: { webhook: posts } })
 * await notifier.send({ channel: 'webhook', to: 'https://customer.example/hook', body: '{"order":"ord_123"}' })
 */
export function webhook(options: WebhookOptions = {}): Provider<WebhookKind> {
  const resolved = checkOptions('webhook', schema, options)
  const { timeoutMs, maxConcurrent, successStatus } = resolved
  const http = guardedHttp({
    allow: resolved.allow,
    allowHttp: resolved.allowHttp,
    ca: resolved.ca,
    maxConnections: maxConcurrent,
  })
  const signer = webhookSigner()

  return {
    ...describeProvider(webhookKind, { ...resolved, maxPerSecond: undefined, onAmbiguous: 'retry' }),
    accepts: (to) => http.refuses(to) === null,

    async send(message, context) {
      const body = bodyOf(message, context)
      const timestamp = Math.floor(Date.now() / 1000)
      const result = await http.post({
        organizationId: context.organizationId,
        url: message.to,
        headers: {
          ...resolved.headers,
          'content-type': 'application/json',
          ...signer.headers(context.notificationId, timestamp, body, resolved.secret),
        },
        body,
        timeoutMs,
        signal: context.signal,
      })
      return webhookOutcome(interpretPost(result, successStatus, Date.now()))
    },

    close: () => http.close(),
  }
}

/** A {@link WebhookMessageEvent}. A JSON object is inserted as text: parsing could change its long numbers. */
function bodyOf({ subject, body }: Message<WebhookKind>, { notificationId, createdAt }: SendContext): string {
  const head = `"id":${JSON.stringify(notificationId)},"subject":${JSON.stringify(subject)}`
  const content = isObject(body) ? body : JSON.stringify(body)
  const data = `${head},"body":${content},"timestamp":"${new Date(createdAt).toISOString()}"`
  return `{"event":"${EVENT}","data":{${data}}}`
}

const EVENT: WebhookMessageEvent['event'] = 'webhook.message'

function isObject(text: string): boolean {
  if (!text.trimStart().startsWith('{')) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
