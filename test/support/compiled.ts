import { DEFAULT_BOUNDS } from '../../src/core/input/bounds.ts'
import type { Processor } from '../../src/core/loop/processor.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { UNBRANDED } from '../../src/core/tenancy/organization.ts'
import { type CompiledTemplates, createCompiledTemplates } from '../../src/core/text/compiled-templates.ts'
import { createTextReader } from '../../src/core/text/text-store.ts'
import { createLanguages } from '../../src/features/languages/languages.ts'
import { resolveApplicationLanguages } from '../../src/features/languages/options.ts'
import { createLibrary } from '../../src/features/layouts/library.ts'
import { resolveApplicationTexts } from '../../src/features/layouts/options.ts'
import { KINDS } from './kinds.ts'

/** Compiled templates of the built-in channels, without layouts and partials of an application. */
export function compiledOver({ records }: Pick<Storage, 'records'>, processor: Processor): CompiledTemplates {
  const settings = { locale: null, timeZone: null, branding: UNBRANDED }
  const languages = createLanguages(records, resolveApplicationLanguages({}, DEFAULT_BOUNDS), () => settings)
  const texts = createTextReader(records)
  const library = createLibrary(records, texts, resolveApplicationTexts({}, DEFAULT_BOUNDS), languages)
  return createCompiledTemplates(records, processor, KINDS, library, texts, DEFAULT_BOUNDS)
}
