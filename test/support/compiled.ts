import { DEFAULT_BOUNDS } from '../../src/domain/bounds.ts'
import { UNBRANDED } from '../../src/domain/organization.ts'
import type { Storage } from '../../src/ports/storage/storage.ts'
import { resolveApplicationLanguages } from '../../src/services/languages/application.ts'
import { createLanguages } from '../../src/services/languages/languages.ts'
import type { Processor } from '../../src/services/processor.ts'
import { resolveApplicationTexts } from '../../src/services/shared-texts/application.ts'
import { createLibrary } from '../../src/services/shared-texts/library.ts'
import {
  type CompiledTemplates,
  createCompiledTemplates,
} from '../../src/services/templates/compiled-templates.ts'
import { createTextReader } from '../../src/services/texts/text-store.ts'
import { KINDS } from './kinds.ts'

/** Compiled templates of the built-in channels, without layouts and partials of an application. */
export function compiledOver({ records }: Pick<Storage, 'records'>, processor: Processor): CompiledTemplates {
  const settings = { locale: null, timeZone: null, branding: UNBRANDED }
  const languages = createLanguages(records, resolveApplicationLanguages({}, DEFAULT_BOUNDS), () => settings)
  const texts = createTextReader(records)
  const library = createLibrary(records, texts, resolveApplicationTexts({}, DEFAULT_BOUNDS), languages)
  return createCompiledTemplates(records, processor, KINDS, library, texts, DEFAULT_BOUNDS)
}
