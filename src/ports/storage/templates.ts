import type { Template } from '../../domain/template/template.ts'
import type { Page, PageRequest } from './page.ts'

export interface TemplateRepository {
  /**
   * Null: the organization has a template of this name. Of ten concurrent calls one creates it.
   *
   * @throws NotifierError `not_found` if the organization does not exist
   */
  create(template: NewTemplate): Promise<Template | null>
  /** The newest version, of any organization. Null: unknown or deleted. */
  get(id: string): Promise<Template | null>
  /**
   * The newest versions by name or id within an organization, in order. Null: unknown or deleted. One query for the
   * set.
   */
  find(organizationId: string, references: readonly string[]): Promise<(Template | null)[]>
  /**
   * Pinned versions, which outlive updates and deletion, with the current name and description. Null: never existed. One
   * query for the set.
   */
  versions(references: readonly TemplateVersion[]): Promise<(Template | null)[]>
  /** The versions of a template, newest first. Empty: unknown or deleted. */
  history(id: string, page: PageRequest): Promise<Page<Template>>
  /** Newest first. */
  list(organizationId: string, page: PageRequest): Promise<Page<Template>>
  /**
   * Adds a version if subject, body, format or text change; a new name or description alone keeps the version.
   * `unknown`: no such template. `taken`: another template has the name. `outdated`: the current version is not the
   * expected one, and nothing changed. Of ten concurrent calls that expect one version and change the text, one
   * succeeds.
   *
   * @param expectedVersion absent: any
   */
  update(
    id: string,
    change: TemplateChange,
    expectedVersion?: number,
  ): Promise<Template | 'unknown' | 'taken' | 'outdated'>
  /** Frees the name. Queued notifications keep their version. False: unknown or already deleted. */
  delete(id: string): Promise<boolean>
}

export interface TemplateVersion {
  readonly id: string
  readonly version: number
}

/** A template before it is stored. */
export type NewTemplate = Omit<Template, 'createdAt' | 'updatedAt' | 'version'>

/** Absent: unchanged. */
export type TemplateChange = {
  readonly [Field in 'name' | 'subject' | 'body' | 'format' | 'text' | 'description']?:
    | Template[Field]
    | undefined
}
