import { type PushKind, push } from '../../../src/core/channels/push.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Message, PartsRefusal, Provider, SendContext } from '../../../src/core/ports/provider.ts'
import { guardedHttp } from '../../../src/outgoing/guarded-http.ts'
import { peerFault } from '../../peer/peer-fault.ts'
import { describeProvider } from '../kit/http/http-provider.ts'
import { present, rejected } from '../kit/push/composing.ts'
import { keptSeconds } from '../kit/push/keeping.ts'
import { hashedTopic, topicOf } from '../kit/push/topic.ts'
import { redactor } from '../kit/redact.ts'
import { impossible } from '../kit/unsent.ts'
import { webPushOutcome } from './errors.ts'
import {
  type ResolvedWebPushOptions,
  resolveWebPushOptions,
  type VapidKeys,
  type WebPushOptions,
} from './options.ts'
import { classifyHost } from './services.ts'
import { type PushSubscription, parseSubscription } from './subscription.ts'

export type { VapidKeys, WebPushOptions }

/** Payload for the service worker: `event.data.json()`. */
export interface WebPushPayload {
  /** Equal for every attempt of a notification. Use it as `tag` to show repeated attempts once. */
  readonly id: string
  readonly title: string | null
  readonly body: string
  /** `push.data` of the send, and the other parts below as the send has them. */
  readonly data?: Readonly<Record<string, string>> | undefined
  readonly badge?: number | undefined
  readonly image?: string | undefined
  readonly link?: string | undefined
  readonly category?: string | undefined
  readonly thread?: string | undefined
  /** `push.collapseKey`: use it as `tag` instead of `id`. */
  readonly collapseKey?: string | undefined
}

/** RFC 8291 4: push services accept at least 4096 bytes, of which encryption takes 103. */
const MAX_PAYLOAD_BYTES = 3_993

/** Subscriptions are `userVisibleOnly`: a browser shows its own notice for a message that shows nothing. */
const NO_SILENCE: PartsRefusal = {
  code: 'invalid_content',
  message: 'Browsers have no silent messages. Leave out "push.silent", or send it to an app.',
  field: 'silent',
}

/** The members in use of the package web-push, which encrypts and signs. The request is our own. */
interface Encrypter {
  generateRequestDetails(
    subscription: PushSubscription,
    payload: string,
    options: Readonly<Record<string, unknown>>,
  ): { readonly headers: Readonly<Record<string, unknown>>; readonly body: Uint8Array | null }
}

/**
 * Web Push (RFC 8030, 8291, 8292) on the optional package web-push. The recipient is the JSON of a browser's push
 * subscription. Requests to its endpoint pass the guard against private addresses. A message's `subject` is the title.
 *
 * @throws NotifierError `invalid_configuration` with the option's name; `missing_peer` at the start without web-push
 *
 * @example
 * const push = webPush({
 *   vapid: {
 *     subject: 'mailto:ops@example.com',
 *     publicKey: process.env.VAPID_PUBLIC_KEY ?? '',
 *     privateKey: process.env.VAPID_PRIVATE_KEY ?? '',
 *   },
 * })
 */
export function webPush(options: WebPushOptions): Provider<PushKind> {
  const resolved = resolveWebPushOptions(options)
  const { timeoutMs, maxConcurrent, allow, allowHttp, ca } = resolved
  const http = guardedHttp({ allow, allowHttp, ca, maxConnections: maxConcurrent })
  let loading: Promise<Encrypter> | undefined
  const encrypter = (): Promise<Encrypter> => {
    loading ??= loadWebPush()
    loading.catch(() => {
      loading = undefined
    })
    return loading
  }

  return {
    ...describeProvider(push, { ...resolved, onAmbiguous: 'retry' }),
    accepts(to) {
      const subscription = parseSubscription(to)
      return subscription !== null && http.refuses(subscription.endpoint) === null
    },

    refuses: ({ silent }) => (silent === true ? NO_SILENCE : null),

    async send(message, context) {
      const subscription = parseSubscription(message.to)
      if (subscription === null) {
        return rejected('invalid_device_token', 'recipient', 'The recipient is not a push subscription.')
      }
      const composed = compose(resolved, message, context)
      if ('kind' in composed) return composed
      let library: Encrypter
      try {
        library = await encrypter()
      } catch (error) {
        return impossible(error)
      }
      const details = encrypt(library, subscription, composed)
      if (details === null) {
        return rejected('invalid_device_token', 'recipient', 'The keys of the push subscription are invalid.')
      }
      const result = await http.post({
        organizationId: context.organizationId,
        url: subscription.endpoint,
        headers: details.headers,
        body: details.body,
        timeoutMs,
        signal: context.signal,
      })
      const host = classifyHost(resolved.pushServices, subscription.endpoint)
      return redactor(secretsOf(resolved.vapid, subscription, details.headers))(webPushOutcome(result, host))
    },

    async open() {
      await encrypter()
    },

    async check() {
      await encrypter()
    },

    close: () => http.close(),
  }
}

interface Composed {
  readonly payload: string
  readonly options: Readonly<Record<string, unknown>>
}

/** @throws NotifierError `missing_peer` */
async function loadWebPush(): Promise<Encrypter> {
  try {
    const { default: library } = await import(/* turbopackOptional: true */ 'web-push')
    return library
  } catch (cause) {
    throw peerFault('web-push', cause)
  }
}

function compose(
  options: ResolvedWebPushOptions,
  message: Message<PushKind>,
  context: SendContext,
): Composed | Outcome {
  const { subject, body, push = {} } = message
  if (push.silent === true) return rejected('invalid_content', 'message', NO_SILENCE.message)
  const { data, badge, image, link, category, thread, collapseKey } = push
  const content: WebPushPayload = {
    id: context.notificationId,
    title: subject,
    body,
    ...present({ data, badge, image, link, category, thread, collapseKey }),
  }
  const payload = JSON.stringify(content)
  const size = Buffer.byteLength(payload)
  if (size > MAX_PAYLOAD_BYTES) {
    return rejected(
      'message_too_large',
      'message',
      `The message has ${size} bytes; push services accept at most ${MAX_PAYLOAD_BYTES}.`,
    )
  }
  return {
    payload,
    options: {
      vapidDetails: options.vapid,
      TTL: keptSeconds(push, options.ttlSeconds, context.expiresInMs),
      urgency: options.urgency,
      contentEncoding: 'aes128gcm',
      // Not the idempotency key: the message must also replace its predecessor after a retry.
      topic: collapseKey === undefined ? hashedTopic(context.notificationId) : topicOf(collapseKey),
    },
  }
}

/** @returns null if the subscription's keys are invalid: a point that is not on the curve */
function encrypt(
  encrypter: Encrypter,
  subscription: PushSubscription,
  { payload, options }: Composed,
): { readonly headers: Record<string, string>; readonly body: Uint8Array } | null {
  try {
    const { headers, body } = encrypter.generateRequestDetails(subscription, payload, options)
    if (body === null) return null
    return {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      body,
    }
  } catch {
    return null
  }
}

/**
 * Users choose the endpoint, whose answer may quote the request. The keys appear in no request and are redacted anyway.
 */
function secretsOf(
  { privateKey }: VapidKeys,
  { endpoint, keys }: PushSubscription,
  headers: Readonly<Record<string, string>>,
): readonly string[] {
  const token = /t=([^,]+)/.exec(headers.Authorization ?? '')?.[1]
  return [...(token === undefined ? [] : [token]), privateKey, endpoint, keys.auth]
}
