import { assertKnownFields } from '../../domain/input/known-fields.ts'
import { parseInput, reading } from '../../domain/input/parse.ts'
import { type ParsedSend, type SendInput, sendInput } from '../../domain/input/send.ts'
import { assertSameOrganization } from '../scope.ts'

/**
 * One message, alone or in a batch, judged by its form.
 *
 * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`
 */
export function parseSend(message: SendInput, organizationId: string, strict: boolean): ParsedSend {
  return reading('notification', () => {
    if (strict) assertKnownFields(sendInput, message)
    assertSameOrganization(message, organizationId)
    return parseInput(sendInput, message, 'notification')
  })
}
