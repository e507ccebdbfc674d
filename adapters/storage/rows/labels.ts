import { hasLabels, type Labels, type PartialLabels } from '../../../src/core/notification/labels.ts'

/** The columns of a notification's labels. Null: none. */
export interface LabelColumns {
  /** JSON. */
  readonly metadata: string | null
  readonly person: string | null
  readonly category: string | null
  readonly group_id: string | null
}

/**
 * Reads the labels.
 *
 * @example
 * const [row] = await query<LabelColumns>('SELECT * FROM notifications WHERE id = $1', ['notif_1234'])
 * const labels = row && toLabels(row)
 */
export function toLabels({ metadata, person, category, group_id: groupId }: LabelColumns): Labels {
  return { metadata: metadata === null ? null : JSON.parse(metadata), recipient: person, category, groupId }
}

const NONE: LabelColumns = { metadata: null, person: null, category: null, group_id: null }

/**
 * The columns to store.
 *
 * @example
 * const { metadata, person } = labelColumns({ recipient: 'user_42', metadata: { order: 'ord_123' } })
 */
export function labelColumns(labels: PartialLabels): LabelColumns {
  if (!hasLabels(labels)) return NONE
  const { metadata = null, recipient = null, category = null, groupId = null } = labels
  return {
    metadata: metadata === null ? null : JSON.stringify(metadata),
    person: recipient,
    category,
    group_id: groupId,
  }
}
