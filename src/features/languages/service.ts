import * as z from 'zod'
import type { Audit } from '../../core/audit/audit.ts'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import { versionConflict } from '../../core/errors/version-conflict.ts'
import { type Bounds, counted } from '../../core/input/bounds.ts'
import { canonicalLocale } from '../../core/input/locale.ts'
import { localeName } from '../../core/input/locale-fields.ts'
import { parseInput } from '../../core/input/parse.ts'
import type { Processor } from '../../core/loop/processor.ts'
import type { Steps } from '../../core/loop/steps.ts'
import type { RecordWrite, StoredRecord } from '../../core/ports/storage/records.ts'
import type { RecordStores } from '../../core/records/record-stores.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import type { OrganizationFinder } from '../../core/tenancy/plan-of.ts'
import { parseOptions } from '../../core/tenancy/scope.ts'
import type { Catalogues } from './api.ts'
import { assertCatalogueBounds, type CatalogueInput, cataloguePut } from './input.ts'
import { assertMessageSize, type Formatting, loadFormatting } from './message-format.ts'
import type { CatalogueRecord, CatalogueSummary } from './model.ts'
import {
  type CatalogueEntry,
  type CataloguesValue,
  cataloguesKind,
  catalogueVersionKind,
  insertCatalogue,
} from './records.ts'

export interface CatalogueServices {
  readonly stores: RecordStores
  readonly audit: Audit
  readonly organizations: OrganizationFinder
  readonly processor: Processor
  readonly bounds: Bounds
}

const putOptions: z.ZodType<{ readonly version?: number | undefined }> = z.strictObject({
  version: z.int().min(0).optional(),
})

const EMPTY: CataloguesValue = { locales: {}, newest: 0 }

/** The use cases of catalogues. */
export function createCatalogues({
  stores,
  audit,
  organizations,
  processor,
  bounds,
}: CatalogueServices): PerTenant<Catalogues> {
  const store = stores.of(cataloguesKind)
  const versions = stores.of(catalogueVersionKind)

  /** Changes the catalogues of an organization, which begins without any. */
  async function change<Refusal extends string>(
    organizationId: string,
    decide: (value: CataloguesValue, now: number) => CataloguesValue | Refusal,
    also: (value: CataloguesValue, before: StoredRecord<CataloguesValue>) => readonly RecordWrite[],
  ): Promise<CataloguesValue | Refusal> {
    const attempt = () =>
      store.change<Refusal>(organizationId, ({ value, readAt }) => decide(value, readAt), also)
    let changed = await attempt()
    if (changed === 'unknown') {
      await store.keep({ id: organizationId, organizationId, value: EMPTY })
      changed = await attempt()
    }
    if (changed === 'unknown' || changed === 'taken') throw new NotifierError('not_found')
    return typeof changed === 'string' ? changed : changed.value
  }

  return {
    async put(organizationId, name, given, options) {
      const locale = parseInput(localeName, name, 'locale')
      const { messages } = parseInput(cataloguePut, { messages: given })
      const { version: expected } = parseOptions(putOptions, options)
      assertCatalogueBounds(messages, 'messages', bounds)
      await organizations.existing(organizationId)
      const catalogue = insertCatalogue(organizationId, { locale, messages })
      const updated = (before: CataloguesValue, after: CataloguesValue) =>
        audit.entry({
          organizationId,
          action: 'messages.updated',
          target: locale,
          before: entryOf(before, locale) ?? {},
          after: entryOf(after, locale) ?? {},
        })
      const present = await store.find({ id: organizationId })
      // The stored messages were checked before.
      if (present === null || entryOf(present.value, locale)?.pin !== catalogue.id) {
        const formatting = await loadFormatting()
        await processor.share(organizationId)(assertMessages(messages, locale, formatting, bounds))
      }
      const changed = await change<'outdated' | 'full'>(
        organizationId,
        (value, now) => {
          const current = entryOf(value, locale)
          if (expected !== undefined && expected !== (current?.version ?? 0)) return 'outdated'
          if (current?.pin === catalogue.id) return value
          if (current === null && Object.keys(value.locales).length >= bounds.locales) return 'full'
          const version = value.newest + 1
          const entry = {
            pin: catalogue.id,
            version,
            messages: Object.keys(messages).length,
            updatedAt: now,
          }
          return { newest: version, locales: { ...value.locales, [locale]: entry } }
        },
        (value, before) => (value === before.value ? [] : [catalogue, updated(before.value, value)]),
      )
      if (changed === 'full') throw full(bounds)
      if (changed === 'outdated') throw await conflict(locale, store, organizationId)
      const entry = entryOf(changed, locale)
      if (entry === null) throw unknownCatalogue(locale)
      return { ...summary(locale, entry), messages }
    },
    async get(organizationId, name) {
      const locale = knownName(name)
      const record = await store.find({ id: organizationId })
      const entry = record === null ? null : entryOf(record.value, locale)
      const version = entry === null ? null : await versions.find({ id: entry.pin })
      if (entry === null || version === null) throw unknownCatalogue(locale)
      return { ...summary(locale, entry), messages: version.value.messages } satisfies CatalogueRecord
    },
    async list(organizationId) {
      await organizations.existing(organizationId)
      const record = await store.find({ id: organizationId })
      const entries = Object.entries(record?.value.locales ?? {})
      const items = entries.map(([locale, entry]) => summary(locale, entry))
      return { items: items.sort((one, other) => (one.locale < other.locale ? -1 : 1)) }
    },
    async delete(organizationId, name) {
      const locale = knownName(name)
      await organizations.existing(organizationId)
      const changed = await change<'absent'>(
        organizationId,
        (value) => {
          if (entryOf(value, locale) === null) return 'absent'
          const { [locale]: _, ...locales } = value.locales
          return { ...value, locales }
        },
        () => [audit.entry({ organizationId, action: 'messages.deleted', target: locale })],
      )
      if (changed === 'absent') throw unknownCatalogue(locale)
    },
  }
}

