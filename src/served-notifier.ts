import type { ChannelKind } from './core/channels/channel-kind.ts'
import type { CheckedProvider } from './core/channels/check-providers.ts'
import type { Kinds } from './core/channels/kinds.ts'
import { invalidOption } from './core/errors/invalid-option.ts'
import type { NotifierInternals, Served } from './core/lifecycle/notifier-internals.ts'
import { VERSION } from './core/lifecycle/version.ts'
import type { PageTextsByLanguage } from './core/links/page-texts.ts'
import type { StorageInspection } from './core/ports/storage/inspection.ts'
import type { HttpNotifier } from './core/rest/http-notifier.ts'
import type { Route } from './core/rest/route.ts'
import type { PerTenant } from './core/tenancy/per-tenant.ts'
import type { CodeTemplates } from './core/text/code-templates.ts'
import type { PreviewInputs } from './core/text/preview-input.ts'
import type { RecordContentRead } from './features/audit/service.ts'
import type { LintInput } from './features/lint/input.ts'
import type { Pages } from './features/preferences/link-pages.ts'
import type { Receipts } from './features/receipts/service.ts'
import type { Sessions } from './features/sessions/service.ts'
import type { Visits } from './features/tracking/visits.ts'
import type { MultiTenantNotifier } from './notifier.ts'
import type { MultiTenantOptions, NotifierOptions } from './options.ts'
import type { Tenant } from './tenant.ts'

/** A notifier as HTTP serves it: the content of its {@link NotifierInternals}. */
export interface ServedNotifier
  extends Omit<HttpNotifier, 'organizations' | 'apiKeys' | 'operatorKeys' | 'health'>,
    Pick<MultiTenantNotifier, 'organizations' | 'apiKeys' | 'operatorKeys' | 'health' | 'metrics'> {
  /** The API of all organizations. */
  readonly tenants: PerTenant<Tenant<unknown>>
  /** The schemas of previews. */
  readonly previewInputs: PreviewInputs
  /** The schema of lints. */
  readonly lintInput: LintInput
  /** The templates in code. */
  readonly code: Pick<CodeTemplates, 'names' | 'find'>
  /** The known channels. */
  readonly kinds: readonly KnownKind[]
  /** Asks the providers that serve all organizations whether they work. Never rejects. */
  checkProviders(): Promise<readonly CheckedProvider[]>
  /** Asks whether something answers at the URL of a webhook endpoint. @returns the fault; null: it answers. Never rejects */
  reach(organizationId: string, url: string): Promise<string | null>
  /** Undefined: the storage has no schema. May be called before a start. */
  inspectStorage(): Promise<StorageInspection | undefined>
  /** Largest uploaded file in bytes. */
  readonly maxUploadBytes: number
  /** Texts of the application for the pages behind links. */
  readonly pageTexts: PageTextsByLanguage
  readonly pages: Pages
  readonly visits: Visits
  readonly receipts: Receipts
  readonly sessions: Sessions
  readonly recordContentRead: RecordContentRead
  /** Operations that plug-ins add. */
  readonly routes: readonly Route<ServedNotifier>[]
  /**
   * Another notifier of changed options. This one must not have been started.
   *
   * @throws NotifierError `invalid_configuration`
   */
  changed(change: OptionsChange): MultiTenantNotifier<unknown>
}

/** Changes the options of a notifier, whose known channels are `kinds`. */
export type OptionsChange = (
  options: NotifierOptions | MultiTenantOptions,
  kinds: readonly ChannelKind[],
) => NotifierOptions | MultiTenantOptions

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

/**
 * Opens the internals of a notifier. They may come from another copy of the package of the same version.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function servedNotifier(notifier: Served): ServedNotifier {
  const { internals } = (notifier ?? {}) as Partial<Served>
  const version: unknown = internals?.version
  if (version === VERSION) return internals as ServedNotifier
  const message =
    typeof version === 'string'
      ? `The notifier comes from version ${version} of carillon, and this HTTP adapter from ${VERSION}. Install one version: "npm ls carillon" shows where each comes from.`
      : `The HTTP API needs the result of createNotifier()${notifier instanceof Promise ? ', and got a Promise: await it first' : ''}.`
  throw invalidOption('notifier', message)
}
