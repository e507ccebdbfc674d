import { isNotifierError, NotifierError } from '../../domain/errors/notifier-error.ts'
import { jsonObject } from '../../domain/input/fields.ts'
import { parseInput } from '../../domain/input/parse.ts'
import { templateDraft } from '../../domain/input/template.ts'
import { storedText } from '../../domain/message-text.ts'
import { once } from '../../domain/steps.ts'
import { type CompiledTemplate, compileTemplate } from '../../domain/template/compile.ts'
import { assertFormat } from '../../domain/template/format.ts'
import { assertTemplateText } from '../../domain/template/judge.ts'
import type { Template } from '../../domain/template/template.ts'
import { type Kinds, unknownChannel } from '../channels/kinds.ts'
import type { Processor } from '../processor.ts'
import { shown } from '../render.ts'
import { parseSubject } from '../scope.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import type { CompiledTemplates } from './compiled-templates.ts'
import type { TemplatePreview } from './records.ts'

/** Maximum number of placeholders to report. */
const MOST_PLACEHOLDERS = 200

/** Renders templates and drafts with example values. */
export function createPreviews(
  compiled: CompiledTemplates,
  kinds: Kinds,
  processor: Processor,
  find: (organizationId: string, idOrName: string) => Promise<Template>,
): Pick<Scoped<Tenant['templates']>, 'preview' | 'previewDraft'> {
  function preview(
    template: CompiledTemplate,
    channel: string,
    variables: Readonly<Record<string, unknown>>,
  ): TemplatePreview {
    const placeholders = template.placeholders().slice(0, MOST_PLACEHOLDERS)
    try {
      template.assertVariables(variables)
    } catch (error) {
      if (!isNotifierError(error) || error.code !== 'invalid_template_variable') throw error
      const { code, message, details } = error
      throw new NotifierError(code, { message, details: { ...details, placeholders } })
    }
    return { ...shown(kinds.of(channel), template.render(variables)), placeholders }
  }

  return {
    async preview(organizationId, idOrName, variables) {
      const parsed = parseInput(jsonObject, variables ?? {}, 'variables')
      const template = await find(organizationId, idOrName)
      await compiled.prepare(template)
      return preview(compiled.of(template), template.channel, parsed)
    },
    async previewDraft(organizationId, draft) {
      const parsed = parseSubject(templateDraft, draft)
      const { channel, subject = null, variables, data } = parsed
      const kind = kinds.known.get(channel)
      if (kind === undefined) throw unknownChannel(channel, kinds)
      assertFormat(kind, parsed)
      const text = storedText(parsed)
      if (text === null) throw new NotifierError('missing_required_field')
      const compile = once(() => {
        assertTemplateText(parsed)
        return compileTemplate(kind, { subject, ...text })
      })
      return preview(await processor.share(organizationId)(compile), channel, { ...data, ...variables })
    },
  }
}
