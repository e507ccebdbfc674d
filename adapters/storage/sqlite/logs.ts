import type { SQLInputValue } from 'node:sqlite'
import { decodeCursor } from '../../../src/domain/cursor.ts'
import type { LogFilter, LogRepository } from '../../../src/ports/storage/logs.ts'
import type { PageRequest } from '../../../src/ports/storage/page.ts'
import { type LogRow, toLogEntry } from '../rows/log-entry.ts'
import { toPage } from '../to-page.ts'
import type { Connection } from './connection.ts'

const TEMPLATE = `json_extract(n.content, '$.template.name') AS template`

/** Everything but the accepts. */
const EVENTS = `
  SELECT e.notification AS seq, e.sequence, e.at, e.status, e.fact, n.id, n.channel, n.recipient, ${TEMPLATE}
  FROM carillon_events AS e JOIN carillon_notifications AS n ON n.seq = e.notification
  WHERE e.organization = ?`

const EVENTS_ORDER = 'ORDER BY e.at DESC, e.notification DESC, e.sequence DESC'

const ACCEPTED = `CASE WHEN n.send_at > n.created_at THEN 'scheduled' ELSE 'queued' END`

/** The accepts, derived from the notifications. */
const ACCEPTS = `
  SELECT n.seq, 1 AS sequence, n.created_at AS at, ${ACCEPTED} AS status, NULL AS fact,
    n.id, n.channel, n.recipient, ${TEMPLATE}
  FROM carillon_notifications AS n
  WHERE n.organization = ?`

const ACCEPTS_ORDER = 'ORDER BY n.created_at DESC, n.seq DESC'

type Condition = readonly [sql: string, value: SQLInputValue | undefined]

/**
 * The delivery log is two lists, each of which has an index by time: events and accepts. A page reads as much of
 * both as it may need and merges them by (time, seq, sequence).
 */
export function createLogs(connection: Connection): LogRepository {
  function select(
    [head, order]: readonly [string, string],
    filter: LogFilter,
    conditions: readonly Condition[],
    after: readonly [string, ...number[]] | undefined,
    limit: number,
  ): LogRow[] {
    const used = conditions.filter(([, value]) => value !== undefined)
    const sql = [head, ...used.map(([condition]) => condition), ...(after === undefined ? [] : [after[0]])]
    const values = used.map(([, value]) => value ?? null)
    return connection
      .statement<LogRow>(`${sql.join(' AND ')} ${order} LIMIT ?`)()
      .all(filter.organizationId, ...values, ...((after?.slice(1) as number[] | undefined) ?? []), limit)
  }

  function list(filter: LogFilter, page: PageRequest): LogRow[] {
    const { channel, status, notificationId } = filter
    const shared: Condition[] = [
      ['n.channel = ?', channel],
      ['n.id = ?', notificationId],
    ]
    const [at, seq, sequence] = page.cursor === undefined ? [] : decodeCursor(page.cursor, 3)
    const after = at !== undefined && seq !== undefined && sequence !== undefined
    const most = page.offset + page.limit + 1
    const events = select(
      [EVENTS, EVENTS_ORDER],
      filter,
      [...shared, ['e.status = ?', status]],
      after ? ['(e.at, e.notification, e.sequence) < (?, ?, ?)', at, seq, sequence] : undefined,
      most,
    )
    const accepts = select(
      [ACCEPTS, ACCEPTS_ORDER],
      filter,
      [...shared, [`${ACCEPTED} = ?`, status]],
      after ? ['(n.created_at, n.seq, 1) < (?, ?, ?)', at, seq, sequence] : undefined,
      most,
    )
    return [...events, ...accepts]
      .sort((a, b) => b.at - a.at || b.seq - a.seq || b.sequence - a.sequence)
      .slice(page.offset)
  }

  return {
    async list(filter, page) {
      const rows = connection.read(() => list(filter, page))
      return toPage(rows, page.limit, ({ at, seq, sequence }) => [at, seq, sequence], toLogEntry)
    },
  }
}
