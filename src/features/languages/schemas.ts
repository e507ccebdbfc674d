import * as z from 'zod'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { listOf, timestamp } from '../../core/rest/schemas.ts'
import type { CatalogueRecord, CatalogueSummary, MissingTranslations } from './model.ts'

const summary = {
  locale: z.string(),
  version: z.int().min(1),
  count: z.int().describe('Number of messages.'),
  updatedAt: timestamp,
}

/** A catalogue in a list. */
const catalogueSummary: z.ZodType<CatalogueSummary> = named('CatalogueSummary', z.object(summary))

/** A catalogue with its messages. */
export const catalogueRecord: z.ZodType<CatalogueRecord> = named(
  'Catalogue',
  z.object({
    ...summary,
    messages: z.record(z.string(), z.string()).describe('By key, in ICU MessageFormat.'),
  }),
)

export const catalogueList: z.ZodType<{ readonly items: readonly CatalogueSummary[] }> = named(
  'CatalogueList',
  z.object({
    items: z.array(catalogueSummary),
  }),
)

/** Templates that lack something in some locales. */
const missingTranslations: z.ZodType<MissingTranslations> = named(
  'MissingTranslations',
  z.object({
    id: z.string(),
    name: z.string(),
    missing: z.array(
      z.object({
        locale: z.string(),
        variant: z.boolean().describe('True: the template has variants, but none for this locale.'),
        keys: z
          .array(z.string())
          .describe('Keys of messages that no catalogue of the locale has; at most 100.'),
      }),
    ),
    complete: z
      .boolean()
      .describe('False: it lacks more keys in a locale, or has more locales, than the answer takes.'),
  }),
)

export const missingTranslationList: z.ZodType<List<MissingTranslations>> = named(
  'MissingTranslationList',
  listOf(missingTranslations),
)
