import type { Kinds } from '../channels/kinds.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { Bounds } from '../input/bounds.ts'
import { createBoundedCache } from '../loop/bounded-cache.ts'
import type { Processor } from '../loop/processor.ts'
import { finish, type Steps } from '../loop/steps.ts'
import type { PinnedTexts } from '../notification/notification.ts'
import type { RecordReads } from '../records/record-stores.ts'
import { type CompiledTemplate, compileSteps } from './compile.ts'
import { type TemplateVersion, versionId, versionKind, versionOf, versionShape } from './kind.ts'
import { type Library, madeKey, NO_LIBRARY } from './library.ts'
import type { Template } from './template.ts'
import type { TextReader } from './text-store.ts'

/** A cache of compiled template versions. Versions never change, so no entry is stale. */
export interface CompiledTemplates {
  /** Compiles a version in its organization's share of the processor. Null: failed; {@link of} throws the reason. */
  prepare(template: Template): Promise<CompiledTemplate | null>
  /** The compiled version; cached after {@link prepare}. */
  of(template: Template): CompiledTemplate
  /** Like {@link prepare}, but reads the version if needed. @throws NotifierError `template_error` if there is none */
  load(reference: PinnedVersion): Promise<CompiledTemplate>
}

/** A version of a template with those of its layout and partials. */
interface PinnedVersion extends TemplateVersion {
  readonly texts?: PinnedTexts | undefined
}

/** Size of the cache. */
const MAX_BYTES = 64 * 1024 * 1024

export function createCompiledTemplates(
  records: RecordReads,
  processor: Processor,
  kinds: Kinds,
  texts: TextReader,
  bounds: Bounds,
  library: Pick<Library, 'load'> = NO_LIBRARY,
): CompiledTemplates {
  const cache = createBoundedCache<CompiledTemplate>(MAX_BYTES)

  function* remember(template: Template): Steps<CompiledTemplate> {
    const compiled = yield* compileSteps(
      kinds.of(template.channel),
      template,
      template.made?.sources,
      template.made?.language,
      bounds,
    )
    cache.set(keyOf(template), compiled, compiled.size)
    return compiled
  }

  async function completed(version: Template, pinned: PinnedTexts | undefined): Promise<Template> {
    return pinned === undefined ? version : library.load(version, pinned)
  }

  const of = (template: Template): CompiledTemplate =>
    cache.get(keyOf(template)) ?? finish(remember(template))

  function* steps(template: Template): Steps<CompiledTemplate> {
    return cache.get(keyOf(template)) ?? (yield* remember(template))
  }

  const inShare = (template: Template): CompiledTemplate | Promise<CompiledTemplate> =>
    processor.share(template.organizationId)(steps(template))

  return {
    of,
    async prepare(template) {
      try {
        return cache.get(keyOf(template)) ?? (await inShare(template))
      } catch {
        return null
      }
    },
    async load(reference) {
      const known = cache.get(
        reference.texts === undefined ? versionId(reference) : madeKey(reference, reference.texts),
      )
      if (known !== undefined) return known
      const found = await records.get(versionKind, [{ id: versionId(reference) }])
      const [version = null] = await texts.read(versionShape, found)
      if (version !== null) return inShare(await completed(versionOf(version), reference.texts))
      throw new NotifierError('template_error', {
        message: `Version ${reference.version} of template ${reference.id} is missing.`,
      })
    },
  }
}

function keyOf(template: Template): string {
  return template.made?.key ?? versionId(template)
}
