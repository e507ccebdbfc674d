import type { LintFault, LintRule } from '../../core/channels/lint.ts'
import type { LintFinding, LintSource } from './model.ts'

/** Maximum number of findings about one template. */
export const MAX_FINDINGS = 200
/** Maximum length of an excerpt. */
const MAX_EXCERPT = 120

/** A source of a template: `template` is null for its own. */
export interface LintedSource {
  readonly source: LintSource | null
  readonly text: string
}

/** Joins equal faults of several locales. */
export interface Findings {
  /** @param sources where the excerpt may stand, in order */
  add(fault: LintFault, locale: string, sources?: readonly LintedSource[]): void
  /** False: there are more than {@link MAX_FINDINGS}. */
  readonly complete: boolean
  list(): readonly LintFinding[]
}

/** The same for faults that are one finding. */
export function keyOf({ rule, field, message, excerpt }: LintFault): string {
  return [rule, field, message, excerpt?.slice(0, MAX_EXCERPT)].join('\n')
}

export function createFindings(rules: Readonly<Record<string, LintRule>>): Findings {
  const found = new Map<string, LintFinding & { readonly locales: string[] }>()
  let complete = true

  return {
    get complete() {
      return complete
    },
    add(fault, locale, sources = []) {
      const { rule, message, field, cause } = fault
      const excerpt = fault.excerpt?.slice(0, MAX_EXCERPT)
      const key = keyOf(fault)
      const known = found.get(key)
      if (known !== undefined) {
        if (!known.locales.includes(locale)) known.locales.push(locale)
        return
      }
      if (found.size >= MAX_FINDINGS) {
        complete = false
        return
      }
      const severity = (Object.hasOwn(rules, rule) ? rules[rule]?.severity : undefined) ?? 'warning'
      const location = excerpt === undefined ? {} : { ...locate(excerpt, sources), excerpt }
      found.set(key, {
        rule,
        severity,
        message,
        field,
        locales: [locale],
        ...location,
        ...(cause === undefined ? {} : { cause }),
      })
    },
    list: () => [...found.values()],
  }
}

function locate(excerpt: string, sources: readonly LintedSource[]): Pick<LintFinding, 'source' | 'line'> {
  for (const { source, text } of sources) {
    const at = text.indexOf(excerpt)
    if (at !== -1) return { ...(source === null ? {} : { source }), line: lineAt(text, at) }
  }
  return {}
}

function lineAt(text: string, at: number): number {
  let line = 1
  for (let found = text.indexOf('\n'); found !== -1 && found < at; found = text.indexOf('\n', found + 1))
    line += 1
  return line
}
