import type { LintSeverity } from '../../core/channels/lint.ts'

/** A fault of a template, in its public form. */
export interface LintFinding {
  /** The name of the rule, which never changes. */
  readonly rule: string
  readonly severity: LintSeverity
  /** What is wrong and what to do. Its wording may change. */
  readonly message: string
  /** The field of the template, such as `html` or `subject`; `variables`; or a part such as `slack.blocks[0]`. */
  readonly field: string
  /** The locales in which it was found. */
  readonly locales: readonly string[]
  /** The layout or partial that has the text. Absent: the template itself, or unknown. */
  readonly source?: LintSource | undefined
  /** The line of the text, from 1. Absent: unknown. */
  readonly line?: number | undefined
  /** The text that breaks the rule, at most 120 characters. */
  readonly excerpt?: string | undefined
  /** What the schema or function of a template in code threw. Never over REST. */
  readonly cause?: unknown
}

/** A text that a template is made of. */
export interface LintSource {
  readonly type: 'layout' | 'partial'
  readonly name: string
}

/** The faults of a template. */
export interface TemplateLint {
  /** In no order: at most 200. */
  readonly findings: readonly LintFinding[]
  /** False: there may be more findings. */
  readonly complete: boolean
  /** The locales that were checked. Empty: the text cannot be read. */
  readonly locales: readonly string[]
}
