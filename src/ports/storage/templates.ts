import type { Template } from '../../domain/template/template.ts'
import type { Page, PageRequest } from './page.ts'

export interface TemplateRepository {
  /**
   * Null when the organization has a template of this name: of ten in a race exactly one is created.
   *
   * @throws NotifierError `not_found` when the organization does not exist.
   */
  create(template: Omit<Template, 'createdAt' | 'version'>): Promise<Template | null>
  /** The newest version, any organization's; null: unknown or deleted. */
  get(id: string): Promise<Template | null>
  /** The newest versions by name or id within an organization, in order; null: unknown or deleted. One query for the set. */
  find(organizationId: string, references: readonly string[]): Promise<(Template | null)[]>
  /** Pinned versions, kept also after an update or deletion; null: never existed. One query for the set. */
  versions(references: readonly TemplateVersion[]): Promise<(StoredVersion | null)[]>
  /** The versions of a template that is not deleted, newest first; none: unknown or deleted. */
  history(id: string, page: PageRequest): Promise<Page<StoredVersion>>
  /** Newest first. */
  list(organizationId: string, page: PageRequest): Promise<Page<Template>>
  /**
   * Adds a version where subject, body, format or text become different; a new name or description alone keeps it.
   * `unknown`: no such template. `taken`: another template has the new name. `outdated`: its version is not the
   * expected one, and nothing was changed; of ten in a race that expect one version and change the text, one succeeds.
   *
   * @param expectedVersion absent: any
   */
  update(
    id: string,
    change: TemplateChange,
    expectedVersion?: number,
  ): Promise<Template | 'unknown' | 'taken' | 'outdated'>
  /** Frees its name; queued notifications keep their version. False: unknown, or deleted before. */
  delete(id: string): Promise<boolean>
}

export interface TemplateVersion {
  readonly id: string
  readonly version: number
}

/** A version with the name and description that the template has now. */
export interface StoredVersion extends Template {
  /** When the version was made; epoch milliseconds. */
  readonly versionAt: number
}

/** Absent: unchanged. */
export type TemplateChange = {
  readonly [Field in 'name' | 'subject' | 'body' | 'format' | 'text' | 'description']?:
    | Template[Field]
    | undefined
}
