import { DEFAULT_ORGANIZATION } from '../../../src/domain/organization.ts'
import { NO_TRACKING } from '../../../src/domain/track-html.ts'
import type { OrganizationRepository } from '../../../src/ports/storage/organizations.ts'
import { countriesColumn, type OrganizationRow, toOrganization } from '../rows/organization.ts'
import { type Connection, NOW, type Transaction } from './connection.ts'
import { unknownOrganization } from './errors.ts'
import { pageBySeq } from './page.ts'
import { createPurge } from './purge.ts'

const INSERT = `
  INSERT INTO carillon.organizations (created_at, id, name, plan, sms_countries, retention_days, tracking)
  VALUES (${NOW}, $2, $3, $4, $5, $6, $7)
  ON CONFLICT DO NOTHING RETURNING *`

const SELECT = 'SELECT * FROM carillon.organizations WHERE id = $1'

const LIST = 'SELECT * FROM carillon.organizations WHERE seq < $1 ORDER BY seq DESC LIMIT $2 OFFSET $3'

const UPDATE = `
  UPDATE carillon.organizations
  SET name = coalesce($2, name), plan = CASE WHEN $3 THEN $4 ELSE plan END,
    sms_countries = CASE WHEN $5 THEN $6 ELSE sms_countries END,
    retention_days = CASE WHEN $7 THEN $8 ELSE retention_days END,
    tracking = coalesce($9, tracking)
  WHERE id = $1 AND deleting IS NULL RETURNING *`

export function createOrganizations(connection: Connection): OrganizationRepository {
  return {
    async create({ id, name, plan, smsCountries, retentionDays = null, tracking = NO_TRACKING }) {
      const about = [countriesColumn(smsCountries), retentionDays, JSON.stringify(tracking)]
      const values = [connection.time(), id, name, plan, ...about]
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
    async update(id, { name = null, plan, smsCountries, retentionDays, tracking }) {
      const [row] = await connection.rows<OrganizationRow>(UPDATE, [
        id,
        name,
        plan !== undefined,
        plan ?? null,
        smsCountries !== undefined,
        countriesColumn(smsCountries ?? null),
        retentionDays !== undefined,
        retentionDays ?? null,
        tracking === undefined ? null : JSON.stringify(tracking),
      ])
      return row === undefined ? null : toOrganization(row)
    },
    ...createPurge(connection),
  }
}

/** Creates `org_default`, which always exists. */
export async function createDefaultOrganization(connection: Connection): Promise<void> {
  const [found] = await connection.rows(SELECT, [DEFAULT_ORGANIZATION])
  if (found !== undefined) return
  await connection.rows(INSERT, [connection.time(), DEFAULT_ORGANIZATION, 'Default', null, null, null, null])
}

const LOCK_OPEN = 'SELECT 1 FROM carillon.organizations WHERE id = $1 AND deleting IS NULL FOR KEY SHARE'

/** Checks that an organization exists and is not being deleted. No deletion can begin before the transaction ends. */
export async function requireOrganization(tx: Transaction, id: string): Promise<void> {
  const [found] = await tx.rows(LOCK_OPEN, [id])
  if (found === undefined) throw unknownOrganization(id)
}
