import { assertKeys, assertMethods, assertObject, duration, wrong } from '../../core/input/option-checks.ts'

/** A person as the application knows it. */
export interface Person {
  /** Addresses by channel: one, or one for each device. Absent, null or empty: none on that channel. */
  readonly channels: Readonly<Partial<Record<string, string | readonly string[] | null>>>
  /** BCP 47, such as `de-CH`. An invalid or unknown one is ignored. */
  readonly locale?: string | null | undefined
  /** IANA name, such as `Europe/Zurich`. An invalid or unknown one is ignored. */
  readonly timeZone?: string | null | undefined
}

/** People by id. Null, undefined or absent: unknown. */
export type People =
  | ReadonlyMap<string, Person | null | undefined>
  | Readonly<Record<string, Person | null | undefined>>

/** Where the addresses of people come from: the application's own users. */
export interface RecipientOptions {
  /**
   * Looks up people, at most 1,000 different ids: when a message is accepted, and again before an attempt more than a
   * minute later. If it rejects, sends are answered with `service_unavailable`, and what waits is tried again later.
   * Wrong data of one person refuses only the messages to that person (`invalid_person`).
   */
  resolve(
    ids: readonly string[],
    about: { readonly organizationId: string; readonly signal: AbortSignal },
  ): Promise<People> | People
  /** Timeout of `resolve` in milliseconds; then its signal aborts. Default 10 000. */
  readonly timeoutMs?: number | undefined
}

export interface ResolvedRecipients {
  readonly resolve: RecipientOptions['resolve']
  readonly timeoutMs: number
}

const DEFAULT_TIMEOUT_MS = 10_000

/** @throws NotifierError `invalid_configuration` */
export function resolveRecipients(recipients: RecipientOptions | undefined): ResolvedRecipients | null {
  if (recipients === undefined) return null
  if (typeof recipients === 'function') throw wrong('recipients', 'an object: { resolve: yourFunction }')
  assertObject('recipients', recipients)
  assertKeys('recipients.', recipients, ['resolve', 'timeoutMs'])
  assertMethods('recipients', recipients, ['resolve'])
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = recipients
  duration('recipients.timeoutMs', timeoutMs)
  return { resolve: (ids, about) => recipients.resolve(ids, about), timeoutMs }
}
