import { ownerOfDataKey, type PushKind } from '../../../src/core/channels/push.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import type { Message, SendContext } from '../../../src/core/ports/provider.ts'
import { present, rejected } from '../kit/push/composing.ts'
import { apnsExpiration, keptSeconds } from '../kit/push/keeping.ts'
import { stableUuid } from '../kit/push/stable-uuid.ts'
import { topicOf } from '../kit/push/topic.ts'
import type { ResolvedFcmOptions } from './options.ts'

/** "About FCM messages": limit for title, text and data together. */
const MAX_PAYLOAD_BYTES = 4_096
/**
 * `<instance id>:<token>`, or the older form. The format is undocumented. It must not match APNs tokens, which are
 * hexadecimal.
 */
export const REGISTRATION_TOKEN: RegExp = /^(?:[\w-]{8,64}:[\w-]{64,1024}|APA91[\w-]{64,1024})$/

/** The refusal of a message that FCM does not accept. Null: none. */
export function faultOf({ to, subject, body, push }: Message<PushKind>): Outcome | null {
  if (!REGISTRATION_TOKEN.test(to)) {
    return rejected('invalid_device_token', 'recipient', 'The recipient is not an FCM registration token.')
  }
  const data = Object.entries(push?.data ?? {})
  const reserved = data.find(([key]) => ownerOfDataKey(key) === 'FCM')
  if (reserved !== undefined) {
    return rejected('invalid_content', 'message', `The data key "${reserved[0]}" is reserved by FCM.`)
  }
  const shown = push?.silent === true ? [] : [subject, body, push?.link, push?.image]
  const size = Buffer.byteLength([...shown, ...data.flat()].join(''))
  return size <= MAX_PAYLOAD_BYTES
    ? null
    : rejected(
        'message_too_large',
        'message',
        `The message has ${size} bytes; FCM accepts at most ${MAX_PAYLOAD_BYTES}.`,
      )
}

/**
 * A message of HTTP v1: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages. A silent one has data
 * only.
 */
export function composeFcm(
  { ttlSeconds, priority }: ResolvedFcmOptions,
  message: Message<PushKind>,
  { notificationId, expiresInMs }: SendContext,
): object {
  const { to, subject, body, push = {} } = message
  const { data, image, link, collapseKey } = push
  const seconds = keptSeconds(push, ttlSeconds, expiresInMs)
  // Not the idempotency key: the message must also replace its predecessor after a retry.
  const tag = collapseKey ?? stableUuid(notificationId)
  const life: Life = { seconds, tag, collapseKey }
  if (push.silent === true) return { token: to, ...present({ data }), ...silentBlocks(life) }
  return {
    token: to,
    notification: { ...(subject === null ? {} : { title: subject }), body, ...present({ image }) },
    ...(data === undefined && link === undefined ? {} : { data: { ...data, ...present({ link }) } }),
    ...blocks(life, priority, push),
  }
}

interface Life {
  readonly seconds: number
  /** A newer notification with the same tag replaces the older one on the device. */
  readonly tag: string
  readonly collapseKey: string | undefined
}

function blocks(
  { seconds, tag, collapseKey }: Life,
  priority: ResolvedFcmOptions['priority'],
  { badge, sound, image, link, category, thread }: NonNullable<Message<PushKind>['push']>,
): object {
  const aps = present({ badge, sound, category, 'thread-id': thread })
  const payload = {
    aps: { ...aps, ...(image === undefined ? {} : { 'mutable-content': 1 }) },
  }
  return {
    android: {
      priority: priority.toUpperCase(),
      ttl: `${seconds}s`,
      ...present({ collapse_key: collapseKey }),
      notification: { tag, ...present({ sound, notification_count: badge, click_action: category }) },
    },
    apns: {
      headers: apnsHeaders(seconds, tag, priority === 'high' ? '10' : '5'),
      ...(Object.keys(payload.aps).length === 0 ? {} : { payload }),
      ...(image === undefined ? {} : { fcm_options: { image } }),
    },
    webpush: {
      headers: webHeaders(seconds, priority, collapseKey),
      notification: { tag },
      // FCM accepts https alone.
      ...(link?.startsWith('https:') === true ? { fcm_options: { link } } : {}),
    },
  }
}

function silentBlocks({ seconds, tag, collapseKey }: Life): object {
  return {
    android: { priority: 'NORMAL', ttl: `${seconds}s`, ...present({ collapse_key: collapseKey }) },
    apns: {
      headers: { ...apnsHeaders(seconds, tag, '5'), 'apns-push-type': 'background' },
      payload: { aps: { 'content-available': 1 } },
    },
    webpush: { headers: webHeaders(seconds, 'normal', collapseKey) },
  }
}

function apnsHeaders(seconds: number, tag: string, priority: string): Record<string, string> {
  return {
    'apns-priority': priority,
    'apns-expiration': apnsExpiration(seconds),
    'apns-collapse-id': tag,
  }
}

function webHeaders(seconds: number, urgency: string, key: string | undefined): Record<string, string> {
  return { TTL: String(seconds), Urgency: urgency, ...(key === undefined ? {} : { Topic: topicOf(key) }) }
}
