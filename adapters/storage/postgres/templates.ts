import type { Template } from '../../../src/domain/template/template.ts'
import type { NewTemplate, TemplateChange, TemplateRepository } from '../../../src/ports/storage/templates.ts'
import { changedTemplate, type TemplateRow, toTemplate } from '../rows/template.ts'
import { type Connection, NOW, type Transaction } from './connection.ts'
import { dataError, isDataError, isTaken } from './errors.ts'
import { requireOrganization } from './organizations.ts'
import { pageBySeq } from './page.ts'

/** A taken name returns no row; a taken id is an error. */
const INSERT = `
  WITH added AS (
    INSERT INTO carillon.templates (created_at, version, id, organization, name, channel, description)
    VALUES (${NOW}, 1, $2, $3, $4, $5, $6)
    ON CONFLICT (organization, name) WHERE deleted_at IS NULL DO NOTHING RETURNING seq, created_at),
  first_version AS (
    INSERT INTO carillon.template_versions (template, version, subject, body, format, text, created_at)
    SELECT seq, 1, $7, $8, $9, $10, created_at FROM added)
  SELECT created_at FROM added`

const PROVE_CREATED = 'SELECT 1 FROM carillon.templates WHERE id = $1'

const INSERT_VERSION = `
  INSERT INTO carillon.template_versions (created_at, template, version, subject, body, format, text)
  VALUES (${NOW}, $2, $3, $4, $5, $6, $7) RETURNING created_at AS version_at`

const COLUMNS = `
  t.seq, t.id, t.organization, t.name, t.channel, t.description, t.created_at,
  v.version, v.subject, v.body, v.format, v.text, v.created_at AS version_at`

const NEWEST = `
  SELECT ${COLUMNS}
  FROM carillon.templates AS t
  JOIN carillon.template_versions AS v ON v.template = t.seq AND v.version = t.version
  WHERE t.deleted_at IS NULL`

const SELECT = `${NEWEST} AND t.id = $1`

/** Waits for concurrent updates. The next statement sees their changes. */
const LOCK = 'SELECT seq FROM carillon.templates WHERE id = $1 AND deleted_at IS NULL FOR UPDATE'

const FIND = `${NEWEST} AND t.organization = $1 AND (t.name = ANY ($2::text[]) OR t.id = ANY ($2::text[]))`

const LIST = `${NEWEST} AND t.organization = $1 AND t.seq < $2 ORDER BY t.seq DESC LIMIT $3 OFFSET $4`

const VERSIONS = `
  SELECT ${COLUMNS}
  FROM unnest($1::text[], $2::integer[]) AS wanted (id, version)
  JOIN carillon.templates AS t ON t.id = wanted.id
  JOIN carillon.template_versions AS v ON v.template = t.seq AND v.version = wanted.version`

const HISTORY = `
  SELECT ${COLUMNS}
  FROM carillon.templates AS t
  JOIN carillon.template_versions AS v ON v.template = t.seq AND v.version < $2
  WHERE t.id = $1 AND t.deleted_at IS NULL ORDER BY v.version DESC LIMIT $3 OFFSET $4`

const UPDATE = 'UPDATE carillon.templates SET name = $2, description = $3, version = $4 WHERE seq = $1'

/** If another change followed, the outcome of this one is reported as unknown. */
const PROVE_UPDATED = `
  SELECT 1 FROM carillon.templates
  WHERE seq = $1 AND name = $2 AND description IS NOT DISTINCT FROM $3 AND version = $4`

const DELETE = `
  UPDATE carillon.templates SET deleted_at = ${NOW} WHERE id = $2 AND deleted_at IS NULL RETURNING seq`

export function createTemplates(connection: Connection): TemplateRepository {
  async function create(tx: Transaction, template: NewTemplate): Promise<Template | null> {
    const { id, organizationId, name, channel, subject, body, format, text, description } = template
    await requireOrganization(tx, organizationId)
    const named = [id, organizationId, name, channel, description]
    const [row] = await tx.rows<{ created_at: number }>(INSERT, [
      connection.time(),
      ...named,
      subject,
      body,
      format,
      text,
    ])
    if (row !== undefined) tx.prove(PROVE_CREATED, [id])
    return row === undefined
      ? null
      : { ...template, version: 1, createdAt: row.created_at, updatedAt: row.created_at }
  }

  async function update(
    tx: Transaction,
    id: string,
    change: TemplateChange,
    expectedVersion: number | undefined,
  ): Promise<Template | 'unknown' | 'outdated'> {
    await tx.rows(LOCK, [id])
    const [row] = await tx.rows<TemplateRow>(SELECT, [id])
    if (row === undefined) return 'unknown'
    if (expectedVersion !== undefined && expectedVersion !== row.version) return 'outdated'
    const changed = changedTemplate(row, change)
    const { name, subject, body, format, text, description, version } = changed
    const values = [row.seq, name, description, version]
    await tx.rows(UPDATE, values)
    tx.prove(PROVE_UPDATED, values)
    if (version === row.version) return toTemplate(changed)
    const texts = [row.seq, version, subject, body, format, text]
    const [made] = await tx.rows<Pick<TemplateRow, 'version_at'>>(INSERT_VERSION, [
      connection.time(),
      ...texts,
    ])
    return toTemplate({ ...changed, ...made })
  }

  return {
    async create(template) {
      try {
        return await connection.transaction((tx) => create(tx, template))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async get(id) {
      const [row] = await connection.rows<TemplateRow>(SELECT, [id])
      return row === undefined ? null : toTemplate(row)
    },
    async find(organizationId, references) {
      if (references.length === 0) return []
      const rows = await connection.rows<TemplateRow>(FIND, [organizationId, references])
      const byName = new Map(rows.map((row) => [row.name, row]))
      const byId = new Map(rows.map((row) => [row.id, row]))
      return references.map((reference) => {
        const row = byName.get(reference) ?? byId.get(reference)
        return row === undefined ? null : toTemplate(row)
      })
    },
    async versions(references) {
      if (references.length === 0) return []
      const ids = references.map(({ id }) => id)
      const numbers = references.map(({ version }) => version)
      const rows = await connection.rows<TemplateRow>(VERSIONS, [ids, numbers])
      const found = new Map(rows.map((row) => [`${row.version} ${row.id}`, toTemplate(row)]))
      return references.map(({ id, version }) => found.get(`${version} ${id}`) ?? null)
    },
    history(id, page) {
      // A cursor can hold a number that the database's integers cannot.
      const select = async (before: number, limit: number, offset: number) => {
        const newest = Math.min(before, 2 ** 31 - 1)
        const rows = await connection.rows<TemplateRow>(HISTORY, [id, newest, limit, offset])
        return rows.map((row) => ({ ...row, seq: row.version }))
      }
      return pageBySeq(page, select, toTemplate)
    },
    list(organizationId, page) {
      return pageBySeq(
        page,
        (...values) => connection.rows<TemplateRow>(LIST, [organizationId, ...values]),
        toTemplate,
      )
    },
    async update(id, change, expectedVersion) {
      try {
        return await connection.transaction((tx) => update(tx, id, change, expectedVersion))
      } catch (error) {
        if (isTaken(error)) return 'taken'
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async delete(id) {
      return (await connection.rows(DELETE, [connection.time(), id])).length === 1
    },
  }
}
