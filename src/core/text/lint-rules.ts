/** `error`: messages are refused or reach people broken. `warning`: they are sent, and people may see less. */
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

/** A rule for every channel. */
export type TemplateRule =
  | 'invalid_syntax'
  | 'invalid_template'
  | 'missing_message'
  | 'untranslated_message'
  | 'missing_variant'
  | 'missing_variable'
  | 'undeclared_variable'
  | 'unused_variable'
  | 'blank_message'
  | 'message_too_large'
  | 'unsafe_link'
  | 'plain_http_link'
  | 'image_without_alt'

/** The rules for every channel, by name. Channels bring others. */
export const TEMPLATE_RULES: Readonly<Record<TemplateRule, LintRule>> = {
  invalid_syntax: {
    severity: 'error',
    finds: 'a tag or section that is not closed, or a tag of another template language',
  },
  invalid_template: {
    severity: 'error',
    finds: 'a layout or partial that does not exist or does not fit, or a partial that contains itself',
  },
  missing_message: { severity: 'error', finds: 'a message `{{@key}}` that no locale has' },
  untranslated_message: { severity: 'warning', finds: 'a message that a locale takes from another language' },
  missing_variant: {
    severity: 'warning',
    finds: 'a locale with messages, but without a variant of the text',
  },
  missing_variable: {
    severity: 'error',
    finds: 'a required value that the example values do not have, or that is no text, number or boolean',
  },
  undeclared_variable: {
    severity: 'warning',
    finds: 'a section, or a value in a section, that the example values do not have',
  },
  unused_variable: { severity: 'warning', finds: 'an example value that no text uses' },
  blank_message: { severity: 'error', finds: 'example values that leave the message blank' },
  message_too_large: { severity: 'error', finds: 'a text that is larger than sends allow' },
  unsafe_link: {
    severity: 'error',
    finds: 'an address that runs code or reads files, such as `javascript:…`, in an attribute of HTML',
  },
  plain_http_link: { severity: 'warning', finds: 'a link or image with `http:` in place of `https:`' },
  image_without_alt: { severity: 'warning', finds: 'an `<img>` without `alt`' },
}
