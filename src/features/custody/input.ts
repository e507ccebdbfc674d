import * as z from 'zod'
import { recipientId } from '../../core/accept/input.ts'
import { MAX_RECIPIENT_LENGTH } from '../../core/channels/channel-kind.ts'
import { channel, text } from '../../core/input/fields.ts'
import { namedInput } from '../../core/rest/named.ts'
import type { EraseOptions, ExportOptions, PersonInput } from './model.ts'

interface NamedPerson {
  readonly recipient?: string | undefined
  readonly channel?: string | undefined
  readonly to?: string | undefined
}

interface ErasureBody extends NamedPerson, Pick<EraseOptions, 'dryRun'> {}

const fields = {
  recipient: recipientId.optional().describe("The application's id of the person."),
  channel: channel.optional(),
  to: text(1, MAX_RECIPIENT_LENGTH).optional().describe('The address on `channel`, in any spelling.'),
}

function namesOne({ value, issues }: z.core.ParsePayload<NamedPerson>): void {
  const { recipient, to } = value
  const byAddress = value.channel !== undefined || to !== undefined
  const fault = (path: string[], message: string) =>
    issues.push({ code: 'custom', input: value, path, message })
  if (recipient === undefined && !byAddress) fault(['recipient'], 'is required, or "channel" and "to"')
  else if (recipient !== undefined && byAddress)
    fault(['recipient'], 'cannot be given with "channel" and "to"')
  else if (byAddress && value.channel === undefined) fault(['channel'], 'must be given')
  else if (byAddress && to === undefined) fault(['to'], 'must be given')
}

export const personInput: z.ZodType<PersonInput> = z
  .object(fields)
  .check(namesOne) as unknown as z.ZodType<PersonInput>

const signal = z
  .custom<Pick<AbortSignal, 'aborted'>>(
    (given) => typeof given === 'object' && given !== null && 'aborted' in given,
    'must be an AbortSignal',
  )
  .optional()

export const eraseOptions: z.ZodType<EraseOptions> = z.strictObject({
  dryRun: z.boolean('must be true or false').optional(),
  signal,
})

export const exportOptions: z.ZodType<ExportOptions> = z.strictObject({ signal })

/** Body of `POST /v1/exports`. */
export const exportRequest: z.ZodType<NamedPerson, NamedPerson> = namedInput(
  'ExportRequest',
  z.strictObject(fields),
)

/** Body of `POST /v1/erasures`. */
export const erasureRequest: z.ZodType<ErasureBody, ErasureBody> = namedInput(
  'ErasureRequest',
  z.strictObject({
    ...fields,
    dryRun: z.boolean().optional().describe('`true`: only counts, and changes nothing.'),
  }),
)
