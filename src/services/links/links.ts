import type { ChannelKind } from '../../domain/channel-kind.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { Steps } from '../../domain/steps.ts'
import { type TrackedHtml, type Tracking, trackHtml } from '../../domain/track-html.ts'
import type { LinkSigner } from './link-signer.ts'

/** The links in messages to the public pages of the REST API. */
export interface Links {
  /** False: there is no address for an unsubscription. */
  readonly canUnsubscribe: boolean
  /** False: there is no address for tracking. */
  readonly canTrack: boolean
  /** The address at which a notification's recipient unsubscribes. */
  unsubscribe(notificationId: string): string
  /** The HTML with tracking; the same for every attempt. */
  track(notificationId: string, html: string, tracking: Tracking): Steps<TrackedHtml>
}

/** Own pages. */
const OWN = ['/unsubscribe?', '/open?', '/click?']

/** @param publicUrl mount address of the REST API without a trailing slash */
export function createLinks(publicUrl: string | undefined, signer: () => LinkSigner): Links {
  const base = publicUrl ?? ''
  return {
    // RFC 8058 3.1: the address must be https.
    canUnsubscribe: base.startsWith('https:'),
    canTrack: base !== '',
    unsubscribe: (id) => `${base}/unsubscribe?t=${signer().sign('unsubscribe', id)}`,
    track(id, html, { opens, clicks }) {
      const { sign } = signer()
      return trackHtml(html, {
        pixel: opens ? `${base}/open?t=${sign('open', id)}` : null,
        // Own links, such as an unsubscription, stay unchanged.
        click: (href) =>
          clicks && !OWN.some((page) => href.startsWith(`${base}${page}`))
            ? `${base}/click?t=${sign('click', `${id}\n${href}`)}`
            : null,
      })
    },
  }
}

/** @throws NotifierError `invalid_parameter` if a message asks for a link that cannot be made */
export function assertUnsubscribable(kind: ChannelKind, parts: unknown, links: Links): void {
  if (links.canUnsubscribe || kind.wantsUnsubscribe?.(parts) !== true) return
  const field = `${kind.name}.unsubscribe`
  throw new NotifierError('invalid_parameter', {
    message: `"${field}" needs the option "publicUrl" with an https address, which is not set.`,
    details: { field, option: 'publicUrl' },
  })
}

/** @throws NotifierError `invalid_parameter` if tracking is on without a public address */
export function assertTrackable(tracking: Tracking | undefined, links: Pick<Links, 'canTrack'>): void {
  if (links.canTrack || !(tracking?.opens || tracking?.clicks)) return
  throw new NotifierError('invalid_parameter', {
    message: '"tracking" needs the option "publicUrl", which is not set.',
    details: { field: 'tracking', option: 'publicUrl' },
  })
}
