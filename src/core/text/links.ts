import { brandingFieldsOf } from '../tenancy/branding.ts'
import type { Branding } from '../tenancy/organization.ts'
import { childrenOf, type Token } from './parse.ts'

/** Placeholders that each message fills with its own links; no value of a send can replace them. */
export const LINK_NAMES = ['preferencesUrl', 'unsubscribeUrl'] as const

export type LinkName = (typeof LINK_NAMES)[number]

/** The links of one message. */
export type MessageLinks = Readonly<Record<LinkName, string>>

/** Position of a section's content. */
const CHILDREN = 4

/** For previews. */
export const EXAMPLE_LINKS: MessageLinks = Object.freeze({
  preferencesUrl: 'https://example.com/preferences',
  unsubscribeUrl: 'https://example.com/unsubscribe',
})

export function isLinkName(name: string): name is LinkName {
  return name === 'preferencesUrl' || name === 'unsubscribeUrl'
}

/** Names in texts that need no value of a send. */
export interface GivenNames {
  readonly links: ReadonlySet<LinkName>
  /** Those of the branding. */
  readonly organization: ReadonlySet<keyof Branding>
}

/**
 * The given names that texts use, inside sections too.
 *
 * @param others names that the texts use otherwise
 */
export function givenNamesIn(sources: readonly (readonly Token[])[], others: readonly string[]): GivenNames {
  const names = new Set(others)
  // Each text once: a partial may be in many places. Without recursion: sections may be deeply nested.
  const seen = new Set(sources)
  for (const tokens of seen) {
    for (const token of tokens) {
      const [type, name] = token
      if (type !== 'text') names.add(name)
      if (token.length > CHILDREN) seen.add(childrenOf(token))
    }
  }
  return {
    links: new Set([...names].filter(isLinkName)),
    organization: new Set([...names].flatMap(brandingFieldsOf)),
  }
}
