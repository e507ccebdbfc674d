/** The channels of SPEC.md: four in the send operation, `webhook` from its error table. */
export const CHANNELS = ['email', 'sms', 'push', 'slack', 'webhook'] as const

/** One of the five channels a notification can travel through. */
export type ChannelName = (typeof CHANNELS)[number]

const known: ReadonlySet<string> = new Set(CHANNELS)

/** Tells whether a value names a channel, exactly as written in SPEC.md. */
export function isChannelName(value: unknown): value is ChannelName {
  return typeof value === 'string' && known.has(value)
}
