import type { ChannelKind } from '../channels/channel-kind.ts'
import { isNotifierError, NotifierError } from '../errors/notifier-error.ts'
import { assertMessageBounds } from '../input/bounds.ts'
import { jsonObject } from '../input/fields.ts'
import { parseInput } from '../input/parse.ts'
import { exampleUrls } from '../links/links.ts'
import { once } from '../loop/steps.ts'
import { personOf, unknownRecipient } from '../people/addressed.ts'
import type { ResolvedPerson } from '../people/finder.ts'
import { localeOf, timeZoneOf } from '../people/language.ts'
import { withOrganization } from '../tenancy/branding.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import { parseOptions, parseSubject, wrong } from '../tenancy/scope.ts'
import type { StoredTemplates } from './api.ts'
import type { AuthoringServices } from './authoring-services.ts'
import { type CodeTemplate, jsonValues } from './code-templates.ts'
import { type CompiledTemplate, compileSteps } from './compile.ts'
import type { Drafts } from './drafts.ts'
import type { ExampleParts } from './example-parts.ts'
import { EXAMPLE_LINKS } from './links.ts'
import type { TemplatePreview } from './model.ts'
import type { PreviewOptions } from './preview-input.ts'
import { renderContent, shown } from './render.ts'
import type { Template } from './template.ts'
import type { TextChecks } from './text-checks.ts'
import { unstoredTemplate } from './unstored.ts'

/** Maximum number of placeholders to report. */
const MOST_PLACEHOLDERS = 200

export interface PreviewServices extends Pick<Drafts, 'drafted'>, Pick<TextChecks, 'assertTexts'> {
  readonly exampleParts: ExampleParts
  find(organizationId: string, idOrName: string): Promise<Template>
}

/** Renders templates and drafts with example values. */
export function createPreviews(
  {
    compiled,
    kinds,
    processor,
    library,
    records,
    people,
    previewInputs,
    code,
    brandingOf,
    bounds,
  }: AuthoringServices,
  { find, drafted, assertTexts, exampleParts }: PreviewServices,
): PerTenant<Pick<StoredTemplates, 'preview' | 'previewDraft'>> {
  async function preview(
    organizationId: string,
    template: CompiledTemplate,
    kind: ChannelKind,
    given: Readonly<Record<string, unknown>>,
    parts: unknown,
    timeZone: string | undefined,
  ): Promise<TemplatePreview> {
    const share = processor.share(organizationId)
    const { links, organization } = template.given
    const variables =
      organization.size > 0 ? withOrganization(given, await brandingOf(organizationId)) : given
    const placeholders = template.placeholders().slice(0, MOST_PLACEHOLDERS)
    try {
      await share(once(() => template.assertVariables(variables, { timeZone })))
    } catch (error) {
      if (!isNotifierError(error) || error.code !== 'invalid_template_variable') throw error
      const { code, message, details } = error
      throw new NotifierError(code, { message, details: { ...details, placeholders } })
    }
    const values = links.size === 0 ? variables : { ...variables, ...EXAMPLE_LINKS }
    const text = await share(once(() => template.render(values, { timeZone })))
    return { ...shown(kind, text, parts), placeholders }
  }

  /** The person whose locale and time zone apply. Null: no person is named. */
  async function readerOf(organizationId: string, id: string | undefined): Promise<ResolvedPerson | null> {
    if (id === undefined) return null
    const person = await personOf(people, organizationId, id)
    if (person === null) throw unknownRecipient(id)
    return person
  }

  async function previewInCode(
    entry: CodeTemplate,
    given: Readonly<Record<string, unknown>>,
    organizationId: string,
    { recipient, locale, timeZone, layout, draft, ...named }: PreviewOptions,
  ): Promise<TemplatePreview> {
    for (const [name, value] of Object.entries({ layout, draft }))
      if (value !== undefined) throw wrong(name, `absent: the template "${entry.name}" is defined in code`)
    const kind = kinds.of(entry.channel)
    const parts = await exampleParts(organizationId, kind, named)
    const reader = await readerOf(organizationId, recipient)
    const values = await entry.values(given, false)
    const wanted = { locale: localeOf({ locale }, reader), timeZone: timeZoneOf({ timeZone }, reader) }
    const whole = await library.complete(entry.of(organizationId), records, wanted.locale)
    const placeholders = (await prepared(whole)).placeholders().slice(0, MOST_PLACEHOLDERS)
    const content = await entry.write(whole, values, wanted)
    return { ...shown(kind, renderContent(kind, content, null, exampleUrls), parts), placeholders }
  }

  /** Drafts are not cached: their text has no version. */
  async function prepared(template: Template): Promise<CompiledTemplate> {
    await compiled.prepare(template)
    return compiled.of(template)
  }

  return {
    async preview(organizationId, idOrName, variables, options) {
      const entry = code.find(idOrName)
      const values = parseInput(jsonObject, variables ?? entry?.example ?? {}, 'variables')
      assertMessageBounds({ variables: values }, bounds)
      const given = parseOptions(previewInputs.options, options)
      if (entry?.stored === false) return previewInCode(entry, values, organizationId, given)
      const parsed = entry === null ? values : jsonValues(entry.name, await entry.values(values, false))
      const { recipient, locale, timeZone, layout, draft = false, ...named } = given
      const template = await find(organizationId, idOrName)
      const found = draft ? await drafted(template) : template
      const wanted = layout === undefined ? found : { ...found, layout }
      const kind = kinds.of(template.channel)
      const parts = await exampleParts(organizationId, kind, named)
      const reader = await readerOf(organizationId, recipient)
      const { made, ...text } = await library.complete(wanted, records, localeOf({ locale }, reader))
      const zone = timeZoneOf({ timeZone }, reader) ?? made?.timeZone
      const ready = draft
        ? await processor.share(organizationId)(
            compileSteps(kind, text, made?.sources, made?.language, bounds),
          )
        : await prepared({ ...text, made })
      return preview(organizationId, ready, kind, parsed, parts, zone)
    },
    async previewDraft(organizationId, given) {
      const parsed = parseSubject(previewInputs.draft, given)
      const { channel, variables, data, inLocale, timeZone, recipient } = parsed
      assertMessageBounds(parsed, bounds)
      await assertTexts(organizationId, parsed)
      const draft = unstoredTemplate(kinds, organizationId, parsed)
      const kind = kinds.of(channel)
      const parts = await exampleParts(organizationId, kind, parsed)
      const reader = await readerOf(organizationId, recipient)
      const { made, ...own } = await library.complete(draft, records, localeOf({ locale: inLocale }, reader))
      const share = processor.share(organizationId)
      const zone = timeZoneOf({ timeZone }, reader) ?? made?.timeZone
      const ready = await share(compileSteps(kind, own, made?.sources, made?.language, bounds))
      return preview(organizationId, ready, kind, { ...data, ...variables }, parts, zone)
    },
  }
}
