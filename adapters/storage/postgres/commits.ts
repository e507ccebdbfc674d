import type { Connection } from './connection.ts'
import { isDataError } from './errors.ts'

/** Reports the outcome of transactions that callers commit. */
export interface Commits {
  /**
   * @param entry of a timeline, which the transaction stores; a rollback to a savepoint also removes it
   * @returns whether the entry is stored once the transaction has ended; false if {@link stop} came first
   */
  watch(xid: string, entry: StoredEntry): Promise<boolean>
  stop(): void
}

/** An entry of a notification's timeline. */
export interface StoredEntry {
  readonly id: string
  /** Null: its accept. The number of an entry does not tell: after a rollback to a savepoint another one may have it. */
  readonly change: { readonly status: string; readonly at: number } | null
}

const FIRST_MS = 10
/** Longest interval between looks at a transaction that stays open. */
const LONGEST_MS = 250

/** Whether the entry `g` is stored. */
const isStored = (g: string): string => `
  CASE WHEN ${g}.at IS NULL THEN EXISTS (SELECT 1 FROM carillon.notifications AS n WHERE n.id = ${g}.id)
    ELSE EXISTS (SELECT 1 FROM carillon.events AS e
      WHERE e.notification = ${g}.id AND e.status = ${g}.status AND e.at = ${g}.at) END`

/** The status is read a moment after the snapshot of the lookup: see {@link createCommits}. */
const SELECT_ENDED = `
  SELECT g.xid, pg_xact_status(g.xid::xid8) AS status, ${isStored('g')} AS stored
  FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) AS g (id, status, at, xid)`

const SELECT_STORED = `
  SELECT ${isStored('g')} AS stored
  FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS g (id, status, at, number) ORDER BY g.number`

function columnsOf(entries: readonly Pick<Watched, 'entry'>[]) {
  return [
    entries.map(({ entry }) => entry.id),
    entries.map(({ entry }) => entry.change?.status ?? null),
    entries.map(({ entry }) => entry.change?.at ?? null),
  ] as const
}

interface Watched {
  readonly xid: string
  readonly entry: StoredEntry
  readonly ended: (stored: boolean) => void
  /** True: an earlier look found the transaction ended. */
  over: boolean
}

/**
 * Polls the database for many transactions at once, because only the caller sees its COMMIT. A `NOTIFY` inside the
 * caller's transaction would report it, but takes a lock on the whole database at every commit.
 */
export function createCommits(connection: Connection): Commits {
  let open: Watched[] = []
  let delayMs = FIRST_MS
  let timer: NodeJS.Timeout | undefined
  let looking = false

  function arm(): void {
    clearTimeout(timer)
    timer = undefined
    if (open.length === 0 || looking) return
    timer = setTimeout(() => void look(), delayMs)
    timer.unref()
  }

  async function look(): Promise<void> {
    const asked = [...open]
    looking = true
    delayMs = Math.min(2 * delayMs, LONGEST_MS)
    try {
      const rows = await connection.rows<{ status: string | null; stored: boolean }>(SELECT_ENDED, [
        ...columnsOf(asked),
        asked.map(({ xid }) => xid),
      ])
      const ended = new Set(asked.filter((one, index) => isEnded(one, rows[index])))
      open = open.filter((one) => !ended.has(one))
    } catch (error) {
      // Retried if the database was down. Polling delivers committed jobs anyway.
      if (isDataError(error)) await settle(asked).catch(() => {})
    }
    looking = false
    arm()
  }

  /**
   * The server has not issued this transaction number yet, so it replaced the server that did, whose transactions are
   * over.
   */
  async function settle(asked: readonly Watched[]): Promise<void> {
    const rows = await connection.rows<{ stored: boolean }>(SELECT_STORED, columnsOf(asked))
    for (const [index, { ended }] of asked.entries()) ended(rows[index]?.stored === true)
    const over = new Set(asked)
    open = open.filter((one) => !over.has(one))
  }

  return {
    watch(xid, entry) {
      return new Promise((ended) => {
        open.push({ xid, entry, ended, over: false })
        delayMs = FIRST_MS
        arm()
      })
    },
    stop() {
      clearTimeout(timer)
      for (const { ended } of open) ended(false)
      open = []
    },
  }
}

/** An ended transaction needs a second look if its row is missing: it may have committed after the snapshot. */
function isEnded(
  one: Watched,
  row: { readonly status: string | null; readonly stored: boolean } | undefined,
): boolean {
  if (row === undefined || row.status === 'in progress') return false
  const known = row.stored || row.status === 'aborted' || one.over
  if (known) one.ended(row.stored)
  one.over = true
  return known
}
