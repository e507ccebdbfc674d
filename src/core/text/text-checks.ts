import { isDeepStrictEqual } from 'node:util'
import { assertTemplateBounds } from '../input/bounds.ts'
import { once } from '../loop/steps.ts'
import type { PinnedTexts } from '../notification/notification.ts'
import type { assertTemplateText } from './assert-text.ts'
import type { AuthoringServices } from './authoring-services.ts'
import { compileTemplate } from './compile.ts'
import { type TemplateValue, textsOf } from './kind.ts'
import { ANY_LANGUAGE } from './language.ts'
import { inVariant } from './template.ts'
import { sha256Of, textFor } from './text-kind.ts'
import { usesIn } from './uses.ts'
import { assertTemplateTexts, type UsesOfAll, usesOfTexts } from './variants.ts'
import type { VariantsInput } from './variants-input.ts'

/** The texts of a template that is to be stored. */
export type WrittenTemplate = Pick<
  TemplateValue,
  'channel' | 'subject' | 'body' | 'format' | 'text' | 'layout' | 'locales'
>

/** Checks the texts of templates before they are stored. A text that was checked before is not checked again. */
export interface TextChecks {
  /** Checks the tags of texts. @throws NotifierError `invalid_parameter` */
  assertTexts(
    organizationId: string,
    written: Parameters<typeof assertTemplateText>[0] & { readonly locales?: VariantsInput | undefined },
  ): Promise<void>
  /**
   * Checks a text with all its variants, and compiles them with their layout and partials, if they have any.
   *
   * @param before a template whose texts are known to be good
   * @throws NotifierError `invalid_template`, `invalid_parameter`
   */
  assertWhole(organizationId: string, text: WrittenTemplate, before?: WrittenTemplate): Promise<void>
  usesOfAll(written: Pick<TemplateValue, 'subject' | 'body' | 'text' | 'locales'>): UsesOfAll
}

/** Number of texts whose result is remembered, by their hashes. */
const MOST_KNOWN = 10_000

export function createTextChecks({
  library,
  records,
  kinds,
  processor,
  bounds,
}: Pick<AuthoringServices, 'library' | 'records' | 'kinds' | 'processor' | 'bounds'>): TextChecks {
  const usesOf = remembering(usesIn)
  const checked = new Map<string, true>()

  const usesOfAll: TextChecks['usesOfAll'] = (written) =>
    usesOfTexts(
      textsOf(written).flatMap((text) => {
        if (text === null || !text.includes('{{')) return []
        const put = textFor(text)
        return typeof put === 'string' ? usesIn([put]) : usesOf(put.sha256, [text])
      }),
    )

  async function assertCompiled(
    organizationId: string,
    text: WrittenTemplate,
    { sources, pinned }: Awaited<ReturnType<typeof library.find>>,
  ): Promise<void> {
    const key = keyOf(text, pinned)
    if (checked.has(key)) return
    const kind = kinds.of(text.channel)
    await processor.share(organizationId)(
      once(() => void compileTemplate(kind, text, sources, ANY_LANGUAGE, bounds)),
    )
    remember(checked, key, true)
  }

  return {
    usesOfAll,
    async assertTexts(organizationId, written) {
      assertTemplateBounds(written, bounds)
      await processor.share(organizationId)(once(() => assertTemplateTexts(written, bounds)))
    },
    async assertWhole(organizationId, text, before) {
      const changed = changedLocales(text, before)
      if (changed.length === 0) return
      assertTemplateBounds(text, bounds)
      const { uses } = usesOfAll(text)
      if (uses === undefined && text.layout == null) return
      const found = await library.find({ organizationId, layout: text.layout, uses }, records)
      for (const locale of changed) await assertCompiled(organizationId, inVariant(text, locale), found)
    },
  }
}

/** The locales in which the text differs; undefined is that of the template. A new layout changes all. */
function changedLocales(
  { layout = null, locales = {}, ...own }: WrittenTemplate,
  before: WrittenTemplate | undefined,
): readonly (string | undefined)[] {
  const all = [undefined, ...Object.keys(locales)]
  if (before === undefined || (before.layout ?? null) !== layout) return all
  const isOwn = (['subject', 'body', 'format', 'text'] as const).every(
    (field) => own[field] === before[field],
  )
  return all.filter((locale) =>
    locale === undefined ? !isOwn : !isDeepStrictEqual(locales[locale], before.locales?.[locale]),
  )
}

/** Names a text with the versions of its layout and partials. */
function keyOf({ channel, subject, body, format, text }: WrittenTemplate, pinned: PinnedTexts): string {
  return sha256Of(JSON.stringify([channel, subject, body, format, text, pinned]))
}

function remembering<Input, Result>(work: (given: Input) => Result): (key: string, given: Input) => Result {
  const known = new Map<string, Result>()
  return (key, given) => {
    const result = known.get(key) ?? work(given)
    remember(known, key, result)
    return result
  }
}

/** The entry that was used longest ago goes first. */
function remember<Value>(known: Map<string, Value>, key: string, value: Value): void {
  known.delete(key)
  known.set(key, value)
  if (known.size <= MOST_KNOWN) return
  for (const oldest of known.keys()) {
    known.delete(oldest)
    break
  }
}
