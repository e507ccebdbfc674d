import type { Template } from '../../../src/domain/template/template.ts'
import type { NewTemplate, TemplateChange, TemplateRepository } from '../../../src/ports/storage/templates.ts'
import { changedTemplate, type TemplateRow, toTemplate } from '../rows/template.ts'
import type { Connection } from './connection.ts'
import { dataError, isDataError } from './errors.ts'
import { createRequireOrganization } from './organizations.ts'
import { pageBySeq } from './page.ts'

const INSERT = `
  INSERT INTO carillon_templates (id, organization, name, channel, description, version, created_at)
  VALUES (?, ?, ?, ?, ?, 1, ?)`

const INSERT_VERSION = `
  INSERT INTO carillon_template_versions (template, version, subject, body, format, text, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`

const NAME_HOLDER = `
  SELECT id FROM carillon_templates WHERE organization = ? AND name = ? AND deleted_at IS NULL`

const COLUMNS = `
  t.seq, t.id, t.organization, t.name, t.channel, t.description, t.created_at,
  v.version, v.subject, v.body, v.format, v.text, v.created_at AS version_at`

const NEWEST = `
  SELECT ${COLUMNS}
  FROM carillon_templates AS t
  JOIN carillon_template_versions AS v ON v.template = t.seq AND v.version = t.version
  WHERE t.deleted_at IS NULL`

const SELECT = `${NEWEST} AND t.id = ?`

const SELECT_BY_NAME = `${NEWEST} AND t.organization = ? AND t.name = ?`

const LIST = `${NEWEST} AND t.organization = ? AND t.seq < ? ORDER BY t.seq DESC LIMIT ? OFFSET ?`

const SELECT_VERSION = `
  SELECT ${COLUMNS}
  FROM carillon_templates AS t
  JOIN carillon_template_versions AS v ON v.template = t.seq AND v.version = ?
  WHERE t.id = ?`

const HISTORY = `
  SELECT ${COLUMNS}
  FROM carillon_templates AS t
  JOIN carillon_template_versions AS v ON v.template = t.seq AND v.version < ?
  WHERE t.id = ? AND t.deleted_at IS NULL ORDER BY v.version DESC LIMIT ? OFFSET ?`

const UPDATE = 'UPDATE carillon_templates SET name = ?, description = ?, version = ? WHERE seq = ?'

const DELETE = 'UPDATE carillon_templates SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL'

export function createTemplates(connection: Connection): TemplateRepository {
  const requireOrganization = createRequireOrganization(connection)
  const insert = connection.statement(INSERT)
  const insertVersion = connection.statement(INSERT_VERSION)
  const nameHolder = connection.statement<{ id: string }>(NAME_HOLDER)
  const select = connection.statement<TemplateRow>(SELECT)
  const selectByName = connection.statement<TemplateRow>(SELECT_BY_NAME)
  const selectVersion = connection.statement<TemplateRow>(SELECT_VERSION)
  const history = connection.statement<TemplateRow>(HISTORY)
  const list = connection.statement<TemplateRow>(LIST)
  const updateRow = connection.statement(UPDATE)
  const remove = connection.statement(DELETE)

  function create(template: NewTemplate): Template | null {
    const { id, organizationId, name, channel, subject, body, format, text, description } = template
    requireOrganization(organizationId)
    if (nameHolder().get(organizationId, name) !== undefined) return null
    const createdAt = connection.now()
    const seq = insert().insert(id, organizationId, name, channel, description, createdAt)
    insertVersion().run(seq, 1, subject, body, format, text, createdAt)
    return { ...template, version: 1, createdAt, updatedAt: createdAt }
  }

  function update(
    id: string,
    change: TemplateChange,
    expectedVersion: number | undefined,
  ): Template | 'unknown' | 'taken' | 'outdated' {
    const row = select().get(id)
    if (row === undefined) return 'unknown'
    if (expectedVersion !== undefined && expectedVersion !== row.version) return 'outdated'
    const changed = changedTemplate(row, change)
    const holder = nameHolder().get(row.organization, changed.name)
    if (holder !== undefined && holder.id !== id) return 'taken'
    const { subject, body, format, text, description, version } = changed
    updateRow().run(changed.name, description, version, row.seq)
    if (version === row.version) return toTemplate(changed)
    const now = connection.now()
    insertVersion().run(row.seq, version, subject, body, format, text, now)
    return toTemplate({ ...changed, version_at: now })
  }

  return {
    async create(template) {
      try {
        return await connection.durably(() => create(template))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async get(id) {
      return connection.read(() => orNull(select().get(id)))
    },
    async find(organizationId, references) {
      return connection.read(() =>
        references.map((reference) => {
          const row = selectByName().get(organizationId, reference) ?? select().get(reference)
          return row?.organization === organizationId ? toTemplate(row) : null
        }),
      )
    },
    async versions(references) {
      return connection.read(() =>
        references.map(({ id, version }) => {
          const row = selectVersion().get(version, id)
          return row === undefined ? null : toTemplate(row)
        }),
      )
    },
    async history(id, page) {
      const select = (before: number, limit: number, offset: number) =>
        history()
          .all(before, id, limit, offset)
          .map((row) => ({ ...row, seq: row.version }))
      return connection.read(() => pageBySeq(page, select, toTemplate))
    },
    async list(organizationId, page) {
      return connection.read(() =>
        pageBySeq(
          page,
          (before, limit, offset) => list().all(organizationId, before, limit, offset),
          toTemplate,
        ),
      )
    },
    async update(id, change, expectedVersion) {
      return connection.durably(() => update(id, change, expectedVersion))
    },
    async delete(id) {
      return connection.durably(() => remove().changes(connection.now(), id) === 1)
    },
  }
}

function orNull(row: TemplateRow | undefined): Template | null {
  return row === undefined ? null : toTemplate(row)
}
