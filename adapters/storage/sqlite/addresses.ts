import { setImmediate as nextTurn } from 'node:timers/promises'
import { lowerAddress } from '../../../src/core/notification/lower-address.ts'
import type { NotificationFilter } from '../../../src/core/ports/storage/notifications.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { prefixRange } from '../rows/address.ts'
import { type KeyRow, MAX_SCANNED } from '../scan.ts'
import type { Connection } from './connection.ts'
import type { SqliteValue } from './driver.ts'
import { addressConditions, whereOf } from './walk.ts'

/** Notifications of a run, by their `seq`. */
const RUN = 8_192
/** Runs that one search writes at most. Each takes some 7 ms. */
const MOST_WRITTEN = 4
/** With more matches, a list walks the notifications instead: then a match is never far away. */
const MOST_FOUND = 5 * MAX_SCANNED

const SELECT_ENDS = `
  SELECT (SELECT min(run) FROM carillon_addresses) AS oldest, (SELECT max(run) FROM carillon_addresses) AS newest,
    (SELECT max(seq) FROM carillon_notifications) AS last`

const SELECT_FIRST = 'SELECT min(seq) AS seq FROM carillon_notifications WHERE seq >= ?'

const INSERT = `
  INSERT INTO carillon_addresses (run, address, organization, created_at, notification)
  SELECT seq / ${RUN}, lower(recipient), organization, created_at, seq FROM carillon_notifications`

const INSERT_RUN = `${INSERT} WHERE seq >= ? AND seq < ? ORDER BY 2, 3, 4, 5`
const INSERT_ONE = `${INSERT} WHERE seq = ?`

const SET_RECIPIENT = 'UPDATE carillon_notifications SET recipient = ? WHERE seq = ?'

/** One look-up for each run. The planner keeps the order of a cross join. */
const selectFrom = (condition: string): string => `
  WITH RECURSIVE runs (run) AS (SELECT ? UNION ALL SELECT run + 1 FROM runs WHERE run < ?)
  SELECT a.organization, a.created_at, a.notification AS seq
  FROM runs CROSS JOIN carillon_addresses AS a ON a.run = runs.run AND ${condition} LIMIT ?`

const SELECT_IDS = `
  SELECT id, created_at, seq FROM carillon_notifications WHERE seq IN (SELECT value FROM json_each(?))`

/** Their entries in runs. */
export const DELETE_ADDRESSES: string = `
  DELETE FROM carillon_addresses WHERE (run, address, organization, created_at, notification) IN
    (SELECT seq / ${RUN}, lower(recipient), organization, created_at, seq FROM carillon_notifications
     WHERE seq IN (SELECT value FROM json_each(?)))`

/** A run that new notifications may enter, because SQLite gives the numbers of removed ones again. */
export const DELETE_OPEN_RUN: string = `
  DELETE FROM carillon_addresses
  WHERE run >= (SELECT (coalesce(max(seq), -1) + 1) / ${RUN} FROM carillon_notifications)`

interface Ends {
  readonly oldest: number | null
  readonly newest: number | null
  /** `seq` of the last notification. */
  readonly last: number | null
}

interface FoundRow {
  readonly organization: string
  readonly created_at: number
  readonly seq: number
}

/**
 * The index of notifications by address. Addresses come in no order, so an index that each accept wrote would cost it
 * half as much again: every row changes another page. Instead the addresses of 8,192 notifications at a time are sorted and
 * written behind each other, when someone looks for one or expired data is removed. A search looks once into every run,
 * and at all notifications behind the last one.
 */
export interface Addresses {
  /** True: {@link write} has something to write. */
  lacksRuns(): boolean
  /**
   * Writes runs that are missing, each in its own commit. Does not wait for another program's lock, and ignores failures: a
   * list then walks the notifications.
   */
  write(): Promise<void>
  /** Inside a transaction: writes the next run. False: none is missing. */
  writeOne(): boolean
  /** Inside a transaction: gives a notification another address. */
  change(seq: number, to: string): void
  /** The notifications with an address, in any order. Null: too many, or too many are in no run. */
  find(filter: NotificationFilter): readonly KeyRow[] | null
}

