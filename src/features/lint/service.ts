import type { ChannelKind } from '../../core/channels/channel-kind.ts'
import type { LintFault } from '../../core/channels/lint.ts'
import { assertMessageBounds } from '../../core/input/bounds.ts'
import { jsonObject } from '../../core/input/fields.ts'
import { shortName } from '../../core/input/listed-names.ts'
import { parseInput } from '../../core/input/parse.ts'
import { exampleUrls } from '../../core/links/links.ts'
import type { Steps } from '../../core/loop/steps.ts'
import type { BodyFormat } from '../../core/notification/notification.ts'
import { withOrganization } from '../../core/tenancy/branding.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { parseSubject, wrong } from '../../core/tenancy/scope.ts'
import type { AuthoringServices } from '../../core/text/authoring-services.ts'
import { type CodeTemplate, jsonValues, type WriteOptions } from '../../core/text/code-templates.ts'
import { renderContent } from '../../core/text/render.ts'
import type { Template } from '../../core/text/template.ts'
import type { Templates } from '../../core/text/templates.ts'
import { unstoredTemplate } from '../../core/text/unstored.ts'
import type { Languages, MissingTranslations, SearchMissing } from '../languages/index.ts'
import type { TemplateLinting } from './api.ts'
import { createFindings, type Findings, type LintedSource } from './findings.ts'
import type { LintInput } from './input.ts'
import { faultsOfError, type LintExamples, type Linted, lintSteps, lintText } from './lint.ts'
import type { TemplateLint } from './model.ts'
import { TEMPLATE_RULES } from './rules.ts'

/** Maximum number of locales of a lint. */
const MOST_LOCALES = 100
/** Maximum work of a lint, in tags that texts expand. Beyond it, no further locale is begun. */
const MOST_WORK = 250_000

export interface LintServices
  extends Pick<
      AuthoringServices,
      'kinds' | 'processor' | 'library' | 'records' | 'brandingOf' | 'previewInputs' | 'code' | 'bounds'
    >,
    Pick<Languages, 'localeOf'> {
  readonly lintInput: LintInput
  /** Not before all features are made. */
  templates(): Pick<Templates, 'find' | 'drafted' | 'assertTexts' | 'exampleParts'>
}

type Values = Readonly<Record<string, unknown>>

interface LintRequest {
  readonly variables?: Values | undefined
  readonly data?: Values | undefined
  readonly timeZone?: string | undefined
  /** The parts under the names of their channels. */
  readonly [part: string]: unknown
}

