import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION } from '../../../src/domain/organization.ts'
import { NO_TRACKING } from '../../../src/domain/track-html.ts'
import type { OrganizationRepository } from '../../../src/ports/storage/organizations.ts'
import { countriesColumn, type OrganizationRow, toOrganization } from '../rows/organization.ts'
import type { Connection } from './connection.ts'
import { pageBySeq } from './page.ts'
import { createPurge } from './purge.ts'

const INSERT = `
  INSERT INTO carillon_organizations (id, name, plan, sms_countries, retention_days, tracking, created_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`

const SELECT = 'SELECT * FROM carillon_organizations WHERE id = ?'

const LIST = 'SELECT * FROM carillon_organizations WHERE seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?'

const UPDATE = `
  UPDATE carillon_organizations SET name = ?, plan = ?, sms_countries = ?, retention_days = ?, tracking = ?
  WHERE id = ?`

export function createOrganizations(connection: Connection): OrganizationRepository {
  const select = connection.statement<OrganizationRow>(SELECT)
  const list = connection.statement<OrganizationRow>(LIST)
  const update = connection.statement(UPDATE)
  const insert = connection.statement(INSERT)
  return {
    async create({ id, name, plan, smsCountries, retentionDays = null, tracking = NO_TRACKING }) {
      return connection.durably(() => {
        const createdAt = connection.now()
        const values = [
          id,
          name,
          plan,
          countriesColumn(smsCountries),
          retentionDays,
          JSON.stringify(tracking),
        ]
        return insert().changes(...values, createdAt) === 1
          ? { id, name, plan, smsCountries, retentionDays, tracking, createdAt }
          : null
      })
    },
    async get(id) {
      const row = connection.read(() => select().get(id))
      return row === undefined ? null : toOrganization(row)
    },
    async list(page) {
      return connection.read(() =>
        pageBySeq(page, (before, limit, offset) => list().all(before, limit, offset), toOrganization),
      )
    },
    async update(id, change) {
      return connection.durably(() => {
        const row = select().get(id)
        if (row === undefined || row.deleting !== null) return null
        const changed = changedRow(row, change)
        const { name, plan, sms_countries, retention_days, tracking } = changed
        update().run(name, plan, sms_countries, retention_days, tracking, id)
        return toOrganization(changed)
      })
    },
    ...createPurge(connection),
  }
}

type Change = Parameters<OrganizationRepository['update']>[1]

function changedRow(
  row: OrganizationRow,
  { name = row.name, plan = row.plan, smsCountries, retentionDays = row.retention_days, tracking }: Change,
): OrganizationRow {
  return {
    ...row,
    name,
    plan,
    sms_countries: smsCountries === undefined ? row.sms_countries : countriesColumn(smsCountries),
    retention_days: retentionDays,
    tracking: tracking === undefined ? row.tracking : JSON.stringify(tracking),
  }
}

/** Creates `org_default`, which always exists. */
export function createDefaultOrganization(connection: Connection): void {
  const insert = connection.statement(INSERT)
  connection.write(() =>
    insert().run(DEFAULT_ORGANIZATION, 'Default', null, null, null, null, connection.now()),
  )
}

/** Checks inside a transaction that an organization exists and is not being deleted. */
export function createRequireOrganization(connection: Connection): (id: string) => void {
  const select = connection.statement<OrganizationRow>(SELECT)
  return function requireOrganization(id) {
    if (select().get(id)?.deleting === null) return
    throw new NotifierError('not_found', { message: `No organization has the id "${id}".` })
  }
}
