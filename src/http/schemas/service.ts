import * as z from 'zod'

/** The answer of a service that accepts requests; one that does not answers with an error. */
export const healthStatus: z.ZodType<{ status: 'ok' | 'degraded' }> = z.object({
  status: z
    .enum(['ok', 'degraded'])
    .describe('`degraded`: requests are accepted, and part of the delivery does not work.'),
})

/** An OpenAPI 3.1 document, as far as it is worth describing by itself. */
export const openApiDocument: z.ZodType = z.looseObject({ openapi: z.string(), paths: z.looseObject({}) })

/** A page for people. */
export const page: z.ZodType<string> = z.string()

/** What a provider expects to be told; the channel says it. */
export const receiptReply: z.ZodType<string> = z.string()
