import { NotifierError } from '../errors/notifier-error.ts'
import { isFields, toJsonObject } from '../input/json.ts'
import type { CodeText, NotificationContent } from '../notification/notification.ts'
import type { Work } from './extent.ts'
import type { Template } from './template.ts'

/** The source of templates in code. */
export interface CodeTemplates {
  /** All names. */
  readonly names: readonly string[]
  /** Null: none has this name. */
  find(name: string | undefined): CodeTemplate | null
  /** Checks all texts, before the first is sent. @throws NotifierError `invalid_configuration` */
  open(): Promise<void>
}

/** A template in code. */
export interface CodeTemplate {
  readonly name: string
  readonly channel: string
  /** True: each organization has a stored template of its name. False: no stored template is reached by its name. */
  readonly stored: boolean
  /** True: no text is a function. */
  readonly isMustache: boolean
  /** Values for previews and lints. Undefined: none. */
  readonly example: unknown
  /** The template for an organization; only of one with its text in code. */
  of(organizationId: string): Template
  /**
   * What the schema makes of variables.
   *
   * @param sensitive true: errors quote no value
   * @throws NotifierError `invalid_template_variable`, `template_error`; see {@link isUnanswered}
   */
  values(given: Readonly<Record<string, unknown>>, sensitive: boolean): Promise<unknown>
  /**
   * Writes the text.
   *
   * @param template as from {@link of}, completed
   * @throws NotifierError `invalid_template_variable`, `template_error`, `message_too_large`, `missing_peer`, and
   *   `invalid_parameter` for a link without the option `publicUrl`; see {@link isUnanswered}
   */
  write(template: Template, values: unknown, options: WriteOptions): Promise<CodeText>
}

/** The reader of a text. */
export interface WriteOptions {
  /** Of the send or the recipient. Undefined: those of the organization. */
  readonly locale: string | undefined
  readonly timeZone: string | undefined
  /** Literal; replaces the template's. */
  readonly subject?: string | undefined
  /** Replaces the template's. */
  readonly format?: NotificationContent['format'] | undefined
  /** Receives the cost. */
  readonly spent?: Work | undefined
  /** Receives the keys of messages that functions take. */
  readonly keys?: Set<string> | undefined
}

/** For a service without templates in code. */
export const NO_CODE_TEMPLATES: CodeTemplates = {
  names: [],
  find: () => null,
  async open() {},
}

/** The template whose text is in code: no stored template is reached by its name. Null: none. */
export function inCode(code: Pick<CodeTemplates, 'find'>, name: string | undefined): CodeTemplate | null {
  const entry = code.find(name)
  return entry?.stored === false ? entry : null
}

/** True: the error says that code of the application did not answer in time, by `timeoutMs` in its details. */
export function isUnanswered({ code, details }: NotifierError): boolean {
  return code === 'template_error' && details?.timeoutMs !== undefined
}

/** Values as mustache and the storage take them. @throws NotifierError `template_error` */
export function jsonValues(name: string, values: unknown): Readonly<Record<string, unknown>> {
  const json = isFields(values) ? toJsonObject(values) : { fault: 'must be an object' }
  if ('value' in json) return json.value
  throw new NotifierError('template_error', {
    message: `What the schema of the template "${name}" makes of the variables ${json.fault}.`,
    details: { template: name, field: 'variables' },
  })
}
