/** The channels that a message can take. */
export const CHANNELS = ['email', 'sms', 'push', 'slack', 'webhook'] as const

/** One of the five channels a notification can travel through. */
export type ChannelName = (typeof CHANNELS)[number]

const known: ReadonlySet<string> = new Set(CHANNELS)

/** Tells whether a value names a channel, exactly as it is written. */
export function isChannelName(value: unknown): value is ChannelName {
  return typeof value === 'string' && known.has(value)
}
