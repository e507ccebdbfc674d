import * as z from 'zod'
import { named } from '../core/rest/named.ts'

/** Response of a service that accepts requests. Other services answer with an error. */
export const healthStatus: z.ZodType<{ status: 'ok' | 'degraded' }> = named(
  'Health',
  z.object({
    status: z
      .enum(['ok', 'degraded'])
      .describe('`degraded`: requests are accepted, but part of the delivery does not work.'),
  }),
)

/** An OpenAPI 3.1 document, described by its top level only. */
export const openApiDocument: z.ZodType = z.looseObject({ openapi: z.string(), paths: z.looseObject({}) })
