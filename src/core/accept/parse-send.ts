import { assertMessageBounds, type Bounds } from '../input/bounds.ts'
import { assertKnownFields } from '../input/known-fields.ts'
import { parseInput, reading } from '../input/parse.ts'
import { presentFields } from '../input/present-fields.ts'
import { assertSameOrganization } from '../tenancy/scope.ts'
import type { ParsedSend, SendInput, SendSchema } from './input.ts'

/**
 * Parses one message, alone or in a batch.
 *
 * @param strict false: ignores unknown fields, except those that belong elsewhere
 * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
 */
export function parseSend(
  schema: SendSchema,
  message: SendInput,
  organizationId: string,
  strict: boolean,
  bounds: Bounds,
): ParsedSend {
  return reading('notification', () => {
    assertSameOrganization(message, organizationId)
    assertKnownFields(schema, message, strict ? 'all' : 'misplaced')
    const parsed = parseInput(presentFields(schema, message), message, 'notification')
    assertMessageBounds(parsed, bounds)
    return parsed
  })
}
