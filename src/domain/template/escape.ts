import type { ChannelName } from '../channel.ts'
import type { BodyFormat } from '../notification.ts'

/** Where a value lands: an e-mail's text or HTML part, or another channel's body. */
export type Landing = BodyFormat | ChannelName

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '=': '&#61;',
}

/** The escaping for a landing (DESIGN.md §4 "Rendering"). Values are never expanded again. */
export function escapeFor(landing: Landing): (value: unknown) => string {
  switch (landing) {
    case 'html':
      return escapeHtml
    case 'slack':
      return escapeSlack
    case 'webhook':
      return escapeJson
    case 'text':
    case 'email':
    case 'sms':
    case 'push':
      return String
  }
}

function escapeHtml(value: unknown): string {
  return String(value).replace(/[&<>"'`=]/g, (character) => HTML[character] ?? character)
}

/** Slack control sequences such as `<!channel>` need all three (docs.slack.dev, "Formatting text"). */
function escapeSlack(value: unknown): string {
  return String(value).replace(/[&<>]/g, (character) => HTML[character] ?? character)
}

function escapeJson(value: unknown): string {
  return JSON.stringify(String(value)).slice(1, -1)
}
