import { NotifierError } from '../errors/notifier-error.ts'
import type { PinnedTexts } from '../notification/notification.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { missingLayout, missingPartial } from './assemble.ts'
import type { PinnedText, SharedRole } from './shared-text.ts'
import type { Made, Template } from './template.ts'

/** What a text names. */
export interface Naming {
  readonly organizationId: string
  /** Null or absent: no layout. */
  readonly layout?: string | null | undefined
  /** The partials that it names. */
  readonly uses?: readonly string[] | undefined
}

/** The source of what texts are made of: layouts, partials and languages. */
export interface Library {
  /**
   * The newest versions of all that a text names, directly or through others.
   *
   * @param instead a layout or partial that is not stored yet
   * @throws NotifierError `invalid_template` if one does not exist
   */
  find(
    naming: Naming,
    reads: RecordReads,
    instead?: PinnedText & { readonly role: SharedRole },
  ): Promise<FoundTexts>
  /**
   * A template with all that it is made of, in the language of a reader; unchanged if it needs nothing.
   *
   * @param locale of the send or the recipient. Undefined: that of the organization
   * @throws NotifierError as {@link find}
   */
  complete(template: Template, reads: RecordReads, locale: string | undefined): Promise<Template>
  /** A version of a template with the pinned texts. @throws NotifierError `template_error` if one is missing */
  load(version: Template, pinned: PinnedTexts): Promise<Template>
}

/** What {@link Library.find} finds. */
export interface FoundTexts extends Pick<Made, 'pinned'> {
  readonly sources: {
    readonly layout: PinnedText | null
    readonly partials: ReadonlyMap<string, PinnedText>
  }
  /** True: one of them needs a language. */
  readonly localized: boolean
}

/** What is found for a text that names nothing. */
export const NO_SHARED_TEXTS: FoundTexts = {
  pinned: {},
  sources: { layout: null, partials: new Map() },
  localized: false,
}

/** The library of a service without layouts, partials and languages. A text that names one is refused. */
export const NO_LIBRARY: Library = {
  async find({ layout, uses: [partial] = [] }) {
    if (layout != null) throw missingLayout(layout)
    if (partial !== undefined) throw missingPartial(partial)
    return NO_SHARED_TEXTS
  },
  async complete(template, reads) {
    await NO_LIBRARY.find(template, reads)
    return template
  },
  async load(version, { layout, partials: [partial] = [], locale }) {
    const missing = layout ?? partial
    if (missing !== undefined) throw missingVersion(missing)
    if (locale !== undefined)
      throw new NotifierError('template_error', { message: `The language ${locale} is missing.` })
    return version
  },
}

/** True: the template has a layout, partials or a language. */
export function needsTexts({ layout, uses, locales, localized }: Template): boolean {
  return layout != null || uses !== undefined || locales !== undefined || localized === true
}

/** The key of a version with its pinned texts in caches. */
export function madeKey(
  { id, version }: Pick<Template, 'id' | 'version'>,
  { layout, partials, locale, variant, messages }: PinnedTexts,
): string {
  const shared = `${id}@${version}|${layout ?? ''}|${partials?.join() ?? ''}`
  return locale === undefined ? shared : `${shared}|${locale}|${variant ?? ''}|${messages?.join() ?? ''}`
}

/** Characters of the sources that are not the template's own. */
export function sharedSize(made: Made | undefined): number {
  if (made === undefined) return 0
  const { layout, partials } = made.sources
  let size = 0
  for (const text of [layout, ...partials.values()])
    size += (text?.html?.length ?? 0) + (text?.text?.length ?? 0)
  return size
}

export function missingVersion(pin: string): NotifierError {
  return new NotifierError('template_error', {
    message: `The version ${pin} of a layout or partial is missing.`,
  })
}
