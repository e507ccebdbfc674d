import { NotifierError } from '../domain/errors/notifier-error.ts'
import type { Template } from '../domain/template/template.ts'
import type { NewTemplate, TemplateChange, TemplateRepository } from '../ports/storage/templates.ts'
import { requireOrganization } from './organizations.ts'
import { pageOf } from './page.ts'
import { keyOf, type MemoryState, nextNumber, type StoredTemplate } from './state.ts'

export function memoryTemplates(state: MemoryState): TemplateRepository {
  return {
    async create(template) {
      return create(state, template)
    },
    async get(id) {
      return newest(state.templates.get(id))
    },
    async find(organizationId, references) {
      return references.map((reference) => {
        const named = state.templateNames.get(keyOf(organizationId, reference))
        const found = newest(state.templates.get(named ?? reference))
        return found?.organizationId === organizationId ? found : null
      })
    },
    async versions(references) {
      return references.map(({ id, version }) => {
        const stored = state.templates.get(id)
        return stored === undefined ? null : (versionsOf(stored)[version - 1] ?? null)
      })
    },
    async history(id, page) {
      const stored = state.templates.get(id)
      const versions = stored === undefined || stored.deleted ? [] : versionsOf(stored)
      const rows = versions.map((version) => ({ number: version.version, version }))
      return pageOf(rows, page, ({ version }) => version)
    },
    async list(organizationId, page) {
      const rows: { number: number; template: Template }[] = []
      for (const stored of state.templates.values()) {
        const template = newest(stored)
        if (template?.organizationId === organizationId) rows.push({ number: stored.number, template })
      }
      return pageOf(rows, page, ({ template }) => template)
    },
    async update(id, change, expectedVersion) {
      return update(state, id, change, expectedVersion)
    },
    async delete(id) {
      const stored = state.templates.get(id)
      const template = newest(stored)
      if (stored === undefined || template === null) return false
      stored.deleted = true
      state.templateNames.delete(nameOf(template))
      return true
    },
  }
}

function create(state: MemoryState, template: NewTemplate): Template | null {
  requireOrganization(state, template.organizationId)
  if (state.templateNames.has(nameOf(template))) return null
  if (state.templates.has(template.id)) {
    throw new NotifierError('already_exists', { message: 'A template with this id exists.' })
  }
  const createdAt = state.now()
  const created: Template = { ...template, version: 1, createdAt, updatedAt: createdAt }
  state.templates.set(template.id, { number: nextNumber(state), versions: [created], deleted: false })
  state.templateNames.set(nameOf(template), template.id)
  return created
}

function update(
  state: MemoryState,
  id: string,
  change: TemplateChange,
  expectedVersion: number | undefined,
): Template | 'unknown' | 'taken' | 'outdated' {
  const stored = state.templates.get(id)
  const before = newest(stored)
  if (stored === undefined || before === null) return 'unknown'
  if (expectedVersion !== undefined && expectedVersion !== before.version) return 'outdated'
  const { name, subject, body, format, text, description } = change
  const after: Template = {
    ...before,
    name: name ?? before.name,
    subject: subject === undefined ? before.subject : subject,
    body: body ?? before.body,
    format: format === undefined ? before.format : format,
    text: text === undefined ? before.text : text,
    description: description === undefined ? before.description : description,
  }
  const holder = state.templateNames.get(nameOf(after))
  if (holder !== undefined && holder !== id) return 'taken'
  state.templateNames.delete(nameOf(before))
  state.templateNames.set(nameOf(after), id)
  const same =
    after.subject === before.subject &&
    after.body === before.body &&
    after.format === before.format &&
    after.text === before.text
  const updated = same ? after : { ...after, version: before.version + 1, updatedAt: state.now() }
  stored.versions[updated.version - 1] = updated
  return updated
}

function newest(stored: StoredTemplate | undefined): Template | null {
  return stored === undefined || stored.deleted ? null : (stored.versions.at(-1) ?? null)
}

/** Oldest first. */
function versionsOf({ versions }: StoredTemplate): Template[] {
  const newest = versions.at(-1)
  return versions.map((version) => ({
    ...version,
    name: newest?.name ?? version.name,
    description: newest?.description ?? null,
  }))
}

function nameOf(template: { readonly organizationId: string; readonly name: string }): string {
  return keyOf(template.organizationId, template.name)
}
