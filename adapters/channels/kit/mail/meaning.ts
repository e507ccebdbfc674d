import type { Fact } from '../../../../src/domain/facts.ts'
import type { Receipt } from '../../../../src/domain/receipt.ts'
import type { SuppressionReason } from '../../../../src/domain/suppression.ts'

/** What one kind of report of a mail provider means: a row of its table. */
export type Meaning = Pick<Fact, 'type' | 'code' | 'machine'> & {
  /** Set where the recipient wants, or can take, nothing more. */
  readonly suppress?: SuppressionReason | undefined
}

/** The suppression that a receipt asks for, where there is a reason for one. */
export function hintOf(reason: SuppressionReason | undefined): Receipt['suppress'] {
  return reason === undefined ? undefined : { reason }
}
