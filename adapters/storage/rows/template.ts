import type { BodyFormat } from '../../../src/domain/notification.ts'
import type { Template } from '../../../src/domain/template/template.ts'
import type { TemplateChange } from '../../../src/ports/storage/templates.ts'

/** One version of a template. */
export interface TemplateRow {
  readonly seq: number
  readonly id: string
  readonly organization: string
  readonly name: string
  readonly channel: string
  readonly description: string | null
  readonly created_at: number
  readonly version: number
  readonly subject: string | null
  readonly body: string
  readonly format: BodyFormat | null
  readonly text: string | null
  /** When the version was made. */
  readonly version_at: number
}

export function toTemplate(row: TemplateRow): Template {
  return {
    id: row.id,
    organizationId: row.organization,
    name: row.name,
    channel: row.channel,
    subject: row.subject,
    body: row.body,
    format: row.format,
    text: row.text,
    description: row.description,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.version_at,
  }
}

/** Applies a change. A changed text increments the version. */
export function changedTemplate(row: TemplateRow, change: TemplateChange): TemplateRow {
  const { name = row.name, subject = row.subject, body = row.body, format = row.format } = change
  const { text = row.text, description = row.description } = change
  const same = subject === row.subject && body === row.body && format === row.format && text === row.text
  return {
    ...row,
    name,
    subject,
    body,
    format,
    text,
    description,
    version: same ? row.version : row.version + 1,
  }
}
