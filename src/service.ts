import type * as z from 'zod'
import type { Kinds } from './core/channels/kinds.ts'
import { invalidOption } from './core/errors/invalid-option.ts'
import type { Engine, Served } from './core/lifecycle/engine.ts'
import { VERSION } from './core/lifecycle/version.ts'
import type { Limits } from './core/limits/api.ts'
import type { Admission, DashboardCaller, LimitedResource, RateLimitState } from './core/limits/model.ts'
import type { PageTextsByLanguage } from './core/links/page-texts.ts'
import type { Processor } from './core/loop/processor.ts'
import type { Logger } from './core/ports/logger.ts'
import type { Branding } from './core/tenancy/organization.ts'
import type { Scoped } from './core/tenancy/scoped.ts'
import type { PreviewInputs } from './core/text/preview-input.ts'
import type { ApiKeys, KeyVerification } from './features/api-keys/api.ts'
import type { CodeTemplates } from './features/code-templates/code-templates.ts'
import type { ReceiptArrival, ReceiptReply, ReceiptSource } from './features/receipts/model.ts'
import type { Sessions } from './features/sessions/service.ts'
import type { Visit } from './features/tracking/machine-visit.ts'
import type { MultiTenantNotifier } from './notifier.ts'
import type { Tenant } from './tenant.ts'

/** The content of an {@link Engine}: the API of all organizations, and the parts for HTTP adapters. */
export interface Service
  extends Engine,
    Scoped<Tenant<unknown>>,
    Pick<MultiTenantNotifier, 'organizations' | 'operatorKeys' | 'health' | 'metrics'> {
  /** Named inputs with the fields of the notifier's channels, in place of those in the table of routes. */
  readonly inputs: Readonly<Record<string, z.ZodType>>
  /** The schemas of previews. */
  readonly previewInputs: PreviewInputs
  /** The templates in code. */
  readonly code: Pick<CodeTemplates, 'names' | 'find'>
  /** Names of the known channels. */
  readonly channels: readonly string[]
  /** The known channels. */
  readonly kinds: readonly KnownKind[]
  readonly apiKeys: Scoped<ApiKeys> & KeyVerification
  readonly limits: Scoped<Limits> & Admissions
  readonly pages: Pages
  readonly receipts: Receipts
  readonly reporting: Reporting
  /** Largest uploaded file in bytes. */
  readonly maxAttachmentBytes: number
  readonly sessions: Sessions
  readonly processor: Processor
}

/** A channel as editors of templates see it. */
export interface KnownKind {
  readonly name: string
  /** True: subjects are sent. */
  readonly subject: boolean
  readonly html: boolean
  /** False: a built-in channel without a provider here. */
  readonly configured: boolean
}

export function knownKinds({ known }: Kinds, configured: readonly string[]): readonly KnownKind[] {
  return [...known.values()].map(({ name, subject, html = false }) => {
    return { name, subject: subject !== undefined, html, configured: configured.includes(name) }
  })
}

/** The account that a request counts against. */
export type Counted =
  | { readonly organizationId: string }
  | { readonly address: string }
  | { readonly operatorKeyId: string }
  | DashboardCaller

/** Who answers for a body that is still arriving: the organization of the request, or the client without a key. */
export type BodyOwner = { readonly organizationId: string } | { readonly address: string }

export interface Admissions {
  /**
   * Counts an API request before its body is read. Release the admission once, when the answer is sent or the client
   * has disconnected.
   *
   * @param who the organization of the key, or the client's address without a valid key; an operator key has no request
   *   limit and uses up none of an organization
   * @throws NotifierError `rate_limit_exceeded`
   */
  admit(who: Counted, resource: LimitedResource): Promise<Admission>
  /**
   * Admits an unfinished body without a key. Counts nothing.
   *
   * @throws NotifierError `rate_limit_exceeded` if too many bodies of the address were refused
   */
  admitBody(address: string): Promise<void>
  /** Counts a body that was refused because of its owner: towards the overuse of an organization, or by address. */
  countRefusedBody(owner: BodyOwner): Promise<void>
  /** The rate headers while nothing is allowed (maintenance, an outage) for `retryAfterMs`. */
  closed(retryAfterMs: number): RateLimitState
}

