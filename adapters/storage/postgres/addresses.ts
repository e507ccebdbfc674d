import { lowerAddress } from '../../../src/core/notification/lower-address.ts'
import type { NotificationFilter } from '../../../src/core/ports/storage/notifications.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import type { PendingCalls } from '../pending-calls.ts'
import { prefixRange } from '../rows/address.ts'
import { type KeyRow, MAX_SCANNED } from '../scan.ts'
import type { Connection, Runner } from './connection.ts'

/** Addresses written at once, which takes the server some 0.2 s. */
const STEP = 65_536
/** Addresses after which a run gets no more. A larger one would be written all over, a smaller one is looked into more. */
const ROOM = 4 * STEP
/** If as many wait, a search has them written. It does not wait for that: it looks at all of them. */
const MANY = 4_096
/** If as many wait, it walks the notifications instead. */
const TOO_MANY = 2 * STEP
/** With more matches, a list walks the notifications instead: then a match is never far away. */
const MOST_FOUND = 2 * MAX_SCANNED

const COUNT_WAITING = `
  SELECT coalesce(sum(entries), 0)::integer AS waiting
  FROM (SELECT entries FROM carillon.new_addresses ORDER BY last_id LIMIT $1::bigint) AS w`

const FILE = 'SELECT o AS written FROM carillon.file_addresses_1($1::integer, $2::integer) AS o'

const FORGET = 'SELECT 1 FROM carillon.forget_addresses_1($1::text[])'

const FIND = `
  SELECT o_id AS id, o_created_at AS created_at, o_seq AS seq
  FROM carillon.find_addresses_1($1::text, $2::text, $3::text, $4::integer)`

const SET_RECIPIENTS = `
  WITH changed AS (
    UPDATE carillon.notifications AS n SET recipient = given.recipient
    FROM unnest($1::text[], $2::text[]) AS given (id, recipient) WHERE n.id = given.id
    RETURNING n.id, n.recipient)
  INSERT INTO carillon.new_addresses (entries, first_id, last_id, ids, addresses)
  SELECT count(*), min(id), max(id), array_agg(id), array_agg(recipient) FROM changed HAVING count(*) > 0`

/**
 * The index of notifications by address. Addresses come in no order, so an index that each accept wrote would cost it
 * half as much again: every row changes another page. Instead an accept adds one row with its addresses. When someone
 * looks for one or expired data is removed, those rows are moved into runs, sorted: then many rows change the same page. A
 * search looks once into every run, and at all addresses that wait. Each row is in one of both for every snapshot,
 * so transactions that commit late need no care.
 */
export interface Addresses {
  /** Writes the next step. True: more may wait. */
  write(): Promise<boolean>
  /** Has addresses written if many wait. False: too many do, so that a list walks the notifications. */
  catchUp(): Promise<boolean>
  /** The notifications with an address, or with one that begins as a long one does, in any order. Null: too many. */
  find(runner: Runner, filter: NotificationFilter): Promise<readonly KeyRow[] | null>
}

/** Before notifications are removed or erased, or get another address. The transaction has locked them. */
export async function forgetAddresses(tx: Runner, ids: readonly string[]): Promise<void> {
  await tx.rows(FORGET, [ids])
}

/** Gives notifications, which the transaction has locked, other addresses. */
export async function changeAddresses(
  tx: Runner,
  changed: readonly { readonly id: string; readonly to: string }[],
): Promise<void> {
  if (changed.length === 0) return
  const ids = changed.map(({ id }) => id)
  await forgetAddresses(tx, ids)
  await tx.rows(SET_RECIPIENTS, [ids, changed.map(({ to }) => to)])
}

/** @param counted a stop waits for its calls */
export function createAddresses(connection: Connection, counted: PendingCalls['counted']): Addresses {
  let isWriting = false

  async function write(): Promise<boolean> {
    const [row] = await connection.rows<{ written: number }>(FILE, [STEP, ROOM])
    return (row?.written ?? 0) >= STEP
  }

  const writeAll = counted(async () => {
    if (isWriting) return
    isWriting = true
    try {
      while (await write());
    } catch {
      // The next search or removal of expired data tries again.
    } finally {
      isWriting = false
    }
  })

  return {
    write,
    async catchUp() {
      const [row] = await connection.rows<{ waiting: number }>(COUNT_WAITING, [TOO_MANY])
      const waiting = row?.waiting ?? 0
      if (waiting >= MANY) void writeAll()
      return waiting < TOO_MANY
    },
    async find(runner, filter) {
      const { organizationId, to, toPrefix = '' } = filter
      const [from, until] = to === undefined ? prefixRange(toPrefix) : [lowerAddress(to), lowerAddress(to)]
      const of = organizationId === ALL_ORGANIZATIONS ? null : organizationId
      // The bound applies before the organization does, so that those of others cost it little.
      const looks = await runner.rows<KeyRow | { readonly id: null }>(FIND, [from, until, of, MOST_FOUND + 1])
      return looks.length > MOST_FOUND ? null : looks.filter((row) => row.id !== null)
    },
  }
}
