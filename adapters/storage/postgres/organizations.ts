import { DEFAULT_ORGANIZATION, type Organization } from '../../../src/domain/organization.ts'
import type { OrganizationRepository } from '../../../src/ports/storage/organizations.ts'
import { type Connection, NOW, type Runner } from './connection.ts'
import { unknownOrganization } from './errors.ts'
import { pageBySeq } from './page.ts'

const INSERT = `
  INSERT INTO carillon.organizations (created_at, id, name, plan, sms_countries, retention_days)
  VALUES (${NOW}, $2, $3, $4, $5, $6)
  ON CONFLICT DO NOTHING RETURNING *`

const SELECT = 'SELECT * FROM carillon.organizations WHERE id = $1'

const LIST = 'SELECT * FROM carillon.organizations WHERE seq < $1 ORDER BY seq DESC LIMIT $2 OFFSET $3'

const UPDATE = `
  UPDATE carillon.organizations
  SET name = coalesce($2, name), plan = CASE WHEN $3 THEN $4 ELSE plan END,
    sms_countries = CASE WHEN $5 THEN $6 ELSE sms_countries END,
    retention_days = CASE WHEN $7 THEN $8 ELSE retention_days END
  WHERE id = $1 RETURNING *`

interface OrganizationRow {
  readonly seq: number
  readonly id: string
  readonly name: string
  readonly plan: string | null
  /** A JSON array. */
  readonly sms_countries: string | null
  readonly retention_days: number | null
  readonly created_at: number
}

export function createOrganizations(connection: Connection): OrganizationRepository {
  return {
    async create({ id, name, plan, smsCountries, retentionDays = null }) {
      const values = [connection.time(), id, name, plan, toColumn(smsCountries), retentionDays]
      const [row] = await connection.rows<OrganizationRow>(INSERT, values)
      return row === undefined ? null : toOrganization(row)
    },
    async get(id) {
      const [row] = await connection.rows<OrganizationRow>(SELECT, [id])
      return row === undefined ? null : toOrganization(row)
    },
    list(page) {
      return pageBySeq(page, (...values) => connection.rows<OrganizationRow>(LIST, values), toOrganization)
    },
    async update(id, { name = null, plan, smsCountries, retentionDays }) {
      const [row] = await connection.rows<OrganizationRow>(UPDATE, [
        id,
        name,
        plan !== undefined,
        plan ?? null,
        smsCountries !== undefined,
        toColumn(smsCountries ?? null),
        retentionDays !== undefined,
        retentionDays ?? null,
      ])
      return row === undefined ? null : toOrganization(row)
    },
  }
}

/** Creates `org_default`, which always exists. */
export async function createDefaultOrganization(connection: Connection): Promise<void> {
  const [found] = await connection.rows(SELECT, [DEFAULT_ORGANIZATION])
  if (found !== undefined) return
  await connection.rows(INSERT, [connection.time(), DEFAULT_ORGANIZATION, 'Default', null, null, null])
}

/** Checks that an organization exists: they are never deleted. */
export async function requireOrganization(runner: Runner, id: string): Promise<void> {
  const [found] = await runner.rows(SELECT, [id])
  if (found === undefined) throw unknownOrganization(id)
}

function toOrganization(row: OrganizationRow): Organization {
  const { id, name, plan, sms_countries, retention_days: retentionDays, created_at: createdAt } = row
  const smsCountries = sms_countries === null ? null : (JSON.parse(sms_countries) as readonly string[])
  return { id, name, plan, smsCountries, retentionDays, createdAt }
}

function toColumn(smsCountries: readonly string[] | null): string | null {
  return smsCountries === null ? null : JSON.stringify(smsCountries)
}
