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
  /** Null: the body's source decides. */
  readonly format: BodyFormat | null
  readonly description: string | null
  /** From 1; every update of subject, body or format makes a new one. */
  readonly version: number
  /** Epoch milliseconds. */
  readonly createdAt: number
}