/** Finds faults in templates and drafts. */
export function createLint(
  {
    kinds,
    processor,
    library,
    records,
    localeOf,
    brandingOf,
    previewInputs,
    code,
    bounds,
    lintInput,
    templates,
  }: LintServices,
  searchMissing: SearchMissing,
): PerTenant<TemplateLinting> {
  async function lintIn(
    locale: string,
    template: Template,
    examples: LintExamples,
    used: Set<string>,
    findings: Findings,
  ): Promise<Pick<Linted, 'isReadable' | 'work'>> {
    try {
      const text = await library.complete(template, records, locale)
      const timeZone = examples.timeZone ?? text.made?.timeZone
      const share = processor.share(template.organizationId)
      const { faults, isReadable, work } = await share(
        lintSteps(kinds.of(text.channel), text, { ...examples, timeZone }, used, bounds),
      )
      await share(addSteps(faults, text, locale, findings))
      return { isReadable, work }
    } catch (error) {
      for (const fault of faultsOfError(error)) findings.add(inField(fault, template), locale)
      return { isReadable: false, work: 0 }
    }
  }

  /** True: the text takes messages from catalogues, or its layout or a partial does. */
  async function hasMessages(template: Template): Promise<boolean> {
    const { layout, uses, localized } = template
    if (localized === true) return true
    return (layout != null || uses !== undefined) && (await library.find(template, records)).localized
  }

  /** The first step of every lint. */
  async function begin(template: Template, given: LintRequest) {
    const { organizationId } = template
    const kind = kinds.of(template.channel)
    return {
      kind,
      findings: createFindings({ ...TEMPLATE_RULES, ...kind.lint?.rules }),
      own: template.locale ?? (await localeOf(organizationId)),
      parts: await templates().exampleParts(organizationId, kind, given),
    }
  }

  /** @returns the checked locales; whether those are all; whether each text can be put together */
  async function lintAll(
    template: Template,
    own: string,
    examples: LintExamples,
    used: Set<string>,
    findings: Findings,
  ): Promise<Pick<TemplateLint, 'locales' | 'complete'> & Pick<Linted, 'isReadable'>> {
    try {
      const search = await searchMissing(template.organizationId)
      const locales = localesOf(template, own, (await hasMessages(template)) ? search.locales : [])
      const checked: string[] = []
      let isReadable = true
      let left = MOST_WORK
      for (const locale of locales) {
        if (left <= 0) break
        const linted = await lintIn(locale, template, examples, used, findings)
        isReadable &&= linted.isReadable
        left -= linted.work
        checked.push(locale)
      }
      const missing = await search.in(template)
      addMissing(missing, findings)
      const complete = checked.length === locales.length && missing?.complete !== false
      return { locales: checked, complete, isReadable }
    } catch (error) {
      for (const fault of faultsOfError(error)) findings.add(inField(fault, template), own)
      return { locales: [own], complete: true, isReadable: false }
    }
  }

  async function lint(template: Template, given: LintRequest): Promise<TemplateLint> {
    const { findings, own, parts } = await begin(template, given)
    const variables = valuesOf(given)
    const used = new Set<string>()
    const branding = await brandingOf(template.organizationId)
    const examples = {
      variables: variables && withOrganization(variables, branding),
      parts,
      timeZone: given.timeZone,
    }
    const { locales, complete, isReadable } = await lintAll(template, own, examples, used, findings)
    if (isReadable && complete)
      for (const fault of unusedFaults(variables ?? {}, used)) findings.add(fault, own)
    return { findings: findings.list(), complete: complete && findings.complete, locales }
  }

  async function faultsWritten(
    entry: CodeTemplate,
    template: Template,
    values: Values,
    kind: ChannelKind,
    parts: unknown,
    options: WriteOptions,
  ): Promise<Pick<Linted, 'faults' | 'work'> & { readonly format: BodyFormat | null }> {
    try {
      const whole = await library.complete(template, records, options.locale)
      const text = renderContent(kind, await entry.write(whole, values, options), null, exampleUrls)
      const share = processor.share(template.organizationId)
      return { ...(await share(lintText(kind, text, parts))), format: text.format }
    } catch (error) {
      return { faults: faultsOfError(error), work: 0, format: null }
    }
  }

  /** A text that a function writes, in each locale of the catalogues. */
  async function lintWritten(
    entry: CodeTemplate,
    organizationId: string,
    given: LintRequest,
  ): Promise<TemplateLint> {
    const template = entry.of(organizationId)
    const { kind, findings, own, parts } = await begin(template, given)
    const values = valuesOf(given)
    if (values === undefined) return { findings: [], complete: true, locales: [] }
    const search = await searchMissing(organizationId)
    const locales = localesOf(template, own, search.locales)
    const keys = new Set<string>()
    const checked: string[] = []
    let left = MOST_WORK
    for (const locale of locales) {
      if (left <= 0) break
      const options = { locale, timeZone: given.timeZone, keys }
      const { faults, work, format } = await faultsWritten(entry, template, values, kind, parts, options)
      for (const fault of faults) findings.add(inField(fault, { format }), locale)
      left -= work
      checked.push(locale)
    }
    const missing = await search.in(template, keys)
    addMissing(missing, findings)
    const complete = checked.length === locales.length && findings.complete && missing?.complete !== false
    return { findings: findings.list(), complete, locales: checked }
  }

  return {
    async lint(organizationId, idOrName, options) {
      const { draft = false, ...asked } = parseSubject(lintInput, options ?? {})
      assertMessageBounds(asked, bounds)
      const entry = code.find(idOrName)
      if (entry?.stored === false && draft)
        throw wrong('draft', `absent: the template "${entry.name}" is defined in code`)
      let given: LintRequest = asked
      try {
        if (entry !== null) given = await readExample(entry, asked)
      } catch (error) {
        return unread(error, await localeOf(organizationId))
      }
      if (entry?.stored === false)
        return entry.isMustache
          ? lint(entry.of(organizationId), given)
          : lintWritten(entry, organizationId, given)
      const { find, drafted } = templates()
      const template = await find(organizationId, idOrName)
      return lint(draft ? await drafted(template) : template, given)
    },
    async lintDraft(organizationId, input) {
      const given = parseSubject(previewInputs.draft, input)
      assertMessageBounds({ variables: given.variables, data: given.data }, bounds)
      try {
        await templates().assertTexts(organizationId, given)
      } catch (error) {
        return unread(error, given.locale ?? (await localeOf(organizationId)))
      }
      return lint(unstoredTemplate(kinds, organizationId, given), given)
    },
  }
}

