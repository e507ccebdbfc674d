import { type ErrorCode, isErrorCode } from '../../core/errors/catalogue.ts'
import type { FactType } from '../../core/notification/facts.ts'
import type { FaultScope } from '../../core/notification/outcome.ts'
import type { SuppressionReason } from '../../core/notification/suppression.ts'

/** A later report about an accepted message. */
export interface LaterReport {
  readonly type: FactType
  readonly code?: ErrorCode
  readonly suppress?: SuppressionReason
}

/** A magic recipient without a parameter. Its index is its number on `sms`: append only. */
export interface SimulatedCase {
  readonly name: string
  /** Description for the documentation. */
  readonly what: string
  /** Later reports about an accepted message. Absent: not accepted. */
  readonly reports?: readonly LaterReport[]
}

const DELIVERED: LaterReport = { type: 'delivered' }
const OPENED: LaterReport = { type: 'opened' }

/** @internal */
export const SIMULATED_CASES: readonly SimulatedCase[] = [
  { name: 'accepted', what: 'accepted; nothing is reported later', reports: [] },
  { name: 'delivered', what: 'accepted; later delivered', reports: [DELIVERED] },
  {
    name: 'bounced',
    what: 'accepted; later bounced for good: the recipient is suppressed',
    reports: [{ type: 'bounced', code: 'invalid_recipient', suppress: 'hard_bounce' }],
  },
  {
    name: 'soft-bounced',
    what: 'accepted; later bounced because the mailbox is full',
    reports: [{ type: 'bounced', code: 'mailbox_full' }],
  },
  {
    name: 'bounced-after-delivery',
    what: 'accepted; later delivered, and bounced after all',
    reports: [DELIVERED, { type: 'bounced', code: 'invalid_recipient', suppress: 'hard_bounce' }],
  },
  {
    name: 'undelivered',
    what: 'accepted; later given up by the provider',
    reports: [{ type: 'undelivered', code: 'recipient_unreachable' }],
  },
  {
    name: 'deferred',
    what: 'accepted; later deferred, then delivered',
    reports: [{ type: 'deferred' }, DELIVERED],
  },
  { name: 'opened', what: 'accepted; later delivered and opened', reports: [DELIVERED, OPENED] },
  {
    name: 'clicked',
    what: 'accepted; later delivered, opened and clicked',
    reports: [DELIVERED, OPENED, { type: 'clicked' }],
  },
  {
    name: 'complained',
    what: 'accepted; later delivered and reported as spam: the recipient is suppressed',
    reports: [DELIVERED, { type: 'complained', suppress: 'complaint' }],
  },
  {
    name: 'unsubscribed',
    what: 'accepted; later delivered and unsubscribed: the recipient is suppressed',
    reports: [DELIVERED, { type: 'unsubscribed', suppress: 'unsubscribe' }],
  },
  { name: 'reported', what: 'accepted; later a report that means nothing', reports: [{ type: 'reported' }] },
  { name: 'ambiguous', what: 'ambiguous: the connection breaks after the hand-over' },
  { name: 'timeout', what: 'ambiguous: no answer until the time is over' },
  { name: 'throws', what: 'the channel throws, as a faulty plug-in does' },
]

/**
 * Names with a parameter, and the form of each on `sms`.
 *
 * @internal
 */
export const SIMULATED_FORMS: readonly (SimulatedCase & { readonly sms: string })[] = [
  { name: 'delayed-<ms>', what: 'accepted after so many milliseconds', sms: 'delayed-1000' },
  { name: 'flaky-<n>', what: 'provider_unavailable, to be retried, n times; then accepted', sms: 'flaky-2' },
]

/**
 * Error codes with their scopes. The index is the number on `sms`: append only.
 *
 * @internal
 */
export const SIMULATED_CODES: readonly (readonly [code: ErrorCode, scope: FaultScope])[] = [
  ['invalid_sender', 'account'],
  ['blocked_recipient', 'recipient'],
  ['spam_detected', 'message'],
  ['invalid_phone_number', 'recipient'],
  ['unsubscribed', 'recipient'],
  ['carrier_blocked', 'message'],
  ['channel_not_found', 'recipient'],
  ['bot_not_in_channel', 'recipient'],
  ['invalid_slack_token', 'account'],
  ['mailbox_full', 'recipient'],
  ['message_too_large', 'message'],
  ['content_rejected', 'message'],
  ['recipient_unreachable', 'recipient'],
  ['landline', 'recipient'],
  ['region_not_permitted', 'account'],
  ['sender_not_registered', 'account'],
  ['device_unregistered', 'recipient'],
  ['invalid_device_token', 'recipient'],
  ['topic_mismatch', 'account'],
  ['provider_auth_failed', 'account'],
  ['provider_rate_limited', 'account'],
  ['provider_quota_exceeded', 'account'],
  ['provider_suspended', 'account'],
  ['provider_unavailable', 'provider'],
  ['provider_error', 'message'],
  ['channel_archived', 'recipient'],
  ['posting_restricted', 'recipient'],
  ['invalid_content', 'message'],
  ['template_error', 'message'],
  ['endpoint_error', 'recipient'],
  ['endpoint_timeout', 'recipient'],
  ['endpoint_gone', 'recipient'],
  ['blocked_address', 'recipient'],
  ['invalid_email', 'recipient'],
  ['invalid_phone', 'recipient'],
  ['invalid_recipient', 'recipient'],
  ['missing_peer', 'account'],
  ['expired', 'message'],
  ['delivery_unknown', 'message'],
  ['blocked_by_provider', 'recipient'],
]

