import type { Sends } from './core/accept/api.ts'
import type { AnyTemplate, DeclaredTemplates } from './core/accept/declared-templates.ts'
import type { AnyChannel, ChannelParts } from './core/accept/input.ts'
import type { Explanations, NotificationExplanations } from './core/explain/api.ts'
import type { Limits } from './core/limits/api.ts'
import type { Logs, Notifications, Outcomes } from './core/notification/api.ts'
import type { StoredTemplates } from './core/text/api.ts'
import type { ApiKeys } from './features/api-keys/api.ts'
import type { Attachments } from './features/attachments/api.ts'
import type { AuditLog } from './features/audit/api.ts'
import type { Categories } from './features/categories/api.ts'
import type { PeopleApi } from './features/custody/api.ts'
import type { DeadLetters, Retries } from './features/failures/api.ts'
import type { Catalogues, TranslationReports } from './features/languages/api.ts'
import type { SharedTexts } from './features/layouts/api.ts'
import type { TemplateLinting } from './features/lint/api.ts'
import type { PreferencesApi } from './features/preferences/api.ts'
import type { Refusals } from './features/refusals/api.ts'
import type { RetentionApi } from './features/retention/api.ts'
import type { StatisticsApi } from './features/statistics/api.ts'
import type { Suppressions } from './features/suppressions/api.ts'
import type { EventDeliveries, Webhooks } from './features/webhook-events/api.ts'

/**
 * The API of one organization, from {@link MultiTenantNotifier.organization}. Its methods do not depend on `this`. They
 * find no data of other organizations.
 */
export interface Tenant<
  Tx = never,
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
> extends Sends<Tx, Channels, Templates>,
    Outcomes,
    Explanations<Channels, Templates> {
  /**
   * For the compiler only, and never set. As the first member it makes TypeScript 5 compare the members of two tenants,
   * which fit, where it would otherwise compare their type arguments, which do not.
   */
  readonly '~parts'?: { readonly [Name in keyof Channels]?: unknown } | undefined
  readonly notifications: NotificationsApi<Tx>
  /** Notifications that failed: after their last attempt, or for a permanent reason. */
  readonly deadLetters: DeadLetters
  /** The last messages that were refused, so that no notification tells of them. */
  readonly refusals: Refusals
  /** Files that are uploaded before the messages that carry them. */
  readonly attachments: Attachments
  readonly templates: TemplatesApi<Channels>
  /** Texts around those of templates, such as the header and footer of all mails. */
  readonly layouts: SharedTexts
  /** Texts that templates, layouts and other partials insert with `{{> name}}`. */
  readonly partials: SharedTexts
  /** Messages for templates in several languages: `{{@welcome.title}}`. */
  readonly messages: Catalogues
  readonly apiKeys: ApiKeys
  readonly webhooks: Webhooks
  /** Suppressed recipients: sends to them are refused, and notifications accepted before fail. */
  readonly suppressions: Suppressions
  /** Categories of messages, which people turn on and off: those in code, and the organization's own. */
  readonly categories: Categories
  /** People's preferences: stored by the application's id of a person, or by an address on a channel. */
  readonly preferences: PreferencesApi
  /** Erasure and export of what is stored about a person. */
  readonly people: PeopleApi
  readonly limits: Limits
  /** Counts for an overview, bounded so that they stay cheap. */
  readonly statistics: StatisticsApi
  /** What is removed because it is old. */
  readonly retention: RetentionApi
  readonly logs: Logs
  /** What was done by hand, by whom and from where. */
  readonly auditLog: AuditLog
}

/** The notifications of one organization. */
export interface NotificationsApi<Tx = never>
  extends Notifications<Tx>,
    EventDeliveries,
    Retries,
    NotificationExplanations {}

/** The templates of one organization. */
export interface TemplatesApi<Channels extends ChannelParts = AnyChannel>
  extends StoredTemplates<Channels>,
    TemplateLinting<Channels>,
    TranslationReports {}
