import type { BodyFormat } from '../../domain/notification.ts'

/** A template, as it is stored and answered. */
export interface TemplateRecord {
  readonly id: string
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat | null
  readonly description: string | null
  readonly version: number
  readonly createdAt: string
}
