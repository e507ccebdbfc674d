import type { ErrorCode } from '../errors/catalogue.ts'
import type { NotifierError } from '../errors/notifier-error.ts'
import type { ItemError } from './model.ts'

/** Most bytes of the messages and details of a batch's errors. */
const MOST_BYTES = 64 * 1024

/** The error of an item. Only its code: it has the standard message. */
export type RecordedError = readonly [index: number, error: ItemError | ErrorCode]

/** The errors of a batch's items. Beyond 64 KiB of messages and details, only codes are kept. */
export interface ItemErrors {
  readonly all: readonly RecordedError[]
  add(index: number, error: NotifierError): void
  /** A copy that grows by itself. */
  copy(): ItemErrors
}

export function createItemErrors(): ItemErrors {
  return startingWith([], MOST_BYTES)
}

function startingWith(earlier: readonly RecordedError[], bytes: number): ItemErrors {
  const all = [...earlier]
  let left = bytes
  return {
    all,
    add(index, error) {
      if (left === 0) {
        all.push([index, error.code])
        return
      }
      const item = itemError(error)
      left = Math.max(0, left - Buffer.byteLength(JSON.stringify(item)))
      all.push([index, left === 0 ? error.code : item])
    },
    copy: () => startingWith(all, left),
  }
}

/** An error as answered and recorded. */
export function itemError({ code, message, details }: NotifierError): ItemError {
  return { code, message, ...(details === undefined ? {} : { details }) }
}
