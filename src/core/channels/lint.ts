/** `error`: messages are refused or arrive broken. `warning`: they are sent, but recipients may see less. */
export type LintSeverity = 'error' | 'warning'

/** A rule of the lint. */
export interface LintRule {
  readonly severity: LintSeverity
  /** What it finds, in a line for the documentation. */
  readonly finds: string
}

/** What breaks a rule. */
export interface LintFault {
  /** The name of the rule in snake case: `plain_http_link`. */
  readonly rule: string
  /** What is wrong and what to do, in full sentences. */
  readonly message: string
  /** `subject`, `body`, `text` for the text alternative of HTML, or another place such as `slack.blocks[0]`. */
  readonly field: string
  /** The text that breaks the rule. */
  readonly excerpt?: string | undefined
  /** What code of the application threw. */
  readonly cause?: unknown
}