function entryOf({ locales }: CataloguesValue, locale: string): CatalogueEntry | null {
  return Object.hasOwn(locales, locale) ? (locales[locale] ?? null) : null
}

/** One message per step. @throws NotifierError `invalid_parameter` for a malformed one, or one beyond the bounds */
export function* assertMessages(
  messages: CatalogueInput,
  locale: string,
  { check }: Formatting,
  bounds: Bounds,
): Steps<void> {
  for (const [key, message] of Object.entries(messages)) {
    const field = `messages.${key}`
    assertMessageSize(field, message, bounds)
    try {
      check(message, locale)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw new NotifierError('invalid_parameter', {
        message: `"${field}": must be a message in ICU MessageFormat, such as "Hello {name}" (${reason.slice(0, 200)}).`,
        details: { field },
      })
    }
    yield
  }
}

function summary(locale: string, { version, messages, updatedAt }: CatalogueEntry): CatalogueSummary {
  return { locale, version, count: messages, updatedAt: new Date(updatedAt).toISOString() }
}

function full({ locales }: Bounds): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `"locale": an organization has catalogues for at most ${counted(locales)} locales, by the option "bounds.locales" of the service. Delete an unused one.`,
    details: { field: 'locale' },
  })
}

async function conflict(
  locale: string,
  store: { find(ref: { readonly id: string }): Promise<{ readonly value: CataloguesValue } | null> },
  organizationId: string,
): Promise<NotifierError> {
  const record = await store.find({ id: organizationId })
  const version = (record === null ? null : entryOf(record.value, locale))?.version ?? 0
  return versionConflict(`The catalogue of the locale ${locale}`, version)
}

/** @throws NotifierError `not_found`: no catalogue has a name that is none */
function knownName(name: unknown): string {
  const locale = typeof name === 'string' ? canonicalLocale(name) : null
  if (locale === null) throw unknownCatalogue(String(name))
  return locale
}

function unknownCatalogue(locale: string): NotifierError {
  return new NotifierError('not_found', {
    message: `The organization has no catalogue for the locale "${locale.slice(0, 50)}". Check the locale.`,
    details: { field: 'locale' },
  })
}
