import { isNotifierError } from '../errors/notifier-error.ts'
import type { NewNotification } from '../notification/notification.ts'
import type { Prepared } from './batch.ts'
import { itemError } from './item-errors.ts'
import type { BatchResult, ItemError } from './model.ts'
import type { Group } from './prepare.ts'

/** Who sends over HTTP. */
export interface SentBy {
  /** Id of the key, or of a person on the dashboard. */
  readonly id: string
  /** Name of the key. Null: it has none. */
  readonly name: string | null
}

/** The name of an option of sends that only the REST API gives. A symbol: no schema of options names it. */
export const SENT_BY: unique symbol = Symbol('sentBy')

/** Read only of refused messages. Undefined: code. */
export function sentByOf(options: object | undefined): SentBy | undefined {
  return (options as { readonly [SENT_BY]?: SentBy } | undefined)?.[SENT_BY]
}

/** A message that was refused, so that no notification tells of it. */
export interface RefusedMessage {
  readonly organizationId: string
  /** As it was given or parsed: of any form. */
  readonly message: unknown
  /** What it would have made. Null: it was refused before. */
  readonly prepared: Pick<NewNotification, 'channel' | 'to' | 'recipient'> | null
  readonly error: ItemError
  /** Undefined: code. */
  readonly sentBy: SentBy | undefined
}

/** Told of refused messages. Must be quick, and must not throw. */
export type TellRefused = (refused: RefusedMessage) => void

/**
 * Tells of a message that an error refuses. A fault of the service refuses nothing.
 *
 * @param group what it would have made. Undefined: it was refused before
 */
export function tellRefused(
  tell: TellRefused,
  organizationId: string,
  message: unknown,
  error: unknown,
  group?: Group,
  sentBy?: SentBy,
): void {
  if (!isNotifierError(error) || error.status >= 500) return
  tell({ organizationId, message, prepared: group?.[0] ?? null, error: itemError(error), sentBy })
}

/** Most items of a batch that are told of: the last ones. */
const MOST_OF_BATCH = 100

/** Tells of items of a batch that were refused. @param messages as they were given */
export function tellRefusedItems(
  tell: TellRefused,
  { organizationId, sentBy }: Pick<RefusedMessage, 'organizationId' | 'sentBy'>,
  messages: readonly unknown[],
  prepared: readonly Prepared[],
  { items }: BatchResult,
): void {
  const refused = items.filter((item) => 'error' in item).slice(-MOST_OF_BATCH)
  if (refused.length === 0) return
  const groups = new Map(prepared)
  for (const { index, error } of refused)
    tell({
      organizationId,
      message: messages[index],
      prepared: groups.get(index)?.[0] ?? null,
      error,
      sentBy,
    })
}
