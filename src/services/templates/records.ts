/** A template, as it is answered; given back as an update, it means the same. */
export interface TemplateRecord {
  readonly id: string
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  /** Null where `html` or `text` say what they are. */
  readonly body: string | null
  readonly html: string | null
  /** Beside `html` its text alternative. */
  readonly text: string | null
  readonly description: string | null
  readonly version: number
  readonly createdAt: string
}
