import type { Query } from '../../app/router.ts'

/** Whom a text addresses, by its form. Null: it is no whole address. @param channels those that the service knows */
export function personQuery(text: string, channels: readonly string[]): Query | null {
  const channel = /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(text)
    ? 'email'
    : /^\+\d{6,15}$/.test(text)
      ? 'sms'
      : null
  return channel !== null && channels.includes(channel) ? { channel, to: text } : null
}