/** The locale of the template, those of its variants, and those of catalogues. */
function localesOf(template: Template, own: string, catalogues: readonly string[]): readonly string[] {
  const locales = new Set([own, ...Object.keys(template.locales ?? {}), ...catalogues])
  return [...locales].slice(0, MOST_LOCALES)
}

/**
 * What the schema of a template in code makes of the values, or of its example.
 *
 * @throws NotifierError `invalid_template_variable`
 */
async function readExample(entry: CodeTemplate, given: LintRequest): Promise<LintRequest> {
  const values = valuesOf(given) ?? entry.example
  if (values === undefined) return given
  const read = await entry.values(parseInput(jsonObject, values, 'variables'), false)
  // A function may need values that are not JSON.
  const variables = entry.isMustache || entry.stored ? jsonValues(entry.name, read) : (read as Values)
  return { ...given, data: undefined, variables }
}

/** The findings of a text that was not checked any further. @throws the error, if it is no fault */
function unread(error: unknown, locale: string): TemplateLint {
  const findings = createFindings(TEMPLATE_RULES)
  for (const fault of faultsOfError(error)) findings.add(fault, locale)
  return { findings: findings.list(), complete: true, locales: [] }
}

function valuesOf({ variables, data }: LintRequest): Values | undefined {
  return variables === undefined && data === undefined ? undefined : { ...data, ...variables }
}

function* addSteps(
  faults: readonly LintFault[],
  text: Template,
  locale: string,
  findings: Findings,
): Steps<void> {
  for (const fault of faults) {
    findings.add(inField(fault, text), locale, sourcesOf(text, fault.field))
    yield
  }
}

/** The texts in which an excerpt of a field may stand. */
function sourcesOf(text: Template, field: string): readonly LintedSource[] {
  const own = field === 'subject' || field === 'text' ? text[field] : text.body
  const { layout, partials } = text.made?.sources ?? {}
  const frame = { type: 'layout', name: text.layout ?? '' } as const
  const shared = [
    ...(layout == null ? [] : [{ source: frame, ...layout }]),
    ...[...(partials ?? [])].map(([name, source]) => ({
      source: { type: 'partial', name } as const,
      ...source,
    })),
  ]
  return [
    { source: null, text: own ?? '' },
    ...shared.flatMap(({ source, html, text: plain }) =>
      [html, plain].flatMap((each) => (each === null ? [] : [{ source, text: each }])),
    ),
  ]
}

/** The fault in the field that the template has for its text. */
function inField(fault: LintFault, { format }: Pick<Template, 'format'>): LintFault {
  return fault.field === 'body' ? { ...fault, field: format ?? 'body' } : fault
}

/** Missing translations, except keys that no locale has. */
function addMissing(found: MissingTranslations | null, findings: Findings): void {
  const lost = new Set(
    findings.list().flatMap(({ rule, excerpt }) => (rule === 'missing_message' ? [excerpt] : [])),
  )
  for (const { locale, variant, keys } of found?.missing ?? []) {
    if (variant) findings.add(NO_VARIANT, locale)
    for (const key of keys) if (!lost.has(`{{@${key}}}`)) findings.add(untranslated(key), locale)
  }
}

const NO_VARIANT: LintFault = {
  rule: 'missing_variant',
  field: 'locales',
  message: 'There are messages in a locale for which this template has no variant. Add it to "locales".',
}

function untranslated(key: string): LintFault {
  return {
    rule: 'untranslated_message',
    field: 'messages',
    message: `The message "${key}" is missing in a locale, whose readers get it in another language. Add it to the catalogue.`,
  }
}

function* unusedFaults(variables: Values, used: ReadonlySet<string>): Generator<LintFault> {
  for (const name of Object.keys(variables)) {
    if (used.has(name)) continue
    yield {
      rule: 'unused_variable',
      field: 'variables',
      message: `No text uses the value "${shortName(name)}". Leave it out, or correct its name.`,
    }
  }
}
