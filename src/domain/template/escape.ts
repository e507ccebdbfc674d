import type { ChannelName } from '../channel.ts'
import type { BodyFormat } from '../notification.ts'
import { childrenOf, type Token } from './parse.ts'

/** Where a value lands: each kind of place has its own escaping. */
export type Landing = 'text' | 'html' | 'slack' | 'json'

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '=': '&#61;',
}

/**
 * Where the values of a body land. The source decides what a webhook gets: JSON when it
 * begins as an object or a list does, else plain text. Comments and the tags of sections are no beginning.
 */
export function landingOf(channel: ChannelName, format: BodyFormat, source: readonly Token[]): Landing {
  switch (channel) {
    case 'email':
      return format
    case 'slack':
      return 'slack'
    case 'webhook':
      return /^[[{]/.test(beginning(source) ?? '') ? 'json' : 'text'
    case 'sms':
    case 'push':
      return 'text'
  }
}

/** The first text that is not blank; empty where a value comes before it, null where there is neither. */
function beginning(tokens: readonly Token[]): string | null {
  for (const token of tokens) {
    const [type, name] = token
    if (type === 'name' || type === '&') return ''
    const found = type === 'text' ? name.trimStart() || null : beginning(childrenOf(token))
    if (found !== null) return found
  }
  return null
}

/** The escaping for a landing. Values are never expanded again. */
export function escapeFor(landing: Landing): (value: string) => string {
  switch (landing) {
    case 'html':
      return escapeHtml
    case 'slack':
      return escapeSlack
    case 'json':
      return escapeJson
    case 'text':
      return String
  }
}

function escapeHtml(value: string): string {
  return value.replace(/[&<>"'`=]/g, (character) => HTML[character] ?? character)
}

/** Slack control sequences such as `<!channel>` need all three (docs.slack.dev, "Formatting text"). */
function escapeSlack(value: string): string {
  return value.replace(/[&<>]/g, (character) => HTML[character] ?? character)
}

function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}
