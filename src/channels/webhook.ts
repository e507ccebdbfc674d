import { type ChannelKind, isPlainLine } from '../domain/channel-kind.ts'

export type WebhookKind = ChannelKind<'webhook', never>

export const webhook: WebhookKind = {
  name: 'webhook',
  recipient: 'an https URL without credentials',
  checkRecipient: (to) => (isHttpUrl(to) ? null : {}),
  subject: 'a field',
  // The source decides what goes out: JSON where it begins as an object or a list does, else plain text.
  escape: (value, { beginning }) => (/^[[{]/.test(beginning) ? JSON.stringify(value).slice(1, -1) : value),
}

/** The form only: the guard judges the address when it is used. */
function isHttpUrl(to: string): boolean {
  if (to.length > 2048 || !isPlainLine(to) || !URL.canParse(to)) return false
  const url = new URL(to)
  return (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === ''
}
