import type { Complete } from '../accept/complete.ts'
import type { Audit } from '../audit/audit.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { Bounds } from '../input/bounds.ts'
import type { Processor } from '../loop/processor.ts'
import type { CategorySource } from '../notification/category-source.ts'
import type { PeopleFinder } from '../people/finder.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { IdGenerator } from '../records/ids.ts'
import type { RecordStores } from '../records/record-stores.ts'
import type { BrandingFinder, OrganizationFinder } from '../tenancy/plan-of.ts'
import type { CodeTemplates } from './code-templates.ts'
import type { CompiledTemplates } from './compiled-templates.ts'
import type { Library } from './library.ts'
import type { PreviewInputs } from './preview-input.ts'
import type { TextReader } from './text-store.ts'

/** Dependencies of the texts that organizations write. */
export interface AuthoringServices {
  readonly stores: RecordStores
  readonly audit: Audit
  readonly records: Storage['records']
  readonly ids: IdGenerator
  readonly organizations: OrganizationFinder
  readonly compiled: CompiledTemplates
  readonly code: CodeTemplates
  /** Default: nothing completes messages. */
  readonly complete?: Complete | undefined
  readonly library: Library
  readonly texts: TextReader
  readonly kinds: Kinds
  readonly brandingOf: BrandingFinder
  readonly processor: Processor
  /** The application's people. Undefined: the option `recipients` is absent. */
  readonly people: PeopleFinder | undefined
  /** The schemas of previews. */
  readonly previewInputs: PreviewInputs
  readonly categories: Pick<CategorySource, 'existing'>
  readonly bounds: Bounds
}
