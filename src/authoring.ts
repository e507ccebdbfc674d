import type { Kinds } from './core/channels/kinds.ts'
import { invalidOption } from './core/errors/invalid-option.ts'
import type { Bounds } from './core/input/bounds.ts'
import type { Links } from './core/links/links.ts'
import type { Processor } from './core/loop/processor.ts'
import { finish } from './core/loop/steps.ts'
import type { Clock } from './core/ports/clock.ts'
import type { Markup } from './core/ports/markup.ts'
import type { RecordWrite } from './core/ports/storage/records.ts'
import type { Storage } from './core/ports/storage/storage.ts'
import type { BrandingFinder, OrganizationPlan } from './core/tenancy/plan-of.ts'
import type { AuthoringServices } from './core/text/authoring-services.ts'
import { NO_CODE_TEMPLATES } from './core/text/code-templates.ts'
import { createCompiledTemplates } from './core/text/compiled-templates.ts'
import { previewInputsOf } from './core/text/preview-input.ts'
import { createTextReader } from './core/text/text-store.ts'
import { createCodeTemplates } from './features/code-templates/code-templates.ts'
import { createLanguages, type LanguageSettings, type Languages } from './features/languages/languages.ts'
import { loadFormatting } from './features/languages/message-format.ts'
import { assertMessages } from './features/languages/service.ts'
import { createLibrary } from './features/layouts/library.ts'
import type { ApplicationTexts } from './features/layouts/options.ts'
import type { ResolvedAuthoring } from './text-options.ts'

/** The settings of an organization that decide about its texts. */
type TextSettings = LanguageSettings & Pick<OrganizationPlan, 'branding'>

/** What sends and deliveries need of the texts that organizations and the application write. */
export interface Texts
  extends Pick<
      AuthoringServices,
      'compiled' | 'library' | 'texts' | 'records' | 'brandingOf' | 'previewInputs' | 'code'
    >,
    Pick<Languages, 'lookUps' | 'localeOf'> {
  readonly application: ApplicationTexts
  /** Stores the application's own texts, which accepted messages are pinned to. */
  storeApplication(): Promise<void>
}

export function createTexts(
  {
    application,
    languages,
    definitions,
    kinds,
    bounds,
  }: ResolvedAuthoring & { readonly kinds: Kinds; readonly bounds: Bounds },
  records: Storage['records'],
  processor: Processor,
  settingsOf: (organizationId: string) => TextSettings | Promise<TextSettings>,
  links: Links,
  markup: Markup,
  clock: Clock,
): Texts {
  const brandingOf: BrandingFinder = (organizationId) => {
    const settings = settingsOf(organizationId)
    return settings instanceof Promise ? settings.then(({ branding }) => branding) : settings.branding
  }
  const spoken = createLanguages(records, languages, settingsOf)
  const texts = createTextReader(records)
  const library = createLibrary(records, texts, application, spoken)
  const compiled = createCompiledTemplates(records, processor, kinds, texts, bounds, library)
  const writing = { compiled, languages: spoken, brandingOf, links, markup, clock, bounds }
  const code =
    definitions.length === 0 ? NO_CODE_TEMPLATES : createCodeTemplates(definitions, library, kinds, writing)
  return {
    code,
    previewInputs: previewInputsOf(kinds.known.values()),
    application,
    records,
    texts,
    library,
    compiled,
    lookUps: spoken.lookUps,
    localeOf: spoken.localeOf,
    brandingOf,
    async storeApplication() {
      const versions: readonly RecordWrite[] = [...application.versions, ...languages.versions]
      if (versions.length === 0) return
      await assertCatalogues(languages.versions, bounds)
      const answers = await records.write(versions.map((version) => [version]))
      for (const answer of answers) if (answer.kind === 'failed') throw answer.error
    },
  }
}

/** Here and not with the options, because only a start may load the message parser. */
async function assertCatalogues(
  versions: ResolvedAuthoring['languages']['versions'],
  bounds: Bounds,
): Promise<void> {
  if (versions.length === 0) return
  const formatting = await loadFormatting()
  for (const { value } of versions) {
    try {
      finish(assertMessages(value.messages, value.locale, formatting, bounds))
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      throw invalidOption('messages', `The option "messages" has an error in ${value.locale}: ${reason}`)
    }
  }
}
