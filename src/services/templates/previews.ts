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
import { partialsIn } from '../../domain/template/uses.ts'
import { unknownChannel } from '../channels/kinds.ts'
import { shown } from '../render.ts'
import { parseSubject } from '../scope.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import type { AuthoringParts } from './parts.ts'
import type { TemplatePreview } from './records.ts'

/** Maximum number of placeholders to report. */
const MOST_PLACEHOLDERS = 200

/** Renders templates and drafts with example values. */
export function createPreviews(
  { compiled, kinds, processor, library, records }: AuthoringParts,
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
      const template = await library.complete(await find(organizationId, idOrName), records)
      await compiled.prepare(template)
      return preview(compiled.of(template), template.channel, parsed)
    },
    async previewDraft(organizationId, draft) {
      const parsed = parseSubject(templateDraft, draft)
      const { channel, subject = null, layout, variables, data } = parsed
      const kind = kinds.known.get(channel)
      if (kind === undefined) throw unknownChannel(channel, kinds)
      assertFormat(kind, parsed)
      const text = storedText(parsed)
      if (text === null) throw new NotifierError('missing_required_field')
      const share = processor.share(organizationId)
      await share(once(() => assertTemplateText(parsed)))
      const uses = partialsIn([subject, text.body, text.text])
      const { sources } = await library.find({ organizationId, layout, uses }, records)
      const compile = once(() => compileTemplate(kind, { subject, ...text }, sources))
      return preview(await share(compile), channel, { ...data, ...variables })
    },
  }
}
