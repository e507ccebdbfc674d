import { AssertionError } from 'node:assert'
import type { LintSeverity } from '../core/channels/lint.ts'
import type { JsonFields } from '../core/input/json-fields.ts'
import { DEFAULT_ORGANIZATION } from '../core/tenancy/organization.ts'
import type { LintFinding, LintOptions } from '../features/lint/index.ts'

/** What {@link expectTemplates} needs of a notifier. */
export interface NotifierWithTemplates {
  /** Knows the templates in code. Opaque. */
  readonly internals: object
  organization(id: string): { readonly templates: LintableTemplates }
}

/** The templates of an organization. */
export interface LintableTemplates {
  list(query: { readonly limit: number; readonly cursor?: string | undefined }): Promise<{
    readonly items: readonly { readonly id: string; readonly name: string }[]
    readonly nextCursor: string | null
  }>
  lint(
    idOrName: string,
    options: LintOptions,
  ): Promise<{ readonly findings: readonly LintFinding[]; readonly complete: boolean }>
}

/** What {@link expectTemplates} expects. */
export interface TemplateExpectations {
  /**
   * Example values by the name of the template: all that its texts use, and nothing else. The values of a template
   * without an entry are not checked.
   */
  readonly variables?: Readonly<Record<string, JsonFields>> | undefined
  /** Parts of messages by the name of the template: `{ alarm: { slack: { blocks } } }`. */
  readonly parts?: Readonly<Record<string, TemplateParts>> | undefined
  /** Default: `org_default`. */
  readonly organization?: string | undefined
  /** Names of rules that may be broken, such as `several_segments`. */
  readonly ignore?: readonly string[] | undefined
  /** The least severity that fails. Default `warning`. */
  readonly severity?: LintSeverity | undefined
}

/** Parts of a message under the name of its channel. */
export type TemplateParts = Omit<LintOptions, 'variables' | 'data' | 'timeZone' | 'draft'>

/** Lines about findings in the error; the others are counted. */
const MOST_LINES = 200

/**
 * Lints all templates of an organization and those in code, with their examples, and fails with all findings in one error: for tests, with any runner.
 *
 * @throws AssertionError if a rule is broken, or `variables` or `parts` name a template that does not exist
 *
 * @example
 * test('the texts are right', async () => {
 *   await expectTemplates(notifier, { variables: { welcome: { name: 'Ada' } } })
 * })
 */
export async function expectTemplates(
  notifier: NotifierWithTemplates,
  expectations: TemplateExpectations = {},
): Promise<void> {
  const { variables = {}, parts = {}, organization = DEFAULT_ORGANIZATION } = expectations
  const { templates } = notifier.organization(organization)
  const stored = await namesOf(templates)
  const names = new Map([...stored, ...namesInCode(notifier, stored).map((name) => [name, name] as const)])
  const lines = [...Object.keys(variables), ...Object.keys(parts)]
    .filter((name) => !names.has(name))
    .map((name) => `The template "${name}" does not exist. Correct its name in the expectations.`)
  for (const [name, id] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const options = { ...parts[name], variables: variables[name] }
    const { findings, complete } = await templates.lint(id, options)
    const broken = findings.filter((finding) => fails(finding, expectations)).map((one) => lineOf(name, one))
    lines.push(...broken, ...(complete ? [] : [`${name}: more than ${findings.length} findings`]))
  }
  if (lines.length > 0) throw new AssertionError({ message: messageOf(lines, names.size) })
}

/** What a notifier knows about templates in code. */
interface WithCode {
  readonly code: {
    readonly names: readonly string[]
    find(name: string): { readonly stored: boolean } | null
  }
}

/** A text in code goes first; one that each organization writes must be stored. */
function namesInCode(
  { internals }: NotifierWithTemplates,
  stored: ReadonlyMap<string, string>,
): readonly string[] {
  const { names, find } = (internals as WithCode).code
  return names.filter((name) => find(name)?.stored !== true || stored.has(name))
}

/** The ids of stored templates by name. */
async function namesOf(templates: LintableTemplates): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await templates.list({ limit: 100, ...(cursor === '' ? {} : { cursor }) })
    for (const { id, name } of page.items) names.set(name, id)
    cursor = page.nextCursor
  }
  return names
}

function fails(
  { rule, severity }: LintFinding,
  { ignore = [], severity: least = 'warning' }: TemplateExpectations,
): boolean {
  return !ignore.includes(rule) && (least === 'warning' || severity === 'error')
}

function lineOf(
  template: string,
  { rule, field, locales, source, line, message, excerpt, cause }: LintFinding,
): string {
  const where = source === undefined ? field : `${field}, ${source.type} "${source.name}"`
  const at = line === undefined ? '' : `, line ${line}`
  const shown = excerpt === undefined ? '' : `\n    ${excerpt.replace(/\s+/g, ' ')}`
  const thrown =
    cause === undefined
      ? ''
      : `\n    ${cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)}`
  return `${template} (${locales.join(', ')}) ${where}${at}: ${rule}. ${message}${shown}${thrown}`
}

function messageOf(lines: readonly string[], templates: number): string {
  const rest = lines.length - MOST_LINES
  return [
    `${counted(lines.length, 'finding')} in ${counted(templates, 'template')}:`,
    ...lines.slice(0, MOST_LINES),
    ...(rest > 0 ? [`… and ${rest} more`] : []),
  ].join('\n')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