/** Numbers of the North American plan reserved for fiction: area code, 555, 01 and two digits. */
const SMS_CASES = '+120255501'
const SMS_REJECTED = '+130355501'
const SMS_RETRY = '+140455501'

const SMS_NAMES: ReadonlyMap<string, string> = new Map([
  ...numbered(SMS_CASES, [
    ...SIMULATED_CASES.map(({ name }) => name),
    ...SIMULATED_FORMS.map(({ sms }) => sms),
  ]),
  ...numbered(
    SMS_REJECTED,
    SIMULATED_CODES.map(([code]) => `rejected-${code}`),
  ),
  ...numbered(
    SMS_RETRY,
    SIMULATED_CODES.map(([code]) => `retry-${code}`),
  ),
])
const SMS_NUMBERS: ReadonlyMap<string, string> = new Map(
  [...SMS_NAMES].map(([number, name]) => [name, number]),
)

function numbered(block: string, names: readonly string[]): [number: string, name: string][] {
  return names.map((name, index) => [`${block}${String(index).padStart(2, '0')}`, name])
}

export const SIMULATED_CHANNELS = ['email', 'sms', 'push', 'slack', 'webhook'] as const
export type SimulatedChannel = (typeof SIMULATED_CHANNELS)[number]

/**
 * The magic recipient for a name: `bounced`, `delayed-250`, `rejected-mailbox_full`. A tag makes distinct recipients of
 * the same behaviour, except on `sms`.
 *
 * @returns undefined: the name has no number on `sms`
 */
export function simulatedRecipient(channel: SimulatedChannel, name: string, tag = ''): string | undefined {
  const tagged = tag === '' ? name : `${name}+${tag}`
  switch (channel) {
    case 'email':
      return `${tagged}@simulator.example`
    case 'sms':
      return SMS_NUMBERS.get(name)
    case 'push':
      return `simulator:${tagged}`
    case 'slack':
      return `#simulator-${tagged}`
    case 'webhook':
      return `https://simulator.example/${tagged}`
  }
}

const NAMED: Readonly<Record<Exclude<SimulatedChannel, 'sms'>, RegExp>> = {
  email: /^([^+@]+)(?:\+[^@]*)?@simulator\.example$/i,
  push: /^simulator:([^+]+)(?:\+.*)?$/,
  slack: /^#simulator-([^+]+)(?:\+.*)?$/,
  webhook: /^https:\/\/simulator\.example\/([^+/?#]+)(?:\+.*)?$/,
}

/** The name of a magic recipient. Null: an ordinary recipient. */
export function simulatedName(channel: SimulatedChannel, to: string): string | null {
  return (channel === 'sms' ? SMS_NAMES.get(to) : NAMED[channel].exec(to)?.[1]?.toLowerCase()) ?? null
}

/** The behaviour of a name. */
export type Simulated =
  | { readonly kind: 'case'; readonly name: string; readonly reports?: readonly LaterReport[] | undefined }
  | { readonly kind: 'delayed'; readonly ms: number }
  | { readonly kind: 'flaky'; readonly failures: number }
  | { readonly kind: 'rejected' | 'retry'; readonly code: ErrorCode; readonly scope: FaultScope }

/** Parses a name. Null: unknown. */
export function readSimulated(name: string): Simulated | null {
  const known = SIMULATED_CASES.find((each) => each.name === name)
  if (known !== undefined) return { kind: 'case', name, reports: known.reports }
  const [, kind, parameter = ''] = /^(delayed|flaky|rejected|retry)-(.+)$/.exec(name) ?? []
  if (kind === 'delayed' && /^\d{1,7}$/.test(parameter)) return { kind, ms: Number(parameter) }
  if (kind === 'flaky' && /^\d{1,3}$/.test(parameter)) return { kind, failures: Number(parameter) }
  if ((kind === 'rejected' || kind === 'retry') && isErrorCode(parameter)) {
    const scope = SIMULATED_CODES.find(([code]) => code === parameter)?.[1] ?? 'message'
    return { kind, code: parameter, scope }
  }
  return null
}
