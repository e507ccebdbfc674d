import { it } from 'vitest'
import * as z from 'zod'
import { agreeing, named, namedInput } from '../../src/core/rest/named.ts'

interface Parcel {
  readonly id: string
  readonly note?: string | undefined
  readonly state: 'packed' | 'sent'
  readonly from: { readonly street?: string }
  readonly items: readonly string[]
}

const fields = {
  id: z.string(),
  note: z.string().optional(),
  state: z.enum(['packed', 'sent']),
  from: z.object({ street: z.string().optional() }),
  items: z.array(z.string()),
}
const { note, ...withoutNote } = fields

it('a schema with a name agrees with its type', () => {
  const response: z.ZodType<Parcel> = named('Parcel', z.object(fields))
  const request: z.ZodType<Parcel, Parcel> = namedInput('ParcelRequest', z.object(fields))
  const untyped: z.ZodType = named('Anything', z.object(fields))
  return [response, request, untyped]
})

it('a schema that differs from its type does not compile', () => {
  // @ts-expect-error: an optional field is missing
  const missing: z.ZodType<Parcel> = named('Parcel', z.object(withoutNote))
  // @ts-expect-error: a field too many
  const more: z.ZodType<Parcel> = named('Parcel', z.object({ ...fields, weight: z.int() }))
  // @ts-expect-error: fewer values
  const fewer: z.ZodType<Parcel> = named('Parcel', z.object({ ...fields, state: z.enum(['sent']) }))
  // @ts-expect-error: a field that is always there
  const always: z.ZodType<Parcel> = named('Parcel', z.object({ ...fields, note: z.string() }))
  // @ts-expect-error: inside of a field
  const inside: z.ZodType<Parcel> = named('Parcel', z.object({ ...fields, from: z.object({}) }))
  // @ts-expect-error: a field that callers may pass
  const unknown: z.ZodType<Parcel, Parcel> = namedInput('ParcelRequest', z.object(withoutNote))
  // @ts-expect-error: the same, without a name
  const nameless: z.ZodType<Parcel, Parcel> = agreeing(z.object(withoutNote))
  return [missing, more, fewer, always, inside, unknown, nameless]
})
