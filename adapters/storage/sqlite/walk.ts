import type { LabelFilter } from '../../../src/core/notification/labels.ts'
import { lowerAddress } from '../../../src/core/notification/lower-address.ts'
import type { NotificationFilter } from '../../../src/core/ports/storage/notifications.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { prefixRange } from '../rows/address.ts'
import { type LabelWalk, type Pair, pairsOf, type Walk, walkFor } from '../scan.ts'
import type { SqliteValue } from './driver.ts'

/** SQL with its values. One whose value is undefined does not apply. */
export type Condition = readonly [sql: string, ...values: (SqliteValue | undefined)[]]

/** An index of notifications in the order of time. All SQL is fixed; all values are parameters. */
export interface WalkedIndex {
  /** The table alone, for reading keys. */
  readonly table: string
  /** The same with the notification `n`. */
  readonly from: string
  /** Sort key: time and `seq`, or the id. */
  readonly key: readonly string[]
  /** What it covers. */
  readonly conditions: readonly Condition[]
}

const INDEX_OF: Readonly<Record<Exclude<LabelWalk, 'metadata' | 'copies'>, string>> = {
  recipient: 'person',
  category: 'category',
  groupId: 'group',
}

const COLUMN_OF = { recipient: 'person', category: 'category', groupId: 'group_id' } as const

const OWN_KEY = ['n.created_at', 'n.seq'] as const

/** The index that a list with this filter walks. */
export function walkedIndex(filter: NotificationFilter): WalkedIndex {
  return indexOf(filter, walkFor(filter))
}

/** The index of a label, or of all notifications. */
export function indexOf(filter: NotificationFilter, walk: Walk): WalkedIndex {
  const { organizationId } = filter
  if (organizationId === ALL_ORGANIZATIONS) {
    const table = 'carillon_notifications AS n'
    return { table, from: table, key: ['n.id'], conditions: walk === 'failed' ? [['n.failed = 1']] : [] }
  }
  if (walk === 'metadata') {
    const [name, value] = pairsOf(filter)[0] ?? ['', '']
    const table = 'carillon_metadata AS m'
    return {
      table,
      // The planner keeps the order of a cross join.
      from: `${table} CROSS JOIN carillon_notifications AS n ON n.seq = m.notification`,
      key: ['m.created_at', 'm.notification'],
      conditions: [['m.organization = ? AND m.name = ? AND m.value = ?', organizationId, name, value]],
    }
  }
  if (walk === 'copies') {
    const table = 'carillon_copies AS c'
    return {
      table,
      from: `${table} CROSS JOIN carillon_notifications AS n ON n.seq = c.notification`,
      key: ['c.created_at', 'c.notification'],
      conditions: [
        ['c.organization = ? AND c.address = ?', organizationId, lowerAddress(filter.copyTo ?? '')],
      ],
    }
  }
  if (walk === 'ids' || walk === 'failed' || walk === 'time') {
    const table = 'carillon_notifications AS n'
    // The plus sign makes the planner use the index on ids.
    const own: Condition = [`${walk === 'ids' ? '+' : ''}n.organization = ?`, organizationId]
    // The condition of the index of failed notifications.
    const conditions: readonly Condition[] = walk === 'failed' ? [own, ['n.failed = 1']] : [own]
    return { table, from: table, key: OWN_KEY, conditions }
  }
  const table = `carillon_notifications AS n INDEXED BY carillon_notifications_of_${INDEX_OF[walk]}`
  const label: Condition = [`n.organization = ? AND n.${COLUMN_OF[walk]} = ?`, organizationId, filter[walk]]
  return { table, from: table, key: OWN_KEY, conditions: [label] }
}

/** The conditions on labels of the notification `n`, without the one that a walk covers. */
export function labelConditions(
  filter: LabelFilter & { readonly organizationId: string },
  walk: Walk | null = null,
): Condition[] {
  const pairs = pairsOf(filter).slice(walk === 'metadata' ? 1 : 0)
  return [
    ...(['recipient', 'category', 'groupId'] as const).map<Condition>((label) => [
      `n.${COLUMN_OF[label]} = ?`,
      label === walk ? undefined : filter[label],
    ]),
    ...pairs.map((pair) => hasPair(filter.organizationId, pair)),
  ]
}

function hasPair(organizationId: string, [name, value]: Pair): Condition {
  const all = organizationId === ALL_ORGANIZATIONS
  const sql = `EXISTS (SELECT 1 FROM carillon_metadata AS p WHERE p.organization = ${all ? 'n.organization' : '?'}
      AND p.name = ? AND p.value = ? AND p.created_at = n.created_at AND p.notification = n.seq)`
  return all ? [sql, name, value] : [sql, organizationId, name, value]
}

/** The conditions on the addresses of the notification `n`. */
export function addressConditions({ to, toPrefix, copyTo }: NotificationFilter): Condition[] {
  return [
    [
      `EXISTS (SELECT 1 FROM carillon_copies AS o WHERE o.notification = n.seq AND o.address = ?)`,
      copyTo && lowerAddress(copyTo),
    ],
    ['lower(n.recipient) = ?', to && lowerAddress(to)],
    [
      'lower(n.recipient) >= ? AND lower(n.recipient) < ?',
      ...(toPrefix === undefined ? [undefined] : prefixRange(toPrefix)),
    ],
  ]
}

/** The conditions that apply, with their values. */
export function whereOf(conditions: readonly Condition[]): {
  readonly where: string
  readonly values: SqliteValue[]
} {
  const used = conditions.filter(([, ...values]) => !values.includes(undefined))
  return {
    where: used.length === 0 ? '' : `WHERE ${used.map(([condition]) => condition).join(' AND ')}`,
    values: used.flatMap(([, ...values]) => values.map((value) => value ?? null)),
  }
}
