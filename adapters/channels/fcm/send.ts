import { ownerOfDataKey, type PushKind, push } from '../../../src/channels/push.ts'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import type { Outcome } from '../../../src/domain/outcome.ts'
import type { Message, Provider, SendContext } from '../../../src/ports/provider.ts'
import { providerHttp } from '../kit/http/provider-http.ts'
import { rejected } from '../kit/push/composing.ts'
import { stableUuid } from '../kit/push/stable-uuid.ts'
import { judgeFcm, refusesAccess } from './errors.ts'
import {
  type FcmOptions,
  type FcmServiceAccount,
  type ResolvedFcmOptions,
  resolveFcmOptions,
} from './options.ts'
import { googleToken } from './token.ts'

export type { FcmOptions, FcmServiceAccount }

const SCOPE = 'https://www.googleapis.com/auth/firebase.messaging'
/** "About FCM messages": limit for title, text and data together. */
const MAX_PAYLOAD_BYTES = 4_096
/**
 * `<instance id>:<token>`, or the older form. The format is undocumented. It must not match APNs tokens, which are
 * hexadecimal.
 */
const REGISTRATION_TOKEN = /^(?:[\w-]{8,64}:[\w-]{64,1024}|APA91[\w-]{64,1024})$/

/**
 * Firebase Cloud Messaging (HTTP v1) with a service account. A message's `subject` is the title. The app receives
 * `push.data`.
 *
 * FCM sends no receipts, so the status ends at `sent`. It does not deduplicate, but a second message of a notification
 * has the same tag and replaces the first on the device.
 *
 * @throws NotifierError `invalid_configuration` with the option's name
 */
export function fcm(options: FcmOptions): Provider<PushKind> {
  const resolved = resolveFcmOptions(options)
  const { name, baseUrl, projectId, account, timeoutMs, maxConcurrent, maxPerSecond, onAmbiguous, retry } =
    resolved
  const http = providerHttp({ maxConnections: maxConcurrent, timeoutMs, secrets: [] })
  const token = googleToken(http, account, SCOPE)
  const url = `${baseUrl}/v1/projects/${encodeURIComponent(projectId)}/messages:send`

  return {
    name,
    kind: push,
    maxConcurrent,
    maxPerSecond,
    // A message may wait for the token before its own deadline starts.
    timeoutMs: 2 * timeoutMs + 1_000,
    onAmbiguous,
    retry,
    accepts: (to) => REGISTRATION_TOKEN.test(to),

    async send(message, context) {
      const fault = faultOf(message)
      if (fault !== null) return fault
      const access = await token.get(context.signal)
      if (access.kind !== 'token') return access
      return http.send(
        {
          url,
          headers: { authorization: `Bearer ${access.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ message: compose(resolved, message, context) }),
          signal: context.signal,
        },
        (answer) => {
          const renewed = refusesAccess(answer) && token.refused(access.token)
          return judgeFcm(answer, access.token, renewed)
        },
      )
    },

    async check() {
      const access = await token.get(AbortSignal.timeout(timeoutMs))
      if (access.kind === 'token') return
      const why = access.kind === 'ambiguous' ? access.reason : access.message
      throw new NotifierError(access.code ?? 'provider_error', { message: `FCM cannot be used: ${why}` })
    },

    close: () => http.close(),
  }
}

function faultOf({ to, subject, body, push }: Message<PushKind>): Outcome | null {
  if (!REGISTRATION_TOKEN.test(to)) {
    return rejected('invalid_device_token', 'recipient', 'The recipient is not an FCM registration token.')
  }
  const data = Object.entries(push?.data ?? {})
  const reserved = data.find(([key]) => ownerOfDataKey(key) === 'FCM')
  if (reserved !== undefined) {
    return rejected('invalid_content', 'message', `The data key "${reserved[0]}" is reserved by FCM.`)
  }
  const size = Buffer.byteLength([subject, body, ...data.flat()].join(''))
  return size <= MAX_PAYLOAD_BYTES
    ? null
    : rejected(
        'message_too_large',
        'message',
        `The message has ${size} bytes; FCM accepts at most ${MAX_PAYLOAD_BYTES}.`,
      )
}

function compose(options: ResolvedFcmOptions, message: Message<PushKind>, context: SendContext): object {
  const { to, subject, body, push } = message
  // Not the idempotency key: the message must also replace its predecessor after a retry.
  const id = stableUuid(context.notificationId)
  const { ttlSeconds, priority } = options
  return {
    token: to,
    notification: { ...(subject === null ? {} : { title: subject }), body },
    ...(push?.data === undefined ? {} : { data: push.data }),
    android: { priority: priority.toUpperCase(), ttl: `${ttlSeconds}s`, notification: { tag: id } },
    apns: {
      headers: {
        'apns-priority': priority === 'high' ? '10' : '5',
        'apns-expiration': ttlSeconds === 0 ? '0' : String(Math.floor(context.createdAt / 1000) + ttlSeconds),
        'apns-collapse-id': id,
      },
    },
    webpush: { headers: { TTL: String(ttlSeconds), Urgency: priority }, notification: { tag: id } },
  }
}
