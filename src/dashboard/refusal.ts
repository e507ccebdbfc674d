import type { HttpResponse } from '../core/rest/message.ts'
import { errorAnswer, publicError } from '../http/errors.ts'
import { createRequestIds } from '../http/request-id.ts'

/** Makes the answers for errors. The pages read nested ones. */
export function createRefusals(): (error: unknown) => HttpResponse {
  const newRequestId = createRequestIds()
  return (error) => {
    const requestId = newRequestId()
    const { status, body } = errorAnswer(publicError(error), requestId, 'nested')
    return {
      status,
      headers: {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': String(Buffer.byteLength(body)),
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        'X-Request-Id': requestId,
      },
      body,
    }
  }
}
