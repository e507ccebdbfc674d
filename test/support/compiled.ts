import { DEFAULT_BOUNDS } from '../../src/core/input/bounds.ts'
import type { Processor } from '../../src/core/loop/processor.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { type CompiledTemplates, createCompiledTemplates } from '../../src/core/text/compiled-templates.ts'
import { createTextReader } from '../../src/core/text/text-store.ts'
import { KINDS } from './kinds.ts'

/** Compiled templates of the built-in channels, without layouts, partials and languages. */
export function compiledOver({ records }: Pick<Storage, 'records'>, processor: Processor): CompiledTemplates {
  return createCompiledTemplates(records, processor, KINDS, createTextReader(records), DEFAULT_BOUNDS)
}
