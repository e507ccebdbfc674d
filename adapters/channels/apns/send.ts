import { parseRetryAfter } from '../../../src/core/channels/http-answer.ts'
import { ownerOfDataKey, type PushKind, push } from '../../../src/core/channels/push.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Message, Provider, SendContext } from '../../../src/core/ports/provider.ts'
import { lateEnvironmentProxy } from '../../../src/outgoing/proxy.ts'
import { present, rejected } from '../kit/push/composing.ts'
import { apnsExpiration, keptSeconds } from '../kit/push/keeping.ts'
import { stableUuid } from '../kit/push/stable-uuid.ts'
import { apnsOutcome } from './errors.ts'
import { http2Client } from './http2-client.ts'
import type { Http2Result } from './http2-session.ts'
import { type ApnsOptions, type ResolvedApnsOptions, resolveApnsOptions } from './options.ts'
import { providerToken } from './token.ts'

export type { ApnsOptions }

/** Apple: "Generating a remote notification". Only VoIP messages may be longer. */
const MAX_PAYLOAD_BYTES = 4_096
/** About half of the default time for a message, so that a dead host leaves time for another attempt to connect. */
const CONNECT_TIMEOUT_MS = 8_000
/** Apple does not document a length; all tokens so far had 32 bytes or more. */
const DEVICE_TOKEN = /^(?:[0-9a-f]{2}){32,100}$/i

/**
 * Apple Push Notification service with a signing key, over one HTTP/2 connection. A message's `subject` is the title of
 * the alert. `push.data`, `push.link` and `push.image` are next to `aps` in the payload.
 *
 * APNs sends no receipts, so the status ends at `sent`. All attempts of a notification carry the same `apns-id`.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 *
 * @example
 * const push = apns({
 *   key: await readFile('AuthKey_ABC123DEFG.p8', 'utf8'),
 *   keyId: 'ABC123DEFG',
 *   teamId: 'DEF123GHIJ',
 *   topic: 'com.example.app',
 * })
 */
export function apns(options: ApnsOptions): Provider<PushKind> {
  const resolved = resolveApnsOptions(options)
  const { name, origin, ca, keepAliveMs, timeoutMs, maxConcurrent, maxPerSecond, retry } = resolved
  const token = providerToken(resolved)
  let proxyFor = lateEnvironmentProxy()
  const client = http2Client({
    origin,
    ca,
    keepAliveMs,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    proxyFor: (url) => proxyFor(url),
  })

  return {
    name,
    kind: push,
    maxConcurrent,
    maxPerSecond,
    timeoutMs,
    onAmbiguous: 'retry',
    retry,
    accepts: (to) => DEVICE_TOKEN.test(to),

    async open(context) {
      proxyFor = context.proxyFor
    },

    async send(message, context) {
      const composed = compose(resolved, message, context)
      if (composed.kind === 'rejected') return composed
      const authorization = token.current()
      const result = await client.post({
        path: `/3/device/${message.to}`,
        headers: { ...composed.headers, authorization: `bearer ${authorization}` },
        body: composed.body,
        signal: context.signal,
      })
      if (result.kind === 'failed') return unanswered(result)
      if (result.status === 200) {
        return {
          kind: 'accepted',
          providerMessageId: result.header('apns-id') ?? composed.headers['apns-id'],
        }
      }
      const hint = parseRetryAfter(result.header('retry-after'), Date.now())
      const { outcome, renew } = apnsOutcome(result.status, result.body, hint)
      if (renew === 'connection') result.retire()
      if (renew === 'token' && !token.expired(authorization)) {
        context.logger.warn('APNs considers a new provider token expired. Check the clock of this machine.')
      }
      return outcome
    },

    async check() {
      try {
        await client.connect()
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause)
        throw new NotifierError('provider_unavailable', { message: `APNs cannot be reached: ${why}`, cause })
      }
    },

    close: () => client.close(),
  }
}

type Composed =
  | {
      readonly kind: 'composed'
      readonly headers: Readonly<Record<string, string>> & { readonly 'apns-id': string }
      readonly body: Buffer
    }
  | Extract<Outcome, { kind: 'rejected' }>

function compose(options: ResolvedApnsOptions, message: Message<PushKind>, context: SendContext): Composed {
  const { to, push } = message
  if (!DEVICE_TOKEN.test(to)) {
    return rejected('invalid_device_token', 'recipient', 'The recipient is not an APNs device token.')
  }
  if (Object.keys(push?.data ?? {}).some((key) => ownerOfDataKey(key) === 'APNs')) {
    return rejected('invalid_content', 'message', 'The data key "aps" is reserved by APNs.')
  }
  const body = Buffer.from(JSON.stringify(payloadOf(options, message)))
  if (body.length > MAX_PAYLOAD_BYTES) {
    const size = `The payload has ${body.length} bytes; APNs accepts at most ${MAX_PAYLOAD_BYTES}.`
    return rejected('message_too_large', 'message', size)
  }
  const isSilent = push?.silent === true
  return {
    kind: 'composed',
    body,
    headers: {
      'apns-id': stableUuid(context.idempotencyKey),
      'apns-topic': options.topic,
      'apns-push-type': isSilent ? 'background' : 'alert',
      // APNs refuses other priorities of background messages.
      'apns-priority': isSilent ? '5' : String(options.priority),
      'apns-expiration': apnsExpiration(keptSeconds(push, options.ttlSeconds, context.expiresInMs)),
      // Not the idempotency key: the message must also replace its predecessor after a retry.
      'apns-collapse-id': push?.collapseKey ?? stableUuid(context.notificationId),
      'content-type': 'application/json',
      'content-length': String(body.length),
    },
  }
}

function payloadOf({ aps }: ResolvedApnsOptions, { subject, body, push = {} }: Message<PushKind>): object {
  const { data, badge, sound, image, link, category, thread, silent } = push
  if (silent === true) return { ...data, aps: { 'content-available': 1 } }
  return {
    ...data,
    ...present({ link, image }),
    aps: {
      ...aps,
      ...present({ badge, sound, category, 'thread-id': thread }),
      // The app's extension loads the image.
      ...(image === undefined ? {} : { 'mutable-content': 1 }),
      alert: { ...(subject === null ? {} : { title: subject }), body },
    },
  }
}

function unanswered({ mayHaveActed, message }: Extract<Http2Result, { kind: 'failed' }>): Outcome {
  return mayHaveActed
    ? { kind: 'ambiguous', code: 'provider_unavailable', reason: message }
    : { kind: 'retry', code: 'provider_unavailable', scope: 'provider', message }
}
