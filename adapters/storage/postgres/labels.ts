import type { LabelFilter } from '../../../src/core/notification/labels.ts'
import { lowerAddress } from '../../../src/core/notification/lower-address.ts'
import type { NotificationFilter } from '../../../src/core/ports/storage/notifications.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import type { LabelColumns } from '../rows/labels.ts'
import { type LabelWalk, type Pair, pairsOf } from '../scan.ts'
import { fromStored } from './text.ts'
import type { Value } from './values.ts'

/** Columns of the notification `n`. */
export const LABEL_COLUMNS = 'n.person, n.category, n.group_id, n.metadata'

/** Columns of the notification `n` that an entry of the log shows. */
export const SHOWN: string = `n.id, n.organization, n.channel, n.recipient, n.template_name AS template, ${LABEL_COLUMNS}`

const COLUMN_OF = { recipient: 'person', category: 'category', groupId: 'group_id' } as const

const NONE: LabelColumns = { metadata: null, person: null, category: null, group_id: null }

/** Reads labels that a function returns as one JSON array, so that those without any cost one column. Null: none. */
export function unpacked(labels: string | null): LabelColumns {
  if (labels === null) return NONE
  const texts: readonly (string | null)[] = JSON.parse(labels)
  const [metadata = null, person = null, category = null, group_id = null] = texts.map(
    (text) => text && fromStored(text),
  )
  return { metadata, person, category, group_id }
}

/** An index of labelled notifications in the order of time: `created_at`, `seq`. */
export interface LabelIndex {
  readonly table: 'metadata' | 'copies' | 'notifications'
  readonly t: 'm' | 'o' | 'n'
  /** The column with the notification's id. */
  readonly id: string
  /** What it covers. */
  readonly conditions: readonly string[]
}

/** The index of a label. */
export function labelIndex(
  filter: LabelFilter & Pick<NotificationFilter, 'organizationId' | 'copyTo'>,
  walk: LabelWalk,
  parameter: (value: Value) => string,
): LabelIndex {
  const organization = parameter(filter.organizationId)
  if (walk === 'metadata') {
    const [name, value] = pairsOf(filter)[0] ?? ['', '']
    const conditions = [
      `m.organization = ${organization}`,
      `m.name = ${parameter(name)}`,
      `m.value = ${parameter(value)}`,
    ]
    return { table: 'metadata', t: 'm', id: 'm.notification', conditions }
  }
  if (walk === 'copies') {
    const address = parameter(lowerAddress(filter.copyTo ?? ''))
    const conditions = [`o.organization = ${organization}`, `o.address = ${address}`]
    return { table: 'copies', t: 'o', id: 'o.notification', conditions }
  }
  const label = `n.${COLUMN_OF[walk]} = ${parameter(filter[walk] ?? null)}`
  return {
    table: 'notifications',
    t: 'n',
    id: 'n.id',
    conditions: [`n.organization = ${organization}`, label],
  }
}

/** The conditions on labels of the notification `n`, without the one that a walk covers. */
export function labelConditions(
  filter: LabelFilter & { readonly organizationId: string },
  walk: LabelWalk | null,
  parameter: (value: Value) => string,
): string[] {
  const pairs = pairsOf(filter).slice(walk === 'metadata' ? 1 : 0)
  const labels = (['recipient', 'category', 'groupId'] as const).flatMap((label) => {
    const wanted = label === walk ? undefined : filter[label]
    return wanted === undefined ? [] : [`n.${COLUMN_OF[label]} = ${parameter(wanted)}`]
  })
  return [...labels, ...pairs.map((pair) => hasPair(filter.organizationId, pair, parameter))]
}

/** OFFSET 0 keeps the planner from reading all notifications with the pair. */
function hasPair(organizationId: string, [name, value]: Pair, parameter: (value: Value) => string): string {
  const owner = organizationId === ALL_ORGANIZATIONS ? 'n.organization' : parameter(organizationId)
  return `EXISTS (SELECT 1 FROM carillon.metadata AS p WHERE p.organization = ${owner}
    AND p.name = ${parameter(name)} AND p.value = ${parameter(value)}
    AND p.created_at = n.created_at AND p.seq = n.seq AND p.notification = n.id OFFSET 0)`
}
