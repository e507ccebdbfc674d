import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { SendSchema } from '../domain/input/send.ts'
import type { Visit } from '../domain/machine-visit.ts'
import { VERSION } from '../domain/version.ts'
import type { Logger } from '../ports/logger.ts'
import type { Engine, Served } from './engine.ts'
import type { Admission, LimitedResource, RateLimitState } from './limits/records.ts'
import type { MultiTenantNotifier } from './notifier.ts'
import type { ReceiptArrival, ReceiptReply, ReceiptSource } from './receipts/records.ts'
import type { Sessions } from './sessions/sessions.ts'
import type { Scoped, Tenant } from './tenant.ts'

/** The inside of an {@link Engine}: the API of all organizations, and what HTTP adapters need beside it. */
export interface Service
  extends Engine,
    Scoped<Tenant<unknown>>,
    Pick<MultiTenantNotifier, 'organizations' | 'operatorKeys' | 'health' | 'metrics'> {
  /** The schema of a send. */
  readonly sendInput: SendSchema
  /** Names of the channels that are known. */
  readonly channels: readonly string[]
  /** What texts of each known channel may have. */
  readonly kinds: readonly KnownKind[]
  readonly apiKeys: Scoped<Tenant['apiKeys']> & MultiTenantNotifier['apiKeys']
  readonly limits: Scoped<Tenant['limits']> & Admissions
  readonly pages: Pages
  readonly receipts: Receipts
  readonly reporting: Reporting
  readonly sessions: Sessions
}

/** What editors need to know of a channel. */
export interface KnownKind {
  readonly name: string
  /** Whether subjects are sent. */
  readonly subject: boolean
  readonly html: boolean
  /** False: it is built in, and has no provider here. */
  readonly configured: boolean
}

/** What a request counts against. */
export type Counted =
  | { readonly organizationId: string }
  | { readonly address: string }
  | { readonly operatorKeyId: string }
  /** A person at the dashboard. Uses up no limit of the organization. */
  | { readonly session: string }

export interface Admissions {
  /**
   * Counts one API request before anything of it is read. Release the admission once, when the answer has been sent or the
   * client has gone.
   *
   * @param who the organization of the key, or the client's address when there is no key that is valid there; an
   *   operator key has no request limit, and uses up that of no organization
   * @throws NotifierError `rate_limit_exceeded`
   */
  admit(who: Counted, resource: LimitedResource): Promise<Admission>
  /** The rate headers while nothing passes (maintenance, an outage) for `retryAfterMs`. */
  closed(retryAfterMs: number): RateLimitState
}

/**
 * The targets of the links in messages. Tokens prove where they come from. All but `unsubscribe` answers under
 * maintenance, too; nothing is counted then.
 */
export interface Pages {
  /** Whether this is the token of an unsubscription. Changes nothing. */
  canUnsubscribe(token: string): Promise<boolean>
  /**
   * Suppresses the recipient of the notification that the token was made for. False: there is none, or no longer.
   *
   * @throws NotifierError `service_unavailable`
   */
  unsubscribe(token: string): Promise<boolean>
  /** Counts that a mail was opened, without waiting for it. False: the token was not made here. */
  opened(token: string, visit: Visit): Promise<boolean>
  /** The target of a link; counts that it was followed, without waiting for it. Null: the token was not made here. */
  clicked(token: string, visit: Visit): Promise<string | null>
}

export interface Receipts {
  /** Resolves where a provider takes receipts: asked before a body is read. @throws NotifierError `not_found` */
  assertTaken(source: ReceiptSource): Promise<void>
  /**
   * Verifies and stores a provider's report, and gives the answer to it (`POST /receipts/{channel}/{provider}`).
   * Repetitions are harmless.
   *
   * @throws NotifierError `not_found`, `invalid_receipt_signature`, `invalid_parameter` when it is unreadable
   */
  take(source: ReceiptSource, request: ReceiptArrival): Promise<ReceiptReply>
  /**
   * Answers a provider that asks whether its reports are taken here (`GET /receipts/{channel}/{provider}`).
   *
   * @throws NotifierError `not_found`, `invalid_receipt_signature`
   */
  confirm(source: ReceiptSource, request: ReceiptArrival): Promise<ReceiptReply>
}

/** Where an HTTP adapter reports. */
export interface Reporting {
  /** The application's, behind the redaction; null: none was given. */
  readonly logger: Logger | null
  /**
   * Counts a request of the REST API when it is answered.
   *
   * @returns call once: the operation of the route, or `unknown`, and the status
   */
  requestBegan(): (route: string, status: number) => void
}

/**
 * Opens the engine of a notifier. Another copy of the package may have made it, but only of the same version.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function serviceOf(notifier: Served): Service {
  const { engine } = (notifier ?? {}) as Partial<Served>
  const version: unknown = engine?.version
  if (version === VERSION) return engine as Service
  const message =
    typeof version === 'string'
      ? `The notifier comes from version ${version} of carillon, and this HTTP adapter from ${VERSION}. Install one version: "npm ls carillon" shows where each comes from.`
      : 'The HTTP API needs the notifier that createNotifier() returned.'
  throw new NotifierError('invalid_configuration', { message, details: { option: 'notifier' } })
}
