import type { ChannelKind } from '../channels/channel-kind.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { Category } from '../notification/category.ts'
import type { PersonHashes } from '../people/person-hashes.ts'
import { EXAMPLE_LINKS, type LinkName, type MessageLinks } from '../text/links.ts'
import type { LinkSigner } from './link-signer.ts'
import { type LinkSource, type LinkTarget, targetOf, writeTarget } from './link-target.ts'

/** The links in messages to the public pages of the REST API. */
export interface Links {
  /** False: there is no address for an unsubscription. */
  readonly canUnsubscribe: boolean
  /** False: there is no address for links of any kind. */
  readonly canLink: boolean
  /** What the links of a message are about. */
  targetOf(kind: ChannelKind, source: LinkSource): LinkTarget
  /** The address at which a recipient unsubscribes from a category. */
  unsubscribe(target: LinkTarget): string
  /** The address of a recipient's preferences. */
  preferences(target: LinkTarget): string
  /** Whether an address is a link of a recipient. */
  isOwn(href: string): boolean
}

/** @param publicUrl mount address of the REST API without a trailing slash */
export function createLinks(
  publicUrl: string | undefined,
  signer: () => LinkSigner,
  hashes: Pick<PersonHashes, 'address'>,
): Links {
  const base = publicUrl ?? ''
  const [unsubscribe, preferences] = [`${base}/unsubscribe?`, `${base}/preferences?`]
  return {
    // RFC 8058 3.1: the address must be https.
    canUnsubscribe: base.startsWith('https:'),
    canLink: base !== '',
    targetOf: (kind, source) => targetOf(kind, source, hashes),
    unsubscribe: (target) => `${unsubscribe}t=${signer().sign('unsubscribe', writeTarget(target))}`,
    preferences: (target) => `${preferences}t=${signer().sign('preferences', writeTarget(target))}`,
    isOwn: (href) => href.startsWith(unsubscribe) || href.startsWith(preferences),
  }
}

/** Makes the links of a message. */
export type Urls = () => MessageLinks

/** For readers who are not the recipient: the real links would let them act for the recipient. */
export const exampleUrls: Urls = () => EXAMPLE_LINKS

export function urlsOf(kind: ChannelKind, source: LinkSource, links: Links): Urls {
  return () => {
    const target = links.targetOf(kind, source)
    return { preferencesUrl: links.preferences(target), unsubscribeUrl: links.unsubscribe(target) }
  }
}

/**
 * @param wanted the links in a template
 * @throws NotifierError `invalid_parameter` if they cannot be made, `invalid_template_variable` for a value in their place
 */
export function assertLinkable(
  wanted: ReadonlySet<LinkName>,
  variables: Readonly<Record<string, unknown>>,
  links: Pick<Links, 'canLink'>,
): void {
  for (const name of wanted) {
    if (!links.canLink) {
      throw new NotifierError('invalid_parameter', {
        message: `The template contains "{{${name}}}", which needs the option "publicUrl". It is not set.`,
        details: { field: 'template', option: 'publicUrl' },
      })
    }
    if (!Object.hasOwn(variables, name)) continue
    throw new NotifierError('invalid_template_variable', {
      message: `"${name}" is a link that each message makes itself. Leave it out of the variables.`,
      details: { field: `variables.${name}` },
    })
  }
}

/** @throws NotifierError `invalid_parameter` if a message asks for a link that it cannot have */
export function assertUnsubscribable(
  kind: ChannelKind,
  parts: unknown,
  links: Pick<Links, 'canUnsubscribe'>,
  category: Pick<Category, 'id' | 'required'> | null,
): void {
  if (kind.wantsUnsubscribe?.(parts) !== true) return
  const field = `${kind.name}.unsubscribe`
  if (category?.required === true) {
    throw new NotifierError('invalid_parameter', {
      message: `"${field}": the category "${category.id}" is required, so its messages have no such link. Leave it out.`,
      details: { field, category: category.id },
    })
  }
  if (links.canUnsubscribe) return
  throw new NotifierError('invalid_parameter', {
    message: `"${field}" needs the option "publicUrl" with an https address, which is not set.`,
    details: { field, option: 'publicUrl' },
  })
}
