import { ERRORS, isErrorCode } from '../../../src/core/errors/catalogue.ts'
import type { FactType } from '../../../src/core/notification/facts.ts'
import type { NotificationRecord, WaitingRecord } from '../../../src/core/notification/model.ts'
import type { Query } from '../../app/router.ts'
import { texts } from '../../texts/index.ts'
import type { Status } from '../../ui/notification-status.tsx'

/** A notification in a list, as the REST API shows it. */
export interface Summary {
  readonly id: string
  readonly organizationId: string
  readonly status: Status
  readonly channel: string
  readonly to: string
  readonly subject: string | null
  readonly template: string | null
  readonly priority: 'normal' | 'high'
  readonly sendAt: string | null
  readonly expiresAt: string | null
  readonly provider: string | null
  readonly error: Failure | null
  readonly createdAt: string
  readonly resendOf: string | null
  readonly metadata: Readonly<Record<string, string>> | null
  readonly recipient: string | null
  readonly category: string | null
  readonly groupId: string | null
}

export interface Failure {
  readonly code: string
  readonly message: string
  readonly providerCode?: string
  /** Of a skipped one: the preference that decided. */
  readonly decidedBy?: string
}

export interface Entry {
  readonly sequence: number
  readonly event: FactType | 'queued' | 'scheduled'
  readonly status: Status
  readonly timestamp: string
  readonly attempt: number | null
  readonly provider: string | null
  readonly providerMessageId: string | null
  readonly error: Failure | null
  readonly providerCode: string | null
  readonly message: string | null
  readonly suppressed: NotificationRecord['timeline'][number]['suppressed']
  readonly durationMs: number | null
  readonly segments: number | null
  readonly ambiguous: boolean
  readonly machine: boolean
}

/** The text of a message; what goes along with it is under the channel's name. */
export interface Rendered {
  readonly subject: string | null
  readonly body: string
  readonly format: 'text' | 'html'
  readonly text?: string
}

export interface Notification extends Summary {
  readonly sensitive: boolean
  /** Null: its delivery has ended. */
  readonly waiting: WaitingRecord | null
  readonly actions: NotificationRecord['actions']
  readonly rendered?: Rendered & Readonly<Record<string, unknown>>
  readonly timeline: readonly Entry[]
}

/** Names whom a notification goes to, for the page of recipients. */
export function recipientQuery({ recipient, channel, to }: Summary): Query {
  return recipient === null ? { channel, to } : { recipient }
}

/**
 * What to do about a failure; null: the catalogue does not know it.
 *
 * @param provider which refused it; null: none was asked
 */
export function adviceFor(code: string, provider: string | null): string | null {
  // The catalogue speaks to the sender of a request. Here a provider knows no such recipient.
  if (code === 'invalid_recipient' && provider !== null) return texts.notifications.why.correctAddress
  return isErrorCode(code) ? ERRORS[code].action : null
}

/** Codes that a notification can fail with. */
export const FAILURE_CODES: readonly string[] = Object.entries(ERRORS)
  .filter(([, { status }]) => status === 422)
  .map(([code]) => code)
  .sort()

/** A text that is not longer than a line of a heading. */
export function cut(text: string, most = 80): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
