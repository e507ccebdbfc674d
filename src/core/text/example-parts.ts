import { createNamedUploads } from '../../features/attachments/complete.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'
import type { Kinds } from '../channels/kinds.ts'
import { partsOf } from '../channels/parts-of.ts'
import type { RecordReads } from '../records/record-stores.ts'

/**
 * The parts of an example message, checked like those of a send. Undefined: it has none.
 *
 * @param given the message, with its parts under the name of the channel
 * @throws NotifierError `invalid_parameter`, `unknown_attachment`
 */
export type ExampleParts = (
  organizationId: string,
  kind: ChannelKind,
  given: Readonly<Record<string, unknown>>,
) => Promise<unknown>

export function createExampleParts(kinds: Kinds, records: RecordReads): ExampleParts {
  const uploads = createNamedUploads(kinds)
  return async (organizationId, kind, given) => {
    const whole = await uploads.inMessage(given, organizationId, records)
    const parts = partsOf(kind, whole ?? given, kinds)
    if (parts !== undefined) kind.assertParts?.(parts)
    return parts
  }
}
