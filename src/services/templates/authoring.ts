import type { Storage } from '../../ports/storage/storage.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { Lifecycle } from '../lifecycle.ts'
import type { Processor } from '../processor.ts'
import { createLibrary } from '../shared-texts/library.ts'
import { createSharedTexts } from '../shared-texts/shared-texts.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import { createCompiledTemplates } from './compiled-templates.ts'
import type { ResolvedAuthoring } from './options.ts'
import type { AuthoringParts } from './parts.ts'
import { createTemplates } from './templates.ts'

/** What sends and deliveries need of the texts that organizations and the application write. */
export interface Texts extends Pick<AuthoringParts, 'compiled' | 'library' | 'application' | 'records'> {
  /** Stores the application's own texts, which accepted messages are pinned to. */
  store(): Promise<void>
}

export function createTexts(
  { application, kinds }: ResolvedAuthoring & { readonly kinds: Kinds },
  records: Storage['records'],
  processor: Processor,
): Texts {
  const library = createLibrary(records, application)
  return {
    application,
    records,
    library,
    compiled: createCompiledTemplates(records, processor, kinds, library),
    async store() {
      if (application.versions.length === 0) return
      const answers = await records.write(application.versions.map((version) => [version]))
      for (const answer of answers) if (answer.kind === 'failed') throw answer.error
    },
  }
}

/** The use cases of templates, layouts and partials. */
export function createAuthoring(
  parts: AuthoringParts,
  guard: Lifecycle['guard'],
): Scoped<Pick<Tenant, 'templates' | 'layouts' | 'partials'>> {
  return {
    templates: guard(createTemplates(parts)),
    layouts: guard(createSharedTexts('layout', parts)),
    partials: guard(createSharedTexts('partial', parts)),
  }
}