export function createAddresses(connection: Connection): Addresses {
  let writing: Promise<void> | undefined
  const selectEnds = connection.statement<Ends>(SELECT_ENDS)
  const selectFirst = connection.statement<{ seq: number | null }>(SELECT_FIRST)
  const insertRun = connection.statement(INSERT_RUN)
  const insertOne = connection.statement(INSERT_ONE)
  const remove = connection.statement(DELETE_ADDRESSES)
  const setRecipient = connection.statement(SET_RECIPIENT)
  const selectIds = connection.statement<KeyRow>(SELECT_IDS)

  /** The first notification behind the runs, and the number of the run to write next. */
  function gap(): Ends & { readonly first: number | null; readonly missing: number | null } {
    const ends = selectEnds().get() ?? { oldest: null, newest: null, last: null }
    const first = selectFirst().get(ends.newest === null ? 0 : (ends.newest + 1) * RUN)?.seq ?? null
    const next = Math.floor((first ?? 0) / RUN)
    const isWhole = first !== null && next < Math.floor((ends.last ?? 0) / RUN)
    return { ...ends, first, missing: isWhole ? next : null }
  }

  const lacksRuns = (): boolean => gap().missing !== null

  function writeOne(): boolean {
    const { missing } = gap()
    if (missing === null) return false
    insertRun().run(missing * RUN, (missing + 1) * RUN)
    return true
  }

  async function writeMissing(): Promise<void> {
    for (let written = 0; written < MOST_WRITTEN && lacksRuns(); written += 1)
      await connection.write(writeOne)
  }

  function inRuns({ oldest, newest }: Ends, filter: NotificationFilter): FoundRow[] {
    if (oldest === null) return []
    const [condition, ...values] = runCondition(filter)
    return connection
      .statement<FoundRow>(selectFrom(condition))()
      .all(oldest, newest, ...values, MOST_FOUND + 1)
  }

  function behindRuns(first: number | null, filter: NotificationFilter): FoundRow[] {
    if (first === null) return []
    const { where, values } = whereOf([['n.seq >= ?', first], ...addressConditions(filter)])
    const sql = `
      SELECT n.organization, n.created_at, n.seq FROM carillon_notifications AS n ${where} LIMIT ?`
    return connection
      .statement<FoundRow>(sql)()
      .all(...values, MOST_FOUND + 1)
  }

  return {
    lacksRuns,
    write() {
      writing ??= writeMissing()
        .catch(() => {})
        .finally(() => {
          writing = undefined
        })
      return Promise.race([writing, nextTurn()])
    },
    writeOne,
    change(seq, to) {
      const isInRun = remove().changes(JSON.stringify([seq])) > 0
      setRecipient().run(to, seq)
      if (isInRun) insertOne().run(seq)
    },
    find(filter) {
      const { first, missing, ...ends } = gap()
      if (missing !== null) return null
      // The bound applies before the organization does, so that those of others cost it little.
      const found = [...inRuns(ends, filter), ...behindRuns(first, filter)]
      if (found.length > MOST_FOUND) return null
      const { organizationId } = filter
      if (organizationId !== ALL_ORGANIZATIONS)
        return found.flatMap(({ organization, ...row }) =>
          organization === organizationId ? { ...row, id: '' } : [],
        )
      return found.length > MAX_SCANNED ? null : selectIds().all(JSON.stringify(found.map(({ seq }) => seq)))
    },
  }
}

/** The condition on a run that its key covers. */
function runCondition({
  organizationId,
  to,
  toPrefix,
}: NotificationFilter): readonly [sql: string, ...values: SqliteValue[]] {
  if (to === undefined) return ['a.address >= ? AND a.address < ?', ...prefixRange(toPrefix ?? '')]
  const address = lowerAddress(to)
  return organizationId === ALL_ORGANIZATIONS
    ? ['a.address = ?', address]
    : ['a.address = ? AND a.organization = ?', address, organizationId]
}
