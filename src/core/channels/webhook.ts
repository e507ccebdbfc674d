import { type ChannelKind, isPlainLine } from './channel-kind.ts'

export type WebhookKind = ChannelKind<'webhook', never>

export const webhook: WebhookKind = {
  name: 'webhook',
  recipient: 'an https URL without credentials',
  checkRecipient: (to) => (isHttpUrl(to) ? null : {}),
  subject: 'a field',
  // The template decides the format: JSON if it begins with a brace or bracket, else plain text.
  escape: (value, { beginning }) => (/^[[{]/.test(beginning) ? JSON.stringify(value).slice(1, -1) : value),
}

/** Checks the form only. The guard checks the address at delivery. */
function isHttpUrl(to: string): boolean {
  if (to.length > 2048 || !isPlainLine(to) || !URL.canParse(to)) return false
  const url = new URL(to)
  return (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === ''
}
