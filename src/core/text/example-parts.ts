import { completed } from '../accept/complete.ts'
import { assertCompleted } from '../accept/named-uploads.ts'
import type { ChannelKind } from '../channels/channel-kind.ts'
import { partsOf } from '../channels/parts-of.ts'
import type { AuthoringServices } from './authoring-services.ts'

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

export function createExampleParts({
  kinds,
  records,
  complete,
}: Pick<AuthoringServices, 'kinds' | 'records' | 'complete'>): ExampleParts {
  return async (organizationId, kind, given) => {
    const whole = await completed(given, organizationId, records, complete)
    const parts = partsOf(kind, whole ?? given, kinds)
    assertCompleted(kind, parts)
    if (parts !== undefined) kind.assertParts?.(parts)
    return parts
  }
}
