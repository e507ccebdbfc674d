import type { ChannelKind } from '../../domain/channel-kind.ts'
import { isNotifierError, NotifierError } from '../../domain/errors/notifier-error.ts'
import { jsonObject } from '../../domain/input/fields.ts'
import { parseInput } from '../../domain/input/parse.ts'
import { storedText } from '../../domain/message-text.ts'
import { once } from '../../domain/steps.ts'
import { type CompiledTemplate, compileTemplate } from '../../domain/template/compile.ts'
import { assertFormat } from '../../domain/template/format.ts'
import { assertTemplateText } from '../../domain/template/judge.ts'
import { EXAMPLE_LINKS } from '../../domain/template/links.ts'
import type { Template } from '../../domain/template/template.ts'
import { createUploadCopies } from '../accept/uploads.ts'
import { unknownChannel } from '../channels/kinds.ts'
import { partsOf } from '../channels/parts-of.ts'
import { personOf, unknownRecipient } from '../recipients/addressed.ts'
import { localeOf, timeZoneOf } from '../recipients/language.ts'
import type { ResolvedPerson } from '../recipients/people.ts'
import { shown } from '../render.ts'
import { parseOptions, parseSubject } from '../scope.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import type { AuthoringParts } from './parts.ts'
import type { TemplatePreview } from './records.ts'
import { assertVariantTexts, changedVariants, usesOfAll } from './variants.ts'

/** Maximum number of placeholders to report. */
const MOST_PLACEHOLDERS = 200

/** A template that is not stored. */
const DRAFT = { id: '', name: '', description: null, version: 1, createdAt: 0, updatedAt: 0 }

/** Renders templates and drafts with example values. */
export function createPreviews(
  { compiled, kinds, processor, library, records, people, previewInputs }: AuthoringParts,
  find: (organizationId: string, idOrName: string) => Promise<Template>,
  drafted: (template: Template) => Promise<Template>,
): Pick<Scoped<Tenant['templates']>, 'preview' | 'previewDraft'> {
  const uploads = createUploadCopies(kinds)

  function preview(
    template: CompiledTemplate,
    kind: ChannelKind,
    variables: Readonly<Record<string, unknown>>,
    parts: unknown,
    timeZone: string | undefined,
  ): TemplatePreview {
    const placeholders = template.placeholders().slice(0, MOST_PLACEHOLDERS)
    try {
      template.assertVariables(variables, { timeZone })
    } catch (error) {
      if (!isNotifierError(error) || error.code !== 'invalid_template_variable') throw error
      const { code, message, details } = error
      throw new NotifierError(code, { message, details: { ...details, placeholders } })
    }
    const values = template.links.size === 0 ? variables : { ...variables, ...EXAMPLE_LINKS }
    return { ...shown(kind, template.render(values, { timeZone }), parts), placeholders }
  }

  /** The person whose locale and time zone count. Null: nobody is named. */
  async function readerOf(organizationId: string, id: string | undefined): Promise<ResolvedPerson | null> {
    if (id === undefined) return null
    const person = await personOf(people, organizationId, id)
    if (person === null) throw unknownRecipient(id)
    return person
  }

  async function judgedParts(
    organizationId: string,
    kind: ChannelKind,
    given: Readonly<Record<string, unknown>>,
  ): Promise<unknown> {
    const copied = await uploads.inMessage(given, organizationId, records)
    const parts = partsOf(kind, copied ?? given, kinds)
    if (parts !== undefined) kind.assertParts?.(parts)
    return parts
  }

  /** Of drafts nothing is kept: their text has no version. */
  async function prepared(template: Template): Promise<CompiledTemplate> {
    await compiled.prepare(template)
    return compiled.of(template)
  }

  return {
    async preview(organizationId, idOrName, variables, options) {
      const parsed = parseInput(jsonObject, variables ?? {}, 'variables')
      const given = parseOptions(previewInputs.options, options)
      const { recipient, locale, timeZone, layout, draft = false, ...named } = given
      const template = await find(organizationId, idOrName)
      const found = draft ? await drafted(template) : template
      const wanted = layout === undefined ? found : { ...found, layout }
      const kind = kinds.of(template.channel)
      const parts = await judgedParts(organizationId, kind, named)
      const reader = await readerOf(organizationId, recipient)
      const { made, ...text } = await library.complete(wanted, records, localeOf({ locale }, reader))
      const zone = timeZoneOf({ timeZone }, reader) ?? made?.timeZone
      const compile = once(() => compileTemplate(kind, text, made?.sources, made?.language))
      const ready = draft ? await processor.share(organizationId)(compile) : await prepared({ ...text, made })
      return preview(ready, kind, parsed, parts, zone)
    },
    async previewDraft(organizationId, given) {
      const parsed = parseSubject(previewInputs.draft, given)
      const { channel, subject = null, layout, variables, data } = parsed
      const kind = kinds.known.get(channel)
      if (kind === undefined) throw unknownChannel(channel, kinds)
      assertFormat(kind, parsed)
      const text = storedText(parsed)
      if (text === null) throw new NotifierError('missing_required_field')
      const share = processor.share(organizationId)
      await share(
        once(() => {
          assertTemplateText(parsed)
          assertVariantTexts(parsed.locales)
        }),
      )
      const { locale, locales, inLocale, timeZone, recipient } = parsed
      const parts = await judgedParts(organizationId, kind, parsed)
      const reader = await readerOf(organizationId, recipient)
      const variants = changedVariants(kind, undefined, locales ?? {})
      const written = {
        ...DRAFT,
        organizationId,
        channel,
        subject,
        ...text,
        layout,
        locale,
        locales: variants,
      }
      const draft = { ...written, ...usesOfAll(written) }
      const { made, ...own } = await library.complete(draft, records, localeOf({ locale: inLocale }, reader))
      const compile = once(() => compileTemplate(kind, own, made?.sources, made?.language))
      const zone = timeZoneOf({ timeZone }, reader) ?? made?.timeZone
      return preview(await share(compile), kind, { ...data, ...variables }, parts, zone)
    },
  }
}
