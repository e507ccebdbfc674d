import { standardMessage } from '../errors/catalogue.ts'
import type { NewNotification, NotificationStatus } from '../notification/notification.ts'
import type { IdempotencyRecord } from '../ports/storage/accept.ts'
import type { RecordedError } from './item-errors.ts'
import type { Lookups } from './lookups.ts'
import type { BatchItem, BatchResult, ItemError } from './model.ts'

/**
 * The record of a batch: items with their own errors, the ids and states of stored items, and the errors of items over
 * a limit. In order: first the admitted, then those over the monthly quota, then those over the hourly limit.
 */
export interface BatchRecord {
  readonly size: number
  readonly errors: readonly RecordedError[]
  readonly items: readonly RecordedItem[]
  readonly overHour?: ItemError
  readonly overMonth: ItemError
}

/** A notification; those of a group follow each other. */
export type RecordedItem = readonly [id: string, status: NotificationStatus, groupId?: string]

export function itemOf({ id, groupId }: NewNotification, status: 'queued' | 'scheduled'): RecordedItem {
  return groupId == null ? [id, status] : [id, status, groupId]
}

/** The stored form: of errors the codes alone, because messages and details may name a person. */
export function recordedBatch(record: BatchRecord): BatchRecord {
  const errors = record.errors.map(
    ([index, error]): RecordedError => [index, typeof error === 'string' ? error : error.code],
  )
  return { ...record, errors }
}

/** The notifications of the message that begins at a position. */
function groupAt(items: readonly RecordedItem[], at: number): readonly RecordedItem[] {
  const groupId = items[at]?.[2]
  let end = at + 1
  while (groupId !== undefined && items[end]?.[2] === groupId) end += 1
  return items.slice(at, end)
}

/** The answer to a repeated batch, with the present states of its notifications. */
export async function replayedBatch(
  { result, admitted, createdAt }: IdempotencyRecord,
  state: Lookups['state'],
): Promise<BatchResult> {
  const record = JSON.parse(result) as BatchRecord
  const items = record.items.map(async (item, at): Promise<RecordedItem> => {
    const [id, status, ...group] = item
    return at < admitted ? [id, (await state(id))?.status ?? status, ...group] : item
  })
  return toBatchResult({ ...record, items: await Promise.all(items) }, admitted, createdAt, true)
}

/** The answer to a batch whose first `admitted` notifications were stored. */
export function toBatchResult(
  record: BatchRecord,
  admitted: number,
  createdAt: number,
  replayed: boolean,
): BatchResult {
  const { size, overMonth, overHour = overMonth } = record
  const errors = errorsOf(record)
  const items: BatchItem[] = []
  let next = 0
  let accepted = 0
  for (let index = 0; index < size; index += 1) {
    const error = errors.get(index)
    if (error !== undefined) {
      items.push({ index, error })
      continue
    }
    const group = groupAt(record.items, next)
    const [first] = group
    if (next < admitted && first !== undefined) {
      accepted += 1
      const [id, status, groupId] = first
      const ids = group.map(([each]) => each)
      items.push({ index, id, status, ...(groupId === undefined ? {} : { groupId, ids }) })
    } else items.push({ index, error: next < record.items.length ? overMonth : overHour })
    next += Math.max(1, group.length)
  }
  return {
    accepted,
    rejected: size - accepted,
    items,
    createdAt: new Date(createdAt).toISOString(),
    replayed,
  }
}

/** Whole errors, by index. */
function errorsOf({ errors }: BatchRecord): ReadonlyMap<number, ItemError> {
  return new Map(
    errors.map(([index, error]) => [
      index,
      typeof error === 'string' ? { code: error, message: standardMessage(error) } : error,
    ]),
  )
}
