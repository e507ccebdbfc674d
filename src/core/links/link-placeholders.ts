import { randomUUID } from 'node:crypto'
import type { ChannelKind, RenderedText } from '../channels/channel-kind.ts'
import { LINK_NAMES, type LinkName, type MessageLinks } from '../text/links.ts'

/** Placeholders for the links in a text that is written once for several messages. */
export interface LinkPlaceholders {
  /** Random, so that no value in a text can imitate a link. */
  readonly nonce: string
  readonly urls: MessageLinks
}

export function createLinkPlaceholders(): LinkPlaceholders {
  const nonce = randomUUID()
  return { nonce, urls: urlsOf(nonce) }
}

/** Letters that no escaping changes. */
function urlsOf(nonce: string): MessageLinks {
  return {
    preferencesUrl: `https://links.invalid/preferences/${nonce}`,
    unsubscribeUrl: `https://links.invalid/unsubscribe/${nonce}`,
  }
}

const NONE: ReadonlySet<LinkName> = new Set()

/** The links that texts contain. */
export function placeholdersIn(
  texts: readonly (string | undefined)[],
  { nonce, urls }: LinkPlaceholders,
): ReadonlySet<LinkName> {
  const linked = texts.filter((text) => text?.includes(nonce))
  if (linked.length === 0) return NONE
  const isIn = (url: string) => linked.some((text) => text?.includes(url))
  return new Set(LINK_NAMES.filter((name) => isIn(urls[name]) || isIn(encodeURIComponent(urls[name]))))
}

/** The text with links instead of their placeholders. */
export function withLinks(
  kind: ChannelKind,
  { subject, body, format, text }: RenderedText,
  nonce: string,
  links: MessageLinks,
): RenderedText {
  const beginning = body.trimStart().slice(0, 100)
  const escaped = (link: string): string => kind.escape?.(link, { format, beginning }) ?? link
  const filled = (source: string, escapeLink: (link: string) => string): string =>
    source.includes(nonce) ? fill(source, urlsOf(nonce), links, escapeLink) : source
  return {
    subject: subject === null ? null : filled(subject, asItIs),
    body: filled(body, escaped),
    format,
    ...(text === undefined ? {} : { text: filled(text, asItIs) }),
  }
}

function fill(
  source: string,
  placeholders: MessageLinks,
  links: MessageLinks,
  escapeLink: (link: string) => string,
): string {
  let filled = source
  for (const name of LINK_NAMES) {
    filled = filled
      .replaceAll(placeholders[name], () => escapeLink(links[name]))
      .replaceAll(encodeURIComponent(placeholders[name]), () => encodeURIComponent(links[name]))
  }
  return filled
}

const asItIs = (link: string): string => link
