import type { Bounds } from '../../domain/bounds.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import type { PreviewInputs } from '../../domain/input/preview.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { CodeTemplates } from '../code-templates/code-templates.ts'
import type { ApplicationLanguages } from '../languages/application.ts'
import type { Languages } from '../languages/languages.ts'
import type { BrandingFinder } from '../limits/plan-of.ts'
import type { Organizations } from '../organizations/organizations.ts'
import type { Consent } from '../preferences/consent.ts'
import type { Processor } from '../processor.ts'
import type { PeopleFinder } from '../recipients/people.ts'
import type { RecordStores } from '../records/record-stores.ts'
import type { ApplicationTexts } from '../shared-texts/application.ts'
import type { Library } from '../shared-texts/library.ts'
import type { TextReader } from '../texts/text-store.ts'
import type { CompiledTemplates } from './compiled-templates.ts'

/** Dependencies of the texts that organizations write. */
export interface AuthoringParts {
  readonly stores: RecordStores
  readonly records: Storage['records']
  readonly ids: IdGenerator
  readonly organizations: Organizations
  readonly compiled: CompiledTemplates
  readonly code: CodeTemplates
  readonly library: Library
  readonly texts: TextReader
  readonly application: ApplicationTexts
  readonly kinds: Kinds
  readonly languages: ApplicationLanguages
  /** The catalogues for a locale. */
  readonly lookUps: Languages['lookUps']
  /** The locale of an organization's texts. */
  readonly localeOf: Languages['localeOf']
  readonly brandingOf: BrandingFinder
  readonly processor: Processor
  /** The application's people. Null: the option `recipients` is absent. */
  readonly people: PeopleFinder | null
  /** The schemas of previews. */
  readonly previewInputs: PreviewInputs
  readonly consent: Pick<Consent, 'categories'>
  readonly bounds: Bounds
}
