import type { AllOrganizations } from './all-organizations.ts'
import type { AnyTemplate, DeclaredTemplates } from './core/accept/declared-templates.ts'
import type { AnyChannel, ChannelParts } from './core/accept/input.ts'
import type { Running } from './core/lifecycle/api.ts'
import type { NotifierInternals } from './core/lifecycle/notifier-internals.ts'
import type { Listening, Observed } from './core/observe/api.ts'
import type { ApiKeys, KeyVerification, OperatorKeys } from './features/api-keys/api.ts'
import type { Acting } from './features/audit/api.ts'
import type { Organizations } from './features/organizations/api.ts'
import type { Tenant } from './tenant.ts'

/**
 * A running notification service for many organizations, without its own methods for messages: the result of
 * `createNotifier` with `organizations: 'required'`. Every method rejects with `NotifierError`; an exception of a
 * plug-in becomes `service_unavailable` with its `cause`.
 *
 * `Tx` is the storage's type for a transaction of the caller: see {@link TransactionOption.tx}. `Channels` are the parts of
 * messages by channel; by default a notifier takes messages for any channel. `Templates` are those declared in code; by
 * default a message may name any. `Apis` are the methods of plug-ins.
 */
export interface MultiTenantNotifier<
  Tx = never,
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
  Apis = unknown,
> extends Running,
    Listening,
    Observed,
    Acting {
  /** For HTTP adapters. */
  readonly internals: NotifierInternals
  /**
   * The API of one organization. Does not check that the organization exists; the methods do.
   *
   * @throws NotifierError `invalid_parameter` for an id in the wrong form
   *
   * @example
   * const acme = notifier.organization('org_acme')
   * await acme.send({ channel: 'sms', to: '+15005550006', body: 'Your code is 123456.' })
   */
  organization(id: string): Tenant<Tx, Channels, Templates> & Apis
  /**
   * What operators see of all organizations together.
   *
   * @example
   * const { items } = await notifier.allOrganizations.deadLetters.list({ from: '2030-01-01T00:00:00Z' })
   * for (const { organizationId, error } of items) console.log(organizationId, error?.code)
   */
  readonly allOrganizations: AllOrganizations
  readonly organizations: Organizations
  readonly apiKeys: KeyVerification
  /**
   * Keys without an organization: over HTTP, each request with one names its organization. `/v1/organizations` requires
   * one. They can be created in code only.
   */
  readonly operatorKeys: OperatorKeys
}

/** A running notification service; made by `createNotifier`. Its own methods act for the organization `org_default`. */
export interface Notifier<
  Tx = never,
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
  Apis = unknown,
> extends MultiTenantNotifier<Tx, Channels, Templates, Apis>,
    Tenant<Tx, Channels, Templates> {
  readonly apiKeys: ApiKeys & KeyVerification
}
