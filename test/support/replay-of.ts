import type { BatchResult } from '../../src/core/accept/model.ts'
import { standardMessage } from '../../src/core/errors/catalogue.ts'

/** What a repetition answers: of errors the record keeps the codes, because their texts may name a person. */
export function replayOf({ items, ...rest }: BatchResult): BatchResult {
  return {
    ...rest,
    replayed: true,
    items: items.map((item) => {
      if (!('error' in item)) return item
      const { code } = item.error
      return { index: item.index, error: { code, message: standardMessage(code) } }
    }),
  }
}
