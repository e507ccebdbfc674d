import * as z from 'zod'
import type { ChannelKind } from '../domain/channel-kind.ts'
import { fewFields, text } from '../domain/input/fields.ts'

/** Parts of a push message beside its text. */
export interface PushContent {
  /** Data for the application on the device: at most 4 KB of keys and values. */
  readonly data?: Readonly<Record<string, string>> | undefined
}

export type PushKind = ChannelKind<'push', PushContent>

const MAX_DATA_BYTES = 4_096
const DATA_TOO_LARGE = `at most ${MAX_DATA_BYTES} bytes of keys and values`
/** Keys that FCM refuses or reserves. */
const OF_FCM = /^(?:from|message_type|(?:google|gcm)(?:\..*)?)$/

const pushParts: z.ZodType<PushContent, PushContent> = z.strictObject({
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
        if (owner !== null) addIssue({ code: 'custom', message: `the key "${key}" is reserved by ${owner}` })
      }
    }),
  )
    .optional()
    .describe('Data for the application on the device: text values, at most 4 KB of keys and values.'),
})

export const push: PushKind = {
  name: 'push',
  recipient: 'a device token or a web push subscription',
  subject: 'the title',
  parts: pushParts,
  // A message without title and text may carry data only.
  isBlank: ({ subject, body, parts }) =>
    body.trim() === '' && (subject ?? '').trim() === '' && parts?.data === undefined,
}

/** The system that reserves a key of the data. Null: the key is free. */
export function ownerOfDataKey(key: string): 'APNs' | 'FCM' | null {
  if (key === 'aps') return 'APNs'
  return OF_FCM.test(key) ? 'FCM' : null
}
