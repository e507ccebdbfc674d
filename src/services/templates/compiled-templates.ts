import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { once } from '../../domain/steps.ts'
import { type CompiledTemplate, compileTemplate } from '../../domain/template/compile.ts'
import type { Template } from '../../domain/template/template.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { TemplateVersion } from '../../ports/storage/templates.ts'
import type { Kinds } from '../channels/kinds.ts'
import type { Processor } from '../processor.ts'

/** A cache of compiled template versions. Versions never change, so no entry is stale. */
export interface CompiledTemplates {
  /** Compiles a version in its organization's share of the processor. Null: failed; {@link of} throws the reason. */
  prepare(template: Template): Promise<CompiledTemplate | null>
  /** The compiled version; cached after {@link prepare}. */
  of(template: Template): CompiledTemplate
  /** Like {@link prepare}, but reads the version if needed. @throws NotifierError `template_error` if there is none */
  load(reference: TemplateVersion): Promise<CompiledTemplate>
}

/** Size of the cache. The least recently used entry goes first. */
const MAX_BYTES = 64 * 1024 * 1024

export function createCompiledTemplates(
  storage: Storage,
  processor: Processor,
  kinds: Kinds,
): CompiledTemplates {
  const entries = new Map<string, CompiledTemplate>()
  let bytes = 0

  function remember(template: Template): CompiledTemplate {
    const compiled = compileTemplate(kinds.of(template.channel), template)
    forget(keyOf(template))
    entries.set(keyOf(template), compiled)
    bytes += compiled.size
    for (const key of entries.keys()) {
      if (bytes <= MAX_BYTES) break
      forget(key)
    }
    return compiled
  }

  function forget(key: string): void {
    bytes -= entries.get(key)?.size ?? 0
    entries.delete(key)
  }

  /** Marks the entry as the most recently used. */
  function recall(key: string): CompiledTemplate | undefined {
    const compiled = entries.get(key)
    if (compiled === undefined) return undefined
    entries.delete(key)
    entries.set(key, compiled)
    return compiled
  }

  const of = (template: Template): CompiledTemplate => recall(keyOf(template)) ?? remember(template)

  const inShare = (template: Template): CompiledTemplate | Promise<CompiledTemplate> =>
    processor.share(template.organizationId)(once(() => of(template)))

  return {
    of,
    async prepare(template) {
      try {
        return recall(keyOf(template)) ?? (await inShare(template))
      } catch {
        return null
      }
    },
    async load(reference) {
      const known = recall(keyOf(reference))
      if (known !== undefined) return known
      const [template = null] = await storage.templates.versions([reference])
      if (template !== null) return inShare(template)
      throw new NotifierError('template_error', {
        message: `Version ${reference.version} of template ${reference.id} is missing.`,
      })
    },
  }
}

function keyOf(reference: TemplateVersion): string {
  return `${reference.id}@${reference.version}`
}
