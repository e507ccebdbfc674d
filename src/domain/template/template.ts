import type { BodyFormat } from '../notification.ts'

/** Reusable text with `{{variable}}` placeholders. */
export interface Template {
  /** `tpl_<value>` */
  readonly id: string
  readonly organizationId: string
  /** Lower-case words joined by hyphens; unique in the organization. */
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  readonly body: string
  /** Null: detected from the body. */
  readonly format: BodyFormat | null
  /** The text alternative of an HTML body. Null: made from the body. */
  readonly text: string | null
  readonly description: string | null
  /** From 1; every change of subject, body, format or text makes a new one. */
  readonly version: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** When this version was made; epoch milliseconds. */
  readonly updatedAt: number
}
