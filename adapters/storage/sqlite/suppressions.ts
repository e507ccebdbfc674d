import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SuppressionReason } from '../../../src/domain/suppression.ts'
import type { PageRequest } from '../../../src/ports/storage/page.ts'
import type {
  Suppression,
  SuppressionKey,
  SuppressionRepository,
} from '../../../src/ports/storage/suppressions.ts'
import { type SuppressionRow, toSuppression } from '../rows/suppression.ts'
import type { Connection } from './connection.ts'
import { dataError, isDataError } from './errors.ts'
import { createRequireOrganization } from './organizations.ts'
import { pageBySeq } from './page.ts'

/**
 * Adds an entry, unless one exists or its organization was deleted: organization, channel, address, reason, source,
 * time.
 */
export const INSERT_SUPPRESSION: string = `
  INSERT INTO carillon_suppressions (organization, channel, address, reason, source, created_at, seq)
  SELECT given.*,
    (SELECT coalesce(max(seq), 0) + 1 FROM carillon_suppressions AS s WHERE s.organization = given.organization)
  FROM (SELECT ? AS organization, ?, ?, ?, ?, ?) AS given
  WHERE EXISTS (SELECT 1 FROM carillon_organizations WHERE id = given.organization)
  ON CONFLICT DO NOTHING`

const SELECT = 'SELECT * FROM carillon_suppressions WHERE organization = ? AND channel = ? AND address = ?'

const DELETE = 'DELETE FROM carillon_suppressions WHERE organization = ? AND channel = ? AND address = ?'

/** An opt-in reverses an opt-out only, not a bounce or complaint. */
export const DELETE_OPT_OUT: string = `${DELETE} AND reason = 'unsubscribe'`

const LIST = `
  SELECT * FROM carillon_suppressions WHERE organization = ? AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?`

const LIST_CHANNEL = `
  SELECT * FROM carillon_suppressions
  WHERE organization = ? AND channel = ? AND seq < ? ORDER BY seq DESC LIMIT ? OFFSET ?`

const ANY = 'SELECT 1 AS found FROM carillon_suppressions LIMIT 1'

/** Lookups per turn of the event loop, a few milliseconds. Larger sets continue in the next turn. */
const MATCHED_IN_A_TURN = 1_000

const MATCH = `
  SELECT reason FROM carillon_suppressions WHERE organization = ? AND channel = ? AND address = ?`

export function createSuppressions(connection: Connection): SuppressionRepository {
  const requireOrganization = createRequireOrganization(connection)
  const insert = connection.statement(INSERT_SUPPRESSION)
  const select = connection.statement<SuppressionRow>(SELECT)
  const remove = connection.statement(DELETE)
  const list = connection.statement<SuppressionRow>(LIST)
  const listChannel = connection.statement<SuppressionRow>(LIST_CHANNEL)
  const any = connection.statement<{ found: 1 }>(ANY)
  const match = connection.statement<Pick<SuppressionRow, 'reason'>>(MATCH)

  function add(entry: Omit<Suppression, 'createdAt'>): Suppression {
    const { organizationId, channel, address, reason, source } = entry
    requireOrganization(organizationId)
    const createdAt = connection.now()
    insert().run(organizationId, channel, address, reason, source, createdAt)
    const row = select().get(organizationId, channel, address)
    return row === undefined ? { ...entry, createdAt } : toSuppression(row)
  }

  function listPage(organizationId: string, channel: string | undefined, page: PageRequest) {
    return pageBySeq(
      page,
      (before, limit, offset) =>
        channel === undefined
          ? list().all(organizationId, before, limit, offset)
          : listChannel().all(organizationId, channel, before, limit, offset),
      toSuppression,
    )
  }

  function matchSome(keys: readonly SuppressionKey[]): (SuppressionReason | null)[] {
    return connection.read(() => {
      // Most lists are empty and every send asks, so one look at the table answers the whole set.
      if (any().get() === undefined) return keys.map(() => null)
      return keys.map(
        ({ organizationId, channel, address }) =>
          match().get(organizationId, channel, address)?.reason ?? null,
      )
    })
  }

  return {
    async add(entry) {
      try {
        return await connection.durably(() => add(entry))
      } catch (error) {
        throw isDataError(error) ? dataError(error) : error
      }
    },
    async remove(organizationId, channel, address) {
      return connection.durably(() => remove().changes(organizationId, channel, address) === 1)
    },
    async list(organizationId, { channel }, page) {
      return connection.read(() => listPage(organizationId, channel, page))
    },
    async match(keys) {
      const reasons = matchSome(keys.slice(0, MATCHED_IN_A_TURN))
      while (reasons.length < keys.length) {
        await nextTurn()
        reasons.push(...matchSome(keys.slice(reasons.length, reasons.length + MATCHED_IN_A_TURN)))
      }
      return reasons
    },
  }
}
