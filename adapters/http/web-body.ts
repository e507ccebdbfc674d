import { isNotifierError, NotifierError } from '../../src/domain/errors/notifier-error.ts'
import { tooLarge } from '../../src/http/body.ts'
import type { BodyLimits } from '../../src/http/message.ts'
import { EMPTY, IDLE_MS, incomplete } from './body.ts'

/** Reads an unread body; see `HttpRequest.readBody`. The server discards the rest of an unfinished one. */
export async function readWebBody(
  { body, headers, signal }: Request,
  { bytes: limit, timeoutMs, watch: watcher }: BodyLimits,
  idleMs: number = IDLE_MS,
): Promise<Uint8Array> {
  if (Number(headers.get('content-length') ?? 0) > limit) throw tooLarge(limit)
  if (signal.aborted) throw incomplete()
  if (body === null) return EMPTY
  const reader = body.getReader()
  const watched = watch(signal, timeoutMs, idleMs, watcher)
  try {
    return await collect(reader, limit, watched)
  } catch (error) {
    throw isNotifierError(error) ? error : incomplete()
  } finally {
    watched.end()
    reader.releaseLock()
  }
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
  { interruption, progress }: Watch,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await Promise.race([interruption, reader.read()])
    if (done) return chunks.length === 1 ? (chunks[0] ?? EMPTY) : Buffer.concat(chunks, size)
    size += value.length
    if (size > limit) throw tooLarge(limit)
    chunks.push(value)
    progress(value.length)
  }
}

interface Watch {
  readonly interruption: Promise<never>
  /** Restarts the timer for pauses. */
  progress(bytes: number): void
  end(): void
}

/** Rejects if the client disconnects, pauses too long or takes too long. A stream alone need not report these. */
function watch(signal: AbortSignal, timeoutMs: number, idleMs: number, watcher: BodyLimits['watch']): Watch {
  let stop: (error: NotifierError) => void = () => {}
  const interruption = new Promise<never>((_resolve, reject) => {
    stop = reject
  })
  const onTimeout = (): void => stop(new NotifierError('request_timeout'))
  const idle = setTimeout(onTimeout, idleMs)
  const deadline = setTimeout(onTimeout, timeoutMs)
  const onAbort = (): void => stop(incomplete())
  signal.addEventListener('abort', onAbort)
  const arrived = watcher?.(stop)
  return {
    interruption,
    progress(bytes) {
      idle.refresh()
      arrived?.(bytes)
    },
    end() {
      clearTimeout(idle)
      clearTimeout(deadline)
      signal.removeEventListener('abort', onAbort)
    },
  }
}
