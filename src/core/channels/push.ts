import * as z from 'zod'
import { fewFields, text } from '../input/fields.ts'
import { httpsUrl } from '../input/https-url.ts'
import { agreeing } from '../rest/named.ts'
import type { ChannelKind } from './channel-kind.ts'

/**
 * Parts of a push message besides its text. Each system carries what it can; docs/tasks/push.md has the table. The app of an
 * Apple or Android device finds `link`, and on Apple devices `image`, next to its data.
 */
export interface PushContent {
  /** Data for the application on the device: at most 4 KB of keys and values. */
  readonly data?: Readonly<Record<string, string>> | undefined
  /** Number on the app's icon: 0 to 99,999. 0 removes it. Default: unchanged. */
  readonly badge?: number | undefined
  /** Name of a sound in the app, or `default`: 1 to 100 letters, digits, spaces, dots, hyphens and underscores. */
  readonly sound?: string | undefined
  /** Image in the notification: an https URL of at most 2,048 characters. */
  readonly image?: string | undefined
  /**
   * Opened by a tap: a URL of at most 2,048 characters with https or a scheme of the app (`myapp://orders/1`). Schemes
   * that run code or read files are refused.
   */
  readonly link?: string | undefined
  /** The app's category, which has the actions: 1 to 64 letters, digits, dots, hyphens and underscores. */
  readonly category?: string | undefined
  /** Groups notifications in the list of the device: 1 to 64 visible ASCII characters. */
  readonly thread?: string | undefined
  /**
   * Messages with the same key replace each other on a device: 1 to 64 visible ASCII characters. Default: a key of the
   * notification, so that a repeated attempt replaces the first.
   */
  readonly collapseKey?: string | undefined
  /**
   * Seconds from the hand-over that the push service keeps the message for an offline device, at most 2,419,200 (four
   * weeks). 0: try once. `expiresAt` shortens it. Default: the provider's option.
   */
  readonly ttlSeconds?: number | undefined
  /**
   * True: wakes the app in the background and shows nothing. A title and a text are not sent, and nothing that a person
   * would see is allowed. Browsers have no silent messages. Default: false.
   */
  readonly silent?: boolean | undefined
}

export type PushKind = ChannelKind<'push', PushContent>

const MAX_DATA_BYTES = 4_096
const DATA_TOO_LARGE = `at most ${MAX_DATA_BYTES} bytes of keys and values`
const MAX_BADGE = 99_999
const MAX_LINK = 2_048
const MAX_TTL_SECONDS = 2_419_200
/** Keys that FCM refuses or reserves. */
const OF_FCM = /^(?:from|message_type|(?:google|gcm)(?:\..*)?)$/
const KEY = /^[\x21-\x7e]{1,64}$/
const NO_KEY = 'must be 1 to 64 visible ASCII characters without spaces'
/** Schemes that run code, read files, start other apps' components or are not encrypted. */
const DANGEROUS: ReadonlySet<string> = new Set([
  ...['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'filesystem:', 'about:', 'view-source:'],
  ...['intent:', 'android-app:', 'content:', 'itms-services:', 'chrome:', 'ftp:', 'http:', 'ws:', 'wss:'],
])
/** Visible and audible parts. */
const VISIBLE = ['badge', 'sound', 'image', 'link', 'category', 'thread'] as const
/** Parts that reach the app next to its data. */
const BESIDE_DATA = ['link', 'image'] as const

const pushParts = z
  .strictObject({
    // Keys must not be empty.
    data: fewFields(
      MAX_DATA_BYTES,
      DATA_TOO_LARGE,
      z.record(text(1, 128), text(0, MAX_DATA_BYTES)).superRefine((data, { addIssue }) => {
        if (Buffer.byteLength(Object.entries(data).flat().join('')) > MAX_DATA_BYTES) {
          addIssue({ code: 'custom', message: DATA_TOO_LARGE })
        }
        for (const key of Object.keys(data)) {
          const owner = ownerOfDataKey(key)
          if (owner !== null)
            addIssue({ code: 'custom', message: `the key "${key}" is reserved by ${owner}` })
        }
      }),
    )
      .optional()
      .describe('Data for the application on the device: text values, at most 4 KB of keys and values.'),
    badge: z
      .int()
      .min(0)
      .max(MAX_BADGE)
      .optional()
      .describe("Number on the app's icon, 0 to 99999. 0 removes it."),
    sound: z
      .string()
      .regex(/^[\w][\w .-]{0,99}$/, 'must be the name of a sound: letters, digits, spaces, dots, - and _')
      .optional()
      .describe('Name of a sound in the app, or `default`.'),
    image: httpsUrl.optional().describe('Image in the notification: an https URL.'),
    link: text(1, MAX_LINK)
      .refine(isLink, {
        message: 'must be a URL with https or a scheme of the app, such as myapp://orders/1',
      })
      .optional()
      .describe('URL that a tap opens: https, or a scheme of the app.'),
    category: z
      .string()
      .regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores')
      .optional()
      .describe("The app's category, which has the actions of the notification."),
    thread: z
      .string()
      .regex(KEY, NO_KEY)
      .optional()
      .describe('Groups notifications in the list of the device.'),
    collapseKey: z
      .string()
      .regex(KEY, NO_KEY)
      .optional()
      .describe('Messages with the same key replace each other on a device.'),
    ttlSeconds: z
      .int()
      .min(0)
      .max(MAX_TTL_SECONDS)
      .optional()
      .describe(
        'Seconds that the push service keeps the message for an offline device, at most 2419200. 0: try once.',
      ),
    silent: z
      .boolean()
      .optional()
      .describe('True: wakes the app in the background and shows nothing. Not for browsers.'),
  })
  .superRefine((parts, { addIssue }) => {
    const issue = (field: string, message: string) => addIssue({ code: 'custom', path: [field], message })
    const seen = parts.silent === true ? VISIBLE.find((field) => parts[field] !== undefined) : undefined
    if (seen !== undefined) issue(seen, 'must be left out of a silent message, which shows nothing')
    for (const field of BESIDE_DATA) {
      if (parts[field] !== undefined && Object.hasOwn(parts.data ?? {}, field))
        issue(
          field,
          `must be left out, or the key "${field}" of "data": the app finds both in the same place`,
        )
    }
  })

export const push: PushKind = {
  name: 'push',
  recipient: 'a device token or a web push subscription',
  subject: 'the title',
  parts: agreeing(pushParts),
  // A message without title and text may carry data only.
  isBlank: ({ subject, body, parts }) =>
    body.trim() === '' &&
    (subject ?? '').trim() === '' &&
    parts?.data === undefined &&
    parts?.silent !== true,
}

/** The system that reserves a key of the data. Null: the key is free. */
export function ownerOfDataKey(key: string): 'APNs' | 'FCM' | null {
  if (key === 'aps') return 'APNs'
  return OF_FCM.test(key) ? 'FCM' : null
}

function isLink(link: string): boolean {
  // The URL parser drops spaces and line breaks, and so could read another scheme than a person or an app does.
  if (/[\s\p{Cc}]/u.test(link) || !URL.canParse(link)) return false
  const { protocol, username, password } = new URL(link)
  return !DANGEROUS.has(protocol) && username === '' && password === ''
}
