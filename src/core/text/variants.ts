import type { ChannelKind } from '../channels/channel-kind.ts'
import type { Bounds } from '../input/bounds.ts'
import { canonicalLocale } from '../input/locale.ts'
import { assertTemplateText } from './assert-text.ts'
import { assertFormat } from './format.ts'
import { type TemplateValue, textsOf } from './kind.ts'
import { shownText, storedText } from './message-text.ts'
import type { VariantRecord } from './model.ts'
import type { TemplateVariant } from './template.ts'
import { type Uses, usesIn } from './uses.ts'
import type { VariantsInput } from './variants-input.ts'

type Variants = Readonly<Record<string, TemplateVariant>>

/**
 * The stored variants after a change.
 *
 * @throws NotifierError `invalid_parameter`
 */
export function changedVariants(
  kind: ChannelKind,
  before: Variants | undefined,
  change: VariantsInput,
): Variants | undefined {
  const after = new Map(Object.entries(before ?? {}))
  for (const [name, given] of Object.entries(change)) {
    const locale = canonicalLocale(name) ?? name
    const stored = given === null ? null : storedText(given)
    if (given === null || stored === null) after.delete(locale)
    else {
      assertFormat(kind, given)
      after.set(locale, { subject: given.subject ?? null, ...stored })
    }
  }
  return after.size === 0 ? undefined : Object.fromEntries(after)
}

/** @throws NotifierError `invalid_parameter`, which names the locale */
export function assertTemplateTexts(
  written: Parameters<typeof assertTemplateText>[0] & { readonly locales?: VariantsInput | undefined },
  bounds: Bounds,
): void {
  assertTemplateText(written, bounds)
  for (const [locale, given] of Object.entries(written.locales ?? {}))
    if (given !== null) assertTemplateText(given, bounds, `template (locale ${locale})`, `locales.${locale}.`)
}

/** The variants in their public form. */
export function shownVariants(variants: Variants | undefined): Readonly<Record<string, VariantRecord>> {
  return Object.fromEntries(
    Object.entries(variants ?? {}).map(([locale, variant]) => [
      locale,
      { subject: variant.subject, ...shownText(variant) },
    ]),
  )
}

/** What a template needs besides its variables. Absent field: none. */
export interface UsesOfAll {
  readonly uses: readonly string[] | undefined
  readonly localized: boolean | undefined
}

/** The uses of all texts of a template. */
export function usesOfAll(written: Pick<TemplateValue, 'subject' | 'body' | 'text' | 'locales'>): UsesOfAll {
  return usesOfTexts([usesIn(textsOf(written))])
}

/** All uses together. */
export function usesOfTexts(uses: readonly Pick<Uses, 'partials' | 'localized'>[]): UsesOfAll {
  const partials = [...new Set(uses.flatMap((each) => each.partials))]
  const localized = uses.some((each) => each.localized)
  return { uses: partials.length === 0 ? undefined : partials, localized: localized || undefined }
}
