import type { RecordWrite, RefusedWrite } from '../ports/storage/records.ts'
import type { SendInput } from './input.ts'

/** Sends that belong to records. */
export interface SendsWithRecords {
  /**
   * Checks some messages as `send` does, and accepts all of them in the commit that writes the records. If a message, a
   * limit or a write refuses it, nothing is stored.
   *
   * @returns the ids of the notifications, in the order of the messages; or the write that was refused
   * @throws NotifierError as of `send`, of a message or a limit
   */
  withRecords(
    organizationId: string,
    messages: readonly SendInput[],
    writes: readonly RecordWrite[],
  ): Promise<readonly string[] | RefusedWrite>
}
