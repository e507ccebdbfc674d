import { Readable } from 'node:stream'
import type { BodyLimits } from '../../src/core/rest/message.ts'
import { tooLarge } from '../../src/http/json-body.ts'
import { EMPTY, IDLE_MS, incomplete } from './body-timeout.ts'
import { collect } from './node-body.ts'

/** Reads an unread body; see `HttpRequest.readBody`. The server discards the rest of an unfinished one. */
export async function readWebBody(
  { body, headers, signal }: Request,
  limits: BodyLimits,
  idleMs: number = IDLE_MS,
): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > limits.bytes) throw tooLarge(limits.bytes)
  if (signal.aborted) throw incomplete()
  if (body === null) return EMPTY
  const reader = body.getReader()
  // Unlike that of `Readable.fromWeb`, its end does not cancel the body, which would break off the answer.
  const stream = new Readable({
    signal,
    highWaterMark: 0,
    read() {
      reader.read().then(
        ({ value }) => this.push(value ?? null),
        (error) => this.destroy(error),
      )
    },
  })
  try {
    return await collect(
      stream.on('error', () => {}),
      limits,
      idleMs,
    )
  } finally {
    stream.destroy()
    reader.releaseLock()
  }
}
