import type { Bounds } from '../../core/input/bounds.ts'
import type { LinkSigner } from '../../core/links/link-signer.ts'
import type { Links } from '../../core/links/links.ts'
import type { Tracker } from '../../core/links/tracking.ts'
import { type TrackedLinks, trackHtml } from './track-html.ts'

export interface TrackerServices {
  readonly secrets: { signer(): LinkSigner }
  readonly links: Pick<Links, 'isOwn'>
  readonly bounds: Pick<Bounds, 'trackedLinks'>
}

/**
 * Tracks by pages of the REST API, whose visits `createVisits` counts.
 *
 * @param publicUrl mount address of the REST API without a trailing slash
 */
export function createTracker(
  publicUrl: string,
  settings: Tracker['settings'],
  { secrets, links, bounds }: TrackerServices,
): Tracker {
  const [open, click] = [`${publicUrl}/open?`, `${publicUrl}/click?`]
  // An unsubscription, for example, stays unchanged.
  const isOwn = (href: string) => href.startsWith(open) || href.startsWith(click) || links.isOwn(href)
  return {
    settings,
    track(notificationId, html, { opens, clicks }) {
      const { sign } = secrets.signer()
      const addresses: TrackedLinks = {
        pixel: opens ? `${open}t=${sign('open', notificationId)}` : null,
        click: (href) =>
          clicks && !isOwn(href) ? `${click}t=${sign('click', `${notificationId}\n${href}`)}` : null,
      }
      return trackHtml(html, addresses, bounds.trackedLinks)
    },
  }
}
