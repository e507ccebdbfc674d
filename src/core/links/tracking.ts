import type { Steps } from '../loop/steps.ts'

/** Tracking of an organization's HTML mails. */
export interface Tracking {
  /** A picture of one pixel, fetched when the mail is opened. */
  readonly opens: boolean
  /** Links through an address of the service. */
  readonly clicks: boolean
}

export const NO_TRACKING: Tracking = Object.freeze({ opens: false, clicks: false })

/** Makes the opens and clicks of HTML mails known. A notifier has one or none. */
export interface Tracker {
  /** The settings of an organization. */
  settings(organizationId: string): Promise<Tracking>
  /** The HTML with tracking; the same for every attempt. */
  track(notificationId: string, html: string, tracking: Tracking): Steps<TrackedHtml>
}

export interface TrackedHtml {
  readonly html: string
  /** False: the mail has more links than may be tracked. */
  readonly complete: boolean
}
