import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { type CompiledTemplate, compileTemplate } from '../../domain/template/compile.ts'
import type { Template } from '../../domain/template/template.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { TemplateVersion } from '../../ports/storage/templates.ts'

/** Template versions, compiled once each (DESIGN.md §9). Versions never change, so nothing here can be stale. */
export interface CompiledTemplates {
  /** Compiles a version that is at hand, or takes the earlier result. */
  of(template: Template): CompiledTemplate
  /** Loads what is missing, in one query for the set. An unknown version is left out. */
  load(references: readonly TemplateVersion[]): Promise<void>
  /** A version that {@link load} or {@link of} has seen. @throws NotifierError `template_error` */
  get(reference: TemplateVersion): CompiledTemplate
}

const MAX_ENTRIES = 2_000

export function createCompiledTemplates(storage: Storage): CompiledTemplates {
  const entries = new Map<string, CompiledTemplate>()

  function remember(template: Template): CompiledTemplate {
    const compiled = compileTemplate(template)
    if (entries.size >= MAX_ENTRIES) {
      const oldest = entries.keys().next().value
      if (oldest !== undefined) entries.delete(oldest)
    }
    entries.set(keyOf(template), compiled)
    return compiled
  }

  /** What was used last is forgotten last. */
  function recall(key: string): CompiledTemplate | undefined {
    const compiled = entries.get(key)
    if (compiled === undefined) return undefined
    entries.delete(key)
    entries.set(key, compiled)
    return compiled
  }

  return {
    of: (template) => recall(keyOf(template)) ?? remember(template),
    async load(references) {
      const missing = new Map<string, TemplateVersion>()
      for (const reference of references) {
        const key = keyOf(reference)
        if (recall(key) === undefined) missing.set(key, reference)
      }
      if (missing.size === 0) return
      for (const template of await storage.templates.versions([...missing.values()])) {
        if (template !== null) remember(template)
      }
    },
    get(reference) {
      const compiled = entries.get(keyOf(reference))
      if (compiled === undefined) {
        throw new NotifierError('template_error', {
          message: `Version ${reference.version} of template ${reference.id} is missing.`,
        })
      }
      return compiled
    },
  }
}

function keyOf(reference: TemplateVersion): string {
  return `${reference.id}@${reference.version}`
}