/** The facts that a page takes from its message. */
export interface PageFrame {
  /** The language of the message, as BCP 47. Null: unknown, or an invalid token. */
  readonly locale: string | null
  /** Its organization. Null: an invalid token, or no such organization. */
  readonly branding: Branding | null
}

/**
 * The targets of the links in messages. Tokens prove their origin. All except `unsubscribe` work under maintenance,
 * without counting.
 */
export interface Pages {
  /** The look of a page about the message with the token. */
  frameOf(token: string): Promise<PageFrame>
  /** What an unsubscription with the token would come to. Read-only. @throws as {@link preferences} */
  unsubscription(token: string): Promise<Unsubscription>
  /** Turns the token's category off for its recipient and address, if possible. @throws as {@link preferences} */
  unsubscribe(token: string): Promise<Unsubscription>
  /** A token of the preference page for the recipient of an unsubscription's token. Null: invalid token. */
  preferencesToken(token: string): Promise<string | null>
  /** The preferences of the token's person. Null: invalid token, or no such organization. @throws NotifierError `service_unavailable` */
  preferences(token: string): Promise<PreferencePage | null>
  /** Changes the preferences of the token's person. False: invalid token. @throws as {@link preferences} */
  savePreferences(token: string, post: PreferencePost): Promise<boolean>
  /** Texts of the application for the pages. */
  readonly texts: PageTextsByLanguage
  /** Counts an opened mail in the background. False: invalid token. */
  opened(token: string, visit: Visit): Promise<boolean>
  /** Returns the target of a link and counts the click in the background. Null: invalid token. */
  clicked(token: string, visit: Visit): Promise<string | null>
}

/**
 * `possible`: or done. `required`: the category cannot be turned off. `unknown`: invalid token, or no such organization.
 */
export type Unsubscription = 'possible' | 'required' | 'unknown'

/** The choices of a person. */
export interface PreferencePage {
  readonly categories: readonly ShownCategory[]
}

export interface ShownCategory {
  readonly id: string
  /** Null: the category `default`, which the application does not name. */
  readonly name: string | null
  readonly description: string | null
  readonly required: boolean
  readonly channels: readonly { readonly name: string; readonly on: boolean }[]
}

/** A posted form: the cells `category:channel` that are on, and those that the page showed as on; or nothing optional. */
export type PreferencePost = { readonly on: ReadonlySet<string>; readonly was: ReadonlySet<string> } | 'none'

export interface Receipts {
  /** Resolves if a provider takes receipts: called before a body is read. @throws NotifierError `not_found` */
  assertTaken(source: ReceiptSource): Promise<void>
  /**
   * Verifies and stores a provider's report and returns the answer (`POST /receipts/{channel}/{provider}`). Idempotent.
   *
   * @throws NotifierError `not_found`, `invalid_receipt_signature`, `invalid_parameter` if it is unreadable
   */
  take(source: ReceiptSource, request: ReceiptArrival): Promise<ReceiptReply>
  /**
   * Answers a provider that verifies the address (`GET /receipts/{channel}/{provider}`).
   *
   * @throws NotifierError `not_found`, `invalid_receipt_signature`
   */
  confirm(source: ReceiptSource, request: ReceiptArrival): Promise<ReceiptReply>
}

/** Logs and metrics of an HTTP adapter. */
export interface Reporting {
  /** The application's logger with redaction. Null: none. */
  readonly logger: Logger | null
  /**
   * Counts an answered request of the REST API.
   *
   * @returns call it once, with the operation of the route or `unknown`, and the status
   */
  requestBegan(): (route: string, status: number) => void
}

/**
 * Opens the engine of a notifier. It may come from another copy of the package of the same version.
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
      : `The HTTP API needs the result of createNotifier()${notifier instanceof Promise ? ', and got a Promise: await it first' : ''}.`
  throw invalidOption('notifier', message)
}
