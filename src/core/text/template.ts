import type { BodyFormat, PinnedTexts } from '../notification/notification.ts'
import type { Language } from './language.ts'
import type { SharedSources } from './shared-text.ts'

/** Reusable text with `{{variable}}` placeholders. */
export interface Template {
  /** `tpl_<value>` */
  readonly id: string
  readonly organizationId: string
  /** Lower-case words joined by hyphens; unique in the organization. */
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  readonly body: string
  /** Null: detected from the body. */
  readonly format: BodyFormat | null
  /** The text alternative of an HTML body. Null: made from the body. */
  readonly text: string | null
  /** The name of the layout around its text. Null or absent: none. */
  readonly layout?: string | null | undefined
  /** The names of its partials. Absent: none. */
  readonly uses?: readonly string[] | undefined
  /** The locale of its own text, as BCP 47. Null or absent: the default. */
  readonly locale?: string | null | undefined
  /** Its text in other locales. */
  readonly locales?: Readonly<Record<string, TemplateVariant>> | undefined
  /** True: its texts have messages, or name their language. */
  readonly localized?: boolean | undefined
  /** Its layout, partials and language, once they have been found. Absent: it has none. */
  readonly made?: Made | undefined
  readonly description: string | null
  /** Metadata of its messages. Absent, null: none. */
  readonly metadata?: Readonly<Record<string, string>> | null | undefined
  /** Id of the category of its messages. Absent, null: the default one. */
  readonly category?: string | null | undefined
  /** From 1; every change of a text, a locale, the layout or metadata makes a new one. */
  readonly version: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** When this version was made; epoch milliseconds. */
  readonly updatedAt: number
}

/** The versions that a template is made of. */
export interface Made {
  /** Names the version with its pinned texts, in caches. */
  readonly key: string
  readonly pinned: PinnedTexts
  readonly sources: SharedSources
  /** Null: it needs none. */
  readonly language: Language | null
  /** The default time zone of dates. Absent: it has no language. */
  readonly timeZone?: string | undefined
}

/** The text of a template in another locale. */
export interface TemplateVariant {
  /** Null: the template's. */
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat | null
  readonly text: string | null
}

/** The template with the text of a locale; its own text without one. */
export function inVariant<Text extends Pick<Template, 'subject' | 'locales'>>(
  template: Text,
  locale: string | undefined,
): Text {
  const variant = locale === undefined ? undefined : template.locales?.[locale]
  return variant === undefined
    ? template
    : { ...template, ...variant, subject: variant.subject ?? template.subject }
}
